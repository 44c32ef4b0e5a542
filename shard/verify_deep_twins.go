package shard

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"slices"

	"github.com/tfrec/tfrec/internal/spill"
)

// twins finds records that are the same, by hashes of 128 bits, exactly and
// within bounded memory: a row for each is dealt to a bucket by its hash, and
// each bucket is sorted. A row takes some 45 bytes and the record's key.
type twins struct {
	o    *DeepOptions
	rows *spill.Spill
}

// twinBuckets is how many buckets there are: one of a hundred million records
// takes some 30 MB.
const twinBuckets = 256

// twin is what is known of a record to compare it with others.
type twin struct {
	hash    mark
	at      spot
	split   uint16
	label   uint32 // hash of its label; 0 without one
	variant bool   // an augmented copy, or the original beside such
	origin  bool   // hash is of the picture that the record was made from: see looker.origin
}

// twinBatch are rows that were not dealt yet.
type twinBatch struct{ rows *spill.Batch }

func newTwins(o *DeepOptions) *twins {
	return &twins{o, spill.New(twinBuckets, twinBuckets, o.Memory, func() (spill.File, error) { return newTempFile(o.TempDir) })}
}

// tempFile is a file without a name, where the system has such.
type tempFile struct{ *os.File }

func newTempFile(dir string) (*tempFile, error) {
	f, err := os.CreateTemp(dir, "tfrec-verify-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // where open files cannot go, Close does it
	return &tempFile{f}, nil
}

func (f *tempFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name())
	return err
}

func (b *twinBatch) add(t twin) {
	if b.rows == nil {
		b.rows = new(spill.Batch)
	}
	b.rows.Begin()
	data := b.rows.Data
	data = binary.AppendUvarint(data, uint64(t.at.file))
	data = binary.AppendUvarint(data, uint64(t.at.offset))
	split := uint64(t.split) << 1
	if t.origin {
		split |= 1
	}
	data = binary.AppendUvarint(data, split)
	data = binary.LittleEndian.AppendUint32(data, t.label)
	b.rows.Data = append(data, t.at.key...)
	b.rows.End(int(t.hash.hi>>56), spill.Row{Key: t.hash.hi, Tag: int64(t.hash.lo), Number: t.at.record, Flag: t.variant})
}

// parseTwin reads what add appended.
func parseTwin(row spill.Row, data []byte) twin {
	t := twin{hash: mark{row.Key, uint64(row.Tag)}, variant: row.Flag}
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		data = data[n:]
		return v
	}
	t.at.file, t.at.record = int(next()), row.Number
	t.at.offset = int64(next())
	split := next()
	t.split, t.origin = uint16(split>>1), split&1 == 1
	t.label = binary.LittleEndian.Uint32(data)
	t.at.key = string(data[4:])
	return t
}

// add deals the rows of a batch.
func (t *twins) add(b *twinBatch) error {
	if b.rows == nil {
		return nil
	}
	defer b.rows.Reset()
	return t.rows.Add(b.rows)
}

func (t *twins) close() {
	if t.rows != nil {
		t.rows.Close()
	}
}

// judge finds the records that are the same as one before them, and forgets all.
func (t *twins) judge(ctx context.Context, d *deepRun, r *DeepReport) error {
	leaks, others := 0, 0
	var data []byte
	var err error
	var list []twin
	for b := range twinBuckets {
		if err := ctx.Err(); err != nil {
			return err
		}
		if data, err = t.rows.Take(b, data[:0]); err != nil {
			return err
		}
		list = list[:0]
		for _, row := range repeated(data) {
			list = append(list, parseTwin(row, data[row.From:row.To]))
		}
		slices.SortFunc(list, func(a, b twin) int {
			return cmp.Or(cmp.Compare(a.hash.hi, b.hash.hi), cmp.Compare(a.hash.lo, b.hash.lo),
				cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.record, b.at.record))
		})
		for from := 0; from < len(list); {
			to := from + 1
			for to < len(list) && list[to].hash == list[from].hash {
				to++
			}
			if list[from].origin {
				leaks = d.splitVariants(list[from:to], r, leaks)
				from = to
				continue
			}
			same := twinGroup{}
			grew := false
			for i := from; i < to; i++ {
				twin := &list[i]
				kind, other := same.add(twin)
				room := &others
				switch kind {
				case "":
					if i > from {
						r.Duplicates.Variants++
					}
					continue
				case FindingLeak:
					r.Duplicates.Leaks++
					room = &leaks
				}
				grew = true
				r.Duplicates.Records++
				conflict := twin.label != other.label
				if conflict {
					r.Duplicates.Conflicts++
				}
				*room++
				r.add(d.repeat(kind, twin, other, conflict), *room <= t.o.MaxFindings)
			}
			if grew {
				r.Duplicates.Groups++
			}
			from = to
		}
	}
	t.rows = nil // its memory is for what comes next
	return nil
}

// repeated returns the rows of a bucket whose hash comes more than once.
func repeated(data []byte) []spill.Row {
	var rows []spill.Row
	for at := 0; at < len(data); {
		row, next := spill.Parse(data, at)
		rows = append(rows, row)
		at = next
	}
	slices.SortFunc(rows, func(a, b spill.Row) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tag, b.Tag)) })
	same := func(i, j int) bool {
		return i >= 0 && j < len(rows) && rows[i].Key == rows[j].Key && rows[i].Tag == rows[j].Tag
	}
	var twice []spill.Row
	for i := range rows {
		if same(i-1, i) || same(i, i+1) {
			twice = append(twice, rows[i])
		}
	}
	return twice
}

// twinGroup is records that are the same: some of those that came.
type twinGroup struct {
	kept []*twin // the first ones of each split, label and key
}

// maxTwinsKept bounds how many records of a group others are compared with.
const maxTwinsKept = 256

// add says what a record is that is the same as those before it, and which of
// them tells: the first one in another split, else the first with another label,
// else the first. It is nothing for the first record, and for a variant of the
// same picture in the same split.
func (g *twinGroup) add(t *twin) (kind FindingKind, other *twin) {
	var leak, conflict, first *twin
	known := false
	for _, b := range g.kept {
		known = known || b.split == t.split && b.label == t.label && b.variant == t.variant && b.at.key == t.at.key
		switch {
		case b.split != t.split && b.split != 0 && t.split != 0:
			if leak == nil {
				leak = b
			}
		case b.variantOf(t):
		case b.label != t.label && conflict == nil:
			conflict = b
		case first == nil:
			first = b
		}
	}
	if !known && len(g.kept) < maxTwinsKept {
		g.kept = append(g.kept, t)
	}
	switch {
	case leak != nil:
		return FindingLeak, leak
	case conflict != nil:
		return FindingConflict, conflict
	case first != nil:
		return FindingDuplicate, first
	}
	return "", nil
}

// variantOf reports whether two records are variants of one picture, which are
// not to be told from each other.
func (t *twin) variantOf(u *twin) bool {
	return t.variant && u.variant && t.split == u.split && t.at.key == u.at.key && t.at.key != ""
}

// repeat makes the finding of a record that repeats another.
func (d *deepRun) repeat(kind FindingKind, t, other *twin, conflict bool) Finding {
	severity, message := SeverityWarning, "the same as the other record"
	switch kind {
	case FindingConflict:
		message += ", with another label"
	case FindingLeak:
		severity = SeverityFault
		message += ", which is in split " + d.splits[other.split]
		if conflict {
			message += " with another label"
		}
	}
	f := d.finding(kind, severity, t.at, "", message)
	f.Other = d.otherPlace(other.at)
	return f
}
