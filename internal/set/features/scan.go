// Package features finds out which features records have: Table has the data that scans of records
// keep per feature, and Scan describes the features for a manifest.
package features

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Scan finds out which features Examples have by scanning all of them. It is not safe for
// concurrent use: each goroutine has its own, and the results are merged in any order.
type Scan struct {
	records int64 // scanned
	others  int64 // records among them that are not Examples
	table   Table[seenFeature]
	// recent holds the features of the previous record by position: most records have the same
	// keys.
	recent  []*seenFeature
	shapes  []entryShape // of recent; for Quick
	tally   message.Tally
	example tfrecord.Example
	found   []quickEntry
}

// seenFeature describes the occurrences of one feature.
type seenFeature struct {
	key     string
	records int64 // records that have values of it
	kinds   [tfrecord.KindInt64 + 1]bool
	values  recordscan.Span
	notText bool
	formats [5]bool // formats of bytes values; see the constants
}

const (
	formatJPEG = iota
	formatPNG
	formatOther
	formatDeepPNG // of 16 bits a sample
	formatBMP     // of 24 bits a pixel: TensorFlow decodes others to another number of channels
)

// pngDepth is the offset of the bits of a sample in a PNG.
const pngDepth = 24

// maxScanned is the maximum number of features: records with more than that use keys as data and
// have no schema.
const maxScanned = 10_000

func NewScan() *Scan {
	return new(Scan)
}

// Add scans a record.
func (s *Scan) Add(record []byte) {
	if s.Quick(record) {
		return
	}
	err := s.example.Parse(record)
	s.AddParsed(record, &s.example, err)
}

// AddParsed is Add for a record that has been parsed, into an Example or with an error.
func (s *Scan) AddParsed(record []byte, parsed *tfrecord.Example, err error) {
	s.records++
	if err != nil {
		s.others++
		return
	}
	if s.tally.Of(record) != message.Example || !s.follow(parsed) {
		s.others++
		return
	}
	for i, f := range s.recent {
		_, value := parsed.At(i)
		f.add(value)
	}
}

// Notes returns sentences about content of the records other than features with values.
func (s *Scan) Notes() []string {
	var notes []string
	if unknown := s.tally.Unknown(); unknown != nil {
		notes = append(notes, fmt.Sprintf("unknown fields, which stay in the records: %v", unknown))
	}
	if n := s.tally.Kindless(); n > 0 {
		notes = append(notes, fmt.Sprintf("features without a list of values, which count as missing, in %s", plural.Of(n, "record")))
	}
	return notes
}

// follow makes the features of an Example the recent ones. It returns false when there are too many
// to track.
func (s *Scan) follow(parsed *tfrecord.Example) bool {
	same := parsed.Len() == len(s.recent)
	for i := 0; i < parsed.Len() && same; i++ {
		key, _ := parsed.At(i)
		same = s.recent[i].key == string(key)
	}
	if same {
		return true
	}
	s.recent = s.recent[:0]
	s.table.Begin()
	for i := range parsed.Len() {
		key, _ := parsed.At(i)
		f := s.table.Find(key)
		if f == nil {
			if s.table.Len() == maxScanned {
				s.recent = s.recent[:0]
				return false
			}
			f = s.table.Add(string(key), seenFeature{key: string(key)})
		}
		s.recent = append(s.recent, f)
	}
	s.shapes = slices.Grow(s.shapes[:0], len(s.recent))[:len(s.recent)]
	for i := range s.shapes {
		s.shapes[i].size = unknownSize
	}
	return true
}

func (f *seenFeature) add(value tfrecord.Feature) {
	kind := value.Kind()
	if kind == tfrecord.KindNone {
		return // same as missing
	}
	f.records++
	f.noteNumber(kind, int64(value.Len()))
	if kind == tfrecord.KindBytes && value.Len() > 0 {
		first, _ := value.Bytes()
		f.noteBytes(first)
	}
}

// noteNumber notes n values of a kind.
func (f *seenFeature) noteNumber(kind tfrecord.Kind, n int64) {
	f.kinds[kind] = true
	f.values.Add(n)
}

// noteBytes notes the first value of a bytes feature.
func (f *seenFeature) noteBytes(first []byte) {
	switch format := recordscan.ImageFormat(first); {
	case format == "jpeg":
		f.formats[formatJPEG] = true
	case format == "png" && len(first) > pngDepth && first[pngDepth] == 16:
		f.formats[formatDeepPNG] = true
	case format == "png":
		f.formats[formatPNG] = true
	case format == "bmp" && recordscan.BMPDepth(first) == 24:
		f.formats[formatBMP] = true
	default:
		f.formats[formatOther] = true
	}
	f.notText = f.notText || !recordscan.IsText(first)
}

// Merge adds the results of another scan.
func (s *Scan) Merge(t *Scan) {
	s.records += t.records
	s.others += t.others
	s.tally.Merge(t.tally)
	for key, g := range t.table.All() {
		f := s.table.Get(key)
		if f == nil {
			s.table.Add(key, *g)
			continue
		}
		f.records += g.records
		f.values.Merge(g.values)
		f.notText = f.notText || g.notText
		for i, on := range g.kinds {
			f.kinds[i] = f.kinds[i] || on
		}
		for i, on := range g.formats {
			f.formats[i] = f.formats[i] || on
		}
	}
}

// Describe returns the type of the records, for Manifest.Records, and their features by key: none
// if some records are not Examples. Features that cannot be described, because they have no values
// or values of several kinds, are left out and listed in odd.
func (s *Scan) Describe() (records string, features []manifest.Feature, odd []string) {
	if s.others > 0 || s.records == 0 {
		return "", nil, nil
	}
	for key, seen := range s.table.All() {
		if f, ok := seen.feature(s.records); ok {
			features = append(features, f)
		} else {
			odd = append(odd, key)
		}
	}
	return manifest.RecordExample, features, odd
}

func (f *seenFeature) feature(records int64) (manifest.Feature, bool) {
	d := manifest.Feature{Key: f.key, Class: manifest.ClassScalar, Optional: f.records < records}
	for kind := tfrecord.KindBytes; kind <= tfrecord.KindInt64; kind++ {
		if f.kinds[kind] {
			if d.Kind != "" {
				return d, false
			}
			d.Kind = kind.String()
		}
	}
	one := f.values.Min == 1 && f.values.Max == 1
	switch {
	case d.Kind == "":
		return d, false
	case !one && f.values.Min == f.values.Max:
		d.Class, d.Shape = manifest.ClassVector, []int{int(f.values.Min)}
	case !one:
		d.Class, d.Shape = manifest.ClassVector, []int{-1}
	case d.Kind == "bytes" && !f.formats[formatOther]:
		d.Class, d.DType, d.Shape = manifest.ClassImage, "uint8", []int{-1, -1, 3}
		switch jpegs, pngs, deep := f.formats[formatJPEG], f.formats[formatPNG], f.formats[formatDeepPNG]; {
		case f.formats[formatBMP]:
		case !pngs && !deep:
			d.Encoding = "jpeg"
		case !jpegs:
			if d.Encoding = "png"; !pngs {
				d.DType = "uint16"
			}
		}
	case d.Kind == "bytes" && !f.notText:
		d.Class = manifest.ClassText
	}
	return d, true
}

// ByKey returns features sorted by key, as in a manifest.
func ByKey(features []manifest.Feature) []manifest.Feature {
	sorted := slices.Clone(features)
	slices.SortFunc(sorted, func(a, b manifest.Feature) int { return strings.Compare(a.Key, b.Key) })
	return sorted
}
