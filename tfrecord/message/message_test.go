package message

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// open opens a file made by another writer.
func open(t testing.TB, name string) *tfrecord.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("../../testdata/tfrecords", name))
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: name})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOfOthersFiles(t *testing.T) {
	for file, want := range map[string]Type{
		"torchdata-example.tfrecord":                    Example,
		"spotify-iris-part-00000-of-00003.tfrecords":    Example,
		"ydf-toy.tfe-tfrecord-00000-of-00002":           Example,
		"torchdata-sequence_example.tfrecord":           SequenceExample,
		"tft-sequence-data_tfrecord.gz":                 SequenceExample,
		"ranking-eval_elwc.tfrecord":                    WithContext,
		"nucleus-test_reads.fastq.tfrecord.gz":          Unknown,
		"magenta-tfrecord_iterator_test.tfrecord":       Unknown,
		"events.out.tfevents.1662041974.calusa.97126.2": Event,
	} {
		r := open(t, file)
		for record, err := range r.All() {
			check(t, err)
			if got := Of(record); got != want {
				t.Errorf("%s record %d: %q, want %q", file, r.Record(), got, want)
			}
			if want == Event {
				break // the second one of that file has no time and is not recognized
			}
		}
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name   string
		record string
		want   Type
	}{
		{"empty", "", Example},
		{"empty features", "\x0a\x00", Example},
		{"a feature without values", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00", Example},
		{"a feature that is not set", "\x0a\x07\x0a\x05\x0a\x01k\x12\x00", Example},
		{"a feature whose value is left out", "\x0a\x05\x0a\x03\x0a\x01k", Example},
		{"a key of control characters alone", "\x0a\x05\x0a\x03\x0a\x01\x01", Unknown},
		{"a number where features are", "\x08\x01", Unknown},
		{"text", "hello, world", Unknown},
		{"cut off", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a", Unknown},
		{"field 0", "\x02\x00", Unknown},
		{"group", "\x0b\x0c", Unknown},
		{"endless varint", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Unknown},
		{"lists only", "\x12\x00", SequenceExample},
		{"an unknown field", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x7a\x04junk", Example},
		{"an unknown group", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x7b\x08\x01\x7c", Example},
		{"an unknown field 2", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x12\x04junk", Example},
		{"an unknown field of features", "\x0a\x0b\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x10\x01", Example},
		{"an unknown field of an entry", "\x0a\x0b\x0a\x09\x0a\x01k\x12\x02\x1a\x00\x18\x01", Example},
		{"an unknown field of a feature", "\x0a\x0b\x0a\x09\x0a\x01k\x12\x04\x1a\x00\x20\x01", Example},
		{"an unknown field of a list", "\x0a\x0b\x0a\x09\x0a\x01k\x12\x04\x1a\x02\x10\x01", Example},
		{"an unknown field alone", "\x7a\x04junk", Unknown},
		{"an unknown field of features without values", "\x0a\x07\x0a\x05\x0a\x01k\x12\x00\x7a\x04junk", Unknown},
		{"an unknown field and a key of control characters", "\x0a\x09\x0a\x07\x0a\x01\x01\x12\x02\x1a\x00\x7a\x04junk", Unknown},
		{"an unknown field that is cut off", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x7a\x05junk", Unknown},
		{"an unknown field of a sequence", "\x12\x0b\x0a\x09\x0a\x01k\x12\x04\x0a\x02\x1a\x00\x1a\x00", SequenceExample},
		{"a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05", Event},
		{"a time and a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", Unknown},
	} {
		if got := Of([]byte(test.record)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestTally(t *testing.T) {
	var one, two Tally
	for _, record := range []string{
		"\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00\x7a\x04junk\x7a\x00\x08\x01",
		"\x0a\x07\x0a\x05\x0a\x01k\x12\x00",
		"\x12\x0b\x0a\x09\x0a\x01k\x12\x04\x0a\x02\x1a\x00\x1a\x00",
		"hello, world",
	} {
		one.Of([]byte(record))
	}
	two.Of([]byte("\x0a\x0b\x0a\x09\x0a\x01k\x12\x02\x1a\x00\x18\x01\x7a\x04junk"))
	two.Of([]byte("\x0a\x05\x0a\x03\x0a\x01k"))
	one.Merge(two)
	const want = "field 1 (wire type 0) of Example in 1 record, field 15 of Example in 2 records, " +
		"field 3 (wire type 0) of Features entry in 1 record, field 3 (wire type 2) of SequenceExample in 1 record"
	if got := one.Unknown().String(); got != want || one.Kindless() != 2 {
		t.Errorf("%s, %d without a kind, want %s, 2", got, one.Kindless(), want)
	}
}

// Records of hostile input may have any number of unknown fields.
func TestTallyOfManyFields(t *testing.T) {
	var tally Tally
	for first := 16; first < 16+4*maxUnknown; first += maxUnknown {
		record := []byte("\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00")
		for number := first; number < first+2*maxUnknown; number++ {
			record = append(binary.AppendUvarint(record, uint64(number)<<3), 1)
		}
		if got := tally.Of(record); got != Example {
			t.Fatalf("%q", got)
		}
	}
	if n := len(tally.Unknown()); n != maxUnknown || !strings.HasSuffix(tally.Unknown().String(), "990 more fields") {
		t.Errorf("%d fields: %s", n, tally.Unknown())
	}
}

// FuzzOf compares Of with the parser: apart from numbers, which Of does not
// check, it must not return Example for what does not parse as an Example, and it must
// recognize whatever the encoder writes. A field that no message has changes neither.
func FuzzOf(f *testing.F) {
	for _, file := range []string{"torchdata-example.tfrecord", "torchdata-sequence_example.tfrecord", "ranking-eval_elwc.tfrecord"} {
		r := open(f, file)
		record, err := r.Next()
		check(f, err)
		f.Add(record)
	}
	f.Add([]byte("\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00"))
	f.Fuzz(func(t *testing.T, record []byte) {
		var example tfrecord.Example
		kind := Of(record)
		err := example.Parse(record)
		if kind != Example || err != nil {
			return
		}
		var b tfrecord.Builder
		for i := range example.Len() {
			key, value := example.At(i)
			switch k := string(key); value.Kind() {
			case tfrecord.KindBytes:
				b.Bytes(k, value.AppendBytes(nil)...)
			case tfrecord.KindFloat:
				b.Float(k, value.AppendFloats(nil)...)
			case tfrecord.KindInt64:
				b.Int64(k, value.AppendInt64s(nil)...)
			}
		}
		again := b.Append(nil)
		if got := Of(again); got != Example {
			t.Errorf("%q written again: %q", record, got)
		}
		var tally Tally
		if tally.Of(record); tally.Unknown() == nil && tally.Kindless() == 0 {
			if got := Of(append(again, "\xfa\x01\x04junk"...)); got != Example && hasReadable(&example) {
				t.Errorf("%q with an unknown field: %q", record, got)
			}
		}
	})
}

func hasReadable(e *tfrecord.Example) bool {
	for i := range e.Len() {
		if key, _ := e.At(i); isReadable(key) {
			return true
		}
	}
	return false
}
