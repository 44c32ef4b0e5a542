package tfrecord

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goldens = "../testdata/goldens"

// goldenManifest describes the files that TensorFlow wrote.
type goldenManifest struct {
	Records []struct {
		File, Compression string
		Count             int
		Lengths           []int  // of the first 50
		SHA256            string `json:"sha256_of_concatenated_payloads"`
	}
	Examples []struct {
		Name     string
		Features map[string]struct {
			Kind   string
			Values []json.RawMessage
		}
	}
}

func readGoldens(t *testing.T) (m goldenManifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(goldens, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// readGolden reads a whole file.
func readGolden(t *testing.T, name string) ([][]byte, Compression) {
	t.Helper()
	f, err := os.Open(filepath.Join(goldens, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReader(f, ReaderOptions{Name: name})
	defer r.Close()
	records, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return records, r.Compression()
}

func TestGoldenFraming(t *testing.T) {
	m := readGoldens(t)
	if len(m.Records) != 15 {
		t.Fatalf("%d files", len(m.Records))
	}
	for _, want := range m.Records {
		t.Run(want.File, func(t *testing.T) {
			records, c := readGolden(t, want.File)
			if c != map[string]Compression{"": CompressionNone, "GZIP": CompressionGzip, "ZLIB": CompressionZlib}[want.Compression] {
				t.Errorf("recognised as %v", c)
			}
			var lengths []int
			hash := sha256.New()
			for _, p := range records {
				lengths = append(lengths, len(p))
				hash.Write(p)
			}
			if len(records) != want.Count || fmt.Sprint(lengths[:min(50, len(lengths))]) != fmt.Sprint(want.Lengths) {
				t.Errorf("%d records, want %d, of lengths %v", len(records), want.Count, lengths)
			}
			if got := hex.EncodeToString(hash.Sum(nil)); got != want.SHA256 {
				t.Errorf("other payloads: %s", got)
			}
			if want.Compression == "" {
				data, err := os.ReadFile(filepath.Join(goldens, want.File))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(file(t, WriterOptions{}, records), data) {
					t.Error("what we write of them are other bytes than TensorFlow's")
				}
			}
		})
	}
}

func TestGoldenExamples(t *testing.T) {
	m := readGoldens(t)
	records, _ := readGolden(t, "examples.tfrecord")
	if len(records) != len(m.Examples) {
		t.Fatalf("%d records of %d", len(records), len(m.Examples))
	}
	for i, want := range m.Examples {
		t.Run(want.Name, func(t *testing.T) {
			features := map[string]any{}
			var b Builder
			unset := false
			for key, f := range want.Features {
				switch f.Kind {
				case "int64":
					v := goldenValues(t, f.Values, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
					b.Int64(key, v...)
					features[key] = v
				case "float":
					v := goldenValues(t, f.Values, func(s string) (float32, error) {
						s, err := strconv.Unquote(s)
						if err != nil {
							return 0, err
						}
						x, err := strconv.ParseFloat(s, 64)
						return float32(x), err
					})
					b.Float(key, v...)
					features[key] = v
				case "bytes":
					v := goldenValues(t, f.Values, func(s string) ([]byte, error) {
						return hex.DecodeString(s[1 : len(s)-1])
					})
					b.Bytes(key, v...)
					features[key] = v
				default:
					features[key], unset = nil, true
				}
			}
			var e Example
			if err := e.Parse(records[i]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(features, e.Map()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A Builder cannot write a Feature without a list.
			if got := b.Append(nil); !unset && !bytes.Equal(got, records[i]) {
				t.Errorf("we encode it as\n%x, TensorFlow as\n%x", got, records[i])
			}
		})
	}
}

func goldenValues[T any](t *testing.T, values []json.RawMessage, parse func(string) (T, error)) []T {
	t.Helper()
	out := make([]T, len(values))
	for i, v := range values {
		var err error
		if out[i], err = parse(string(v)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestGoldenSequenceExample(t *testing.T) {
	records, _ := readGolden(t, "sequence_examples.tfrecord")
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	var s SequenceExample
	if err := s.Parse(records[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"id": []int64{3}, "name": [][]byte{[]byte("seq")}}, s.Context.Map()); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	want := map[string][]any{
		"tokens": {[]int64{1}, []int64{2, 3}, []int64{4}},
		"frames": {[][]byte{[]byte("f0")}, [][]byte{[]byte("f1")}},
	}
	if diff := cmp.Diff(want, s.Lists.Map()); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	var b SequenceBuilder
	b.Context.String("name", "seq")
	b.Context.Int64("id", 3)
	for _, v := range want["tokens"] {
		b.Int64("tokens", v.([]int64)...)
	}
	b.String("frames", "f0")
	b.String("frames", "f1")
	if got := b.Append(nil); !bytes.Equal(got, records[0]) {
		t.Errorf("we encode it as\n%x, TensorFlow as\n%x", got, records[0])
	}
}
