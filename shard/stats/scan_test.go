package stats

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

func newTestFile(o Options) *fileStats {
	o = o.withDefaults()
	m := &measure{o: &o, names: newLabelNames(nil), samples: &pixelSamples{o: &o}}
	return m.newFile()
}

// oddRecords are Examples in all kinds of forms, and records that are not Examples.
func oddRecords() map[string][]byte {
	field := func(n protowire.Number, data ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), bytes.Join(data, nil))
	}
	entry := func(key string, feature []byte) []byte { return field(1, field(1, []byte(key)), field(2, feature)) }
	ints := func(data ...byte) []byte { return field(3, field(1, data)) }
	unpacked := field(3, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5))
	var many [][]byte
	for i := range 60 {
		many = append(many, entry(fmt.Sprint("key", (i*7)%60), ints(1)))
	}
	return map[string][]byte{
		"empty":            nil,
		"no features":      field(1),
		"one":              field(1, entry("a", ints(7))),
		"several":          field(1, entry("a", ints(1, 2, 0x80, 1)), entry("b", field(1, field(1, []byte("x")), field(1))), entry("c", field(2, field(1, []byte{0, 0, 128, 63})))),
		"no list":          field(1, entry("a", nil)),
		"empty lists":      field(1, entry("a", field(1)), entry("b", field(2)), entry("c", field(3)), entry("d", field(3, field(1)))),
		"twice":            field(1, entry("a", ints(1)), entry("a", ints(2))),
		"unpacked":         field(1, entry("a", unpacked)),
		"lists in pieces":  field(1, entry("a", append(ints(1), ints(2)...))),
		"two kinds":        field(1, entry("a", append(ints(1), field(2, field(1, []byte{0, 0, 128, 63}))...))),
		"features twice":   append(field(1, entry("a", ints(1))), field(1, entry("b", ints(2)))...),
		"value first":      field(1, field(1, field(2, ints(1)), field(1, []byte("a")))),
		"no key":           field(1, field(1, field(2, ints(1)))),
		"cut varint":       field(1, entry("a", ints(0x80))),
		"long varint":      field(1, entry("a", ints(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1))),
		"negative":         field(1, entry("a", ints(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1))),
		"cut float":        field(1, entry("a", field(2, field(1, []byte{1, 2, 3})))),
		"unknown field":    append(field(1, entry("a", ints(1))), field(9, []byte("x"))...),
		"long key":         field(1, entry(strings.Repeat("k", recordscan.MaxKey+1), ints(1)), entry("z", ints(1))),
		"many keys":        field(1, many...),
		"not utf-8":        field(1, entry("\xff\xfe", field(1, field(1, []byte("\x80"))))),
		"labels":           field(1, entry("label", ints(3)), entry("text", field(1, field(1, []byte("three"))))),
		"no message":       []byte("no message at all"),
		"sequence example": append(field(1, entry("id", ints(1))), field(2, field(1, field(1, []byte("l")), field(2, field(1, ints(4)), field(1, ints(5, 6)))))...),
	}
}

func TestScanSaysWhatTheParserSays(t *testing.T) {
	records := oddRecords()
	usual := 0
	for name, record := range records {
		if _, ok := scanExample(nil, record); ok {
			usual++
		}
		scanAndParse(t, name, record)
	}
	if usual < 8 || usual > len(records)-8 {
		t.Errorf("%d of %d are of the usual form", usual, len(records))
	}
}

// scanAndParse compares the figures of a record with those from the parser.
func scanAndParse(t *testing.T, name string, record []byte) {
	t.Helper()
	// The scan sees features in record order, the parser in key order: which ones have room
	// differs.
	o := Options{By: "label", Header: fakeHeader, Pixels: fakePixels, MaxFeatures: 1 << 20}
	scanned, parsed := newTestFile(o), newTestFile(o)
	for range 2 {
		scanned.record(record)
		parsed.parsed(record)
	}
	if got, want := asJSON(t, scanned.stats(t.Context())), asJSON(t, parsed.stats(t.Context())); got != want {
		t.Errorf("%s: scanned, and parsed otherwise:\n%s", name, cmp.Diff(want, got))
	}
}

func FuzzMeasureRecord(f *testing.F) {
	for _, record := range oddRecords() {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, record []byte) { scanAndParse(t, "fuzzed", record) })
}

// TestMeasureHostileRecords: a vector of millions, a record of a hundred thousand keys, and records
// that all have different ones.
func TestMeasureHostileRecords(t *testing.T) {
	dir := t.TempDir()
	floats := make([]float32, 1<<20)
	for i := range floats {
		floats[i] = float32(i)
	}
	var vector, keys tfrecord.Builder
	vector.Float("vector", floats...)
	for i := range 100_000 {
		keys.Int64(fmt.Sprintf("%06d", i), 1)
	}
	data := tfrecord.AppendFrame(nil, vector.Append(nil))
	data = tfrecord.AppendFrame(data, keys.Append(nil))
	data = tfrecord.AppendFrame(data, nil)
	for i := range 5000 {
		var b tfrecord.Builder
		b.Int64(fmt.Sprint("other", i), math.MaxInt64)
		b.Int64(fmt.Sprint(i, "label"), int64(i))
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(dir, "x.tfrecord")
	check(t, os.WriteFile(path, data, 0o644))
	st, err := Measure(context.Background(), []string{path, path}, Options{MaxFeatures: 100})
	check(t, err)
	const occurrences = 1 + 100_000 + 10_000
	if len(st.Features) != 100 || st.FeaturesOmitted != 2*(occurrences-100) || st.Records != 2*5003 {
		t.Errorf("%d features, %d omitted, %d records", len(st.Features), st.FeaturesOmitted, st.Records)
	}
	n := st.Feature("vector").Float
	if n.Count != 2<<20 || n.Mean != (1<<20-1)/2.0 || math.Abs(n.Quantiles[3].Value/(1<<20)-0.5) > RankError {
		t.Errorf("vector: %+v", n)
	}
}

// TestMeasureLabelsAreBounded: a real set has few features whose keys end in label.
func TestMeasureLabelsAreBounded(t *testing.T) {
	file, more := newTestFile(Options{MaxLabels: 10}), newTestFile(Options{MaxLabels: 10})
	for i := range 500 {
		var b tfrecord.Builder
		b.Int64(fmt.Sprint(i%50, "label"), int64(i))
		b.String("label", fmt.Sprint("text", i))
		file.record(b.Append(nil))
		more.record(b.Append(nil))
	}
	file.merge(more)
	kept, omitted, records := 0, int64(0), int64(0)
	for _, l := range file.stats(t.Context()).Labels {
		kept += len(l.Counts)
		omitted += l.Omitted
		for _, c := range l.Counts {
			records += c.Records
		}
	}
	if kept != 10*labelFeatures || records+omitted != 2000 {
		t.Errorf("%d labels kept, of %d records, and %d omitted", kept, records, omitted)
	}
}
