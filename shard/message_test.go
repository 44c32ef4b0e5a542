package shard

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestMessageOfOthersFiles(t *testing.T) {
	for file, want := range map[string]Message{
		"torchdata-example.tfrecord":                    MessageExample,
		"spotify-iris-part-00000-of-00003.tfrecords":    MessageExample,
		"ydf-toy.tfe-tfrecord-00000-of-00002":           MessageExample,
		"torchdata-sequence_example.tfrecord":           MessageSequenceExample,
		"tft-sequence-data_tfrecord.gz":                 MessageSequenceExample,
		"ranking-eval_elwc.tfrecord":                    MessageWithContext,
		"nucleus-test_reads.fastq.tfrecord.gz":          MessageUnknown,
		"magenta-tfrecord_iterator_test.tfrecord":       MessageUnknown,
		"events.out.tfevents.1662041974.calusa.97126.2": MessageEvent,
	} {
		r, err := Open(t.Context(), filepath.Join(others, file), tfrecord.ReaderOptions{})
		check(t, err)
		for record, err := range r.All() {
			check(t, err)
			if got := MessageOf(record); got != want {
				t.Errorf("%s record %d: %q, want %q", file, r.Record(), got, want)
			}
			if want == MessageEvent {
				break // the second one of that file has no time and is not recognized
			}
		}
		check(t, r.Close())
	}
}

func TestMessageOf(t *testing.T) {
	for _, test := range []struct {
		name   string
		record string
		want   Message
	}{
		{"empty", "", MessageExample},
		{"empty features", "\x0a\x00", MessageExample},
		{"a feature without values", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00", MessageExample},
		{"a feature that is not set", "\x0a\x07\x0a\x05\x0a\x01k\x12\x00", MessageExample},
		{"a feature whose value is left out", "\x0a\x05\x0a\x03\x0a\x01k", MessageExample},
		{"a key of control characters alone", "\x0a\x05\x0a\x03\x0a\x01\x01", MessageUnknown},
		{"a number where features are", "\x08\x01", MessageUnknown},
		{"text", "hello, world", MessageUnknown},
		{"cut off", "\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a", MessageUnknown},
		{"field 0", "\x02\x00", MessageUnknown},
		{"group", "\x0b\x0c", MessageUnknown},
		{"endless varint", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", MessageUnknown},
		{"lists only", "\x12\x00", MessageSequenceExample},
		{"a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05", MessageEvent},
		{"a time and a time", "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", MessageUnknown},
	} {
		if got := MessageOf([]byte(test.record)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// FuzzMessageOf compares MessageOf with the parser: apart from numbers, which MessageOf does not
// check, it must not return MessageExample for what does not parse as an Example, and it must
// recognize whatever the encoder writes.
func FuzzMessageOf(f *testing.F) {
	for _, file := range []string{"torchdata-example.tfrecord", "torchdata-sequence_example.tfrecord", "ranking-eval_elwc.tfrecord"} {
		r, err := Open(f.Context(), filepath.Join(others, file), tfrecord.ReaderOptions{})
		check(f, err)
		record, err := r.Next()
		check(f, err)
		f.Add(record)
		check(f, r.Close())
	}
	f.Add([]byte("\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x1a\x00"))
	f.Fuzz(func(t *testing.T, record []byte) {
		var example tfrecord.Example
		message := MessageOf(record)
		err := example.Parse(record)
		if message != MessageExample || err != nil {
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
		if again := MessageOf(b.Append(nil)); again != MessageExample {
			t.Errorf("%q written again: %q", record, again)
		}
	})
}

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(others, "README.md")
	r, err := Open(t.Context(), path, tfrecord.ReaderOptions{})
	check(t, err)
	defer r.Close()
	if _, err := r.Next(); err == nil || err == io.EOF || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name %s", err, path)
	}
	if _, err := Open(t.Context(), filepath.Join(others, "missing"), tfrecord.ReaderOptions{}); !storage.Missing(err) {
		t.Errorf("missing file: %v", err)
	}
}
