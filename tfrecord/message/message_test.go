package message

import (
	"os"
	"path/filepath"
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
		{"a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05", Event},
		{"a time and a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", Unknown},
	} {
		if got := Of([]byte(test.record)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// FuzzOf compares Of with the parser: apart from numbers, which Of does not
// check, it must not return Example for what does not parse as an Example, and it must
// recognize whatever the encoder writes.
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
		if again := Of(b.Append(nil)); again != Example {
			t.Errorf("%q written again: %q", record, again)
		}
	})
}
