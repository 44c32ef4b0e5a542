package tfrecord

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vector is a file of testdata/vectors; see the README there.
type vector struct {
	head map[string][]string
	data []byte
}

func readVector(t testing.TB, path string) (v vector) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := strings.Cut(string(text), "\n\n")
	if !ok {
		t.Fatal("no empty line behind the header")
	}
	v.head = map[string][]string{}
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("%q is no header", line)
		}
		v.head[name] = append(v.head[name], strings.TrimSpace(value))
	}
	for line := range strings.Lines(body) {
		digits, _, _ := strings.Cut(line, "#")
		b, err := hex.DecodeString(strings.TrimSpace(digits))
		if err != nil {
			t.Fatal(err)
		}
		v.data = append(v.data, b...)
	}
	return v
}

func (v vector) get(name string) string { return strings.Join(v.head[name], "\n") }

// number returns a header's value, or none if it is absent.
func (v vector) number(t *testing.T, name string, none int64) int64 {
	t.Helper()
	if v.get(name) == "" {
		return none
	}
	n, err := strconv.ParseInt(v.get(name), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// check compares an error with the expectation in the header.
func (v vector) check(t *testing.T, err error) {
	t.Helper()
	if v.get("expect") == "ok" {
		if err != nil {
			t.Errorf("%v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("no error, want %s", v.get("expect"))
	}
	f := faultOf(t, err)
	want := fault{v.number(t, "record", f.Record), v.number(t, "offset", f.Offset), Part(v.get("expect"))}
	if f != want {
		t.Errorf("%+v, want %+v: %v", f, want, err)
	}
	kinds := map[string]error{"checksum": ErrChecksum, "truncated": io.ErrUnexpectedEOF, "too_large": ErrTooLarge, "malformed": ErrMalformed}
	for kind, sentinel := range kinds {
		if is := errors.Is(err, sentinel); is != (kind == v.get("error")) {
			t.Errorf("%v: is %s: %v", err, kind, is)
		}
	}
	if errors.Is(err, io.EOF) {
		t.Errorf("%v passes for the end", err)
	}
}

func TestVectors(t *testing.T) {
	paths, err := filepath.Glob("../testdata/vectors/*.txt")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			v := readVector(t, path)
			switch read := v.get("read"); read {
			case "records":
				v.records(t)
			case "example":
				var e Example
				v.check(t, e.Parse(v.data))
				v.same(t, "feature", featuresText(t, &e.Features))
			case "sequence_example":
				var s SequenceExample
				v.check(t, s.Parse(v.data))
				v.same(t, "feature", featuresText(t, &s.Context))
				v.same(t, "list", listsText(t, &s.Lists))
			case "index":
				entries, err := ReadIndex(bytes.NewReader(v.data), "x.idx")
				v.check(t, err)
				var lines []byte
				for _, e := range entries {
					lines = AppendIndex(lines, e)
				}
				if got := strings.TrimSuffix(string(lines), "\n"); got != v.get("entry") {
					t.Errorf("entries %q, want %q", got, v.get("entry"))
				}
			default:
				t.Fatalf("read: %q", read)
			}
		})
	}
}

func (v vector) records(t *testing.T) {
	var want [][]byte
	for _, p := range v.head["payload"] {
		b, err := hex.DecodeString(strings.TrimPrefix(p, "-"))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, b)
	}
	for _, size := range []int{64, 0} {
		r := NewReader(bytes.NewReader(v.data), ReaderOptions{MaxRecord: v.number(t, "max_record", 0), BufferSize: size})
		got, err := readAll(r)
		v.check(t, err)
		sameRecords(t, got, want)
		if c := v.get("compression"); c != "" && c != r.Compression().String() {
			t.Errorf("compression %v, want %s", r.Compression(), c)
		}
		r.Close()
	}
}

// same compares features with those of the header.
func (v vector) same(t *testing.T, name string, features map[string]string) {
	t.Helper()
	var got []string
	for key, text := range features {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s = %s", key, text)))
	}
	sort.Strings(got)
	if diff := cmp.Diff(v.head[name], got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
