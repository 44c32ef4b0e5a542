package splice

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// without drops the keys with a prefix.
func without(prefix string) func(string) (string, bool) {
	return func(key string) (string, bool) { return key, !strings.HasPrefix(key, prefix) }
}

// renaming gives keys new names.
func renaming(names map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		if to, ok := names[key]; ok {
			return to, true
		}
		return key, true
	}
}

func spliceSample() []byte {
	var b tfrecord.Builder
	b.Int64("a/label", 3)
	b.String("a/text", "x")
	b.Bytes("b/picture", bytes.Repeat([]byte{0xff}, 300))
	b.Float("c", 1, 2, 3)
	return b.Append(nil)
}

func TestSpliceIsWhatBuilderWouldWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		rule func(string) (string, bool)
		want func(b *tfrecord.Builder)
	}{
		{"drop", without("a/"), func(b *tfrecord.Builder) {
			b.Bytes("b/picture", bytes.Repeat([]byte{0xff}, 300))
			b.Float("c", 1, 2, 3)
		}},
		{"drop all", without(""), func(b *tfrecord.Builder) {}},
		{"rename keeps the order of keys", renaming(map[string]string{"a/label": "z", "b/picture": "a"}), func(b *tfrecord.Builder) {
			b.Bytes("a", bytes.Repeat([]byte{0xff}, 300))
			b.String("a/text", "x")
			b.Float("c", 1, 2, 3)
			b.Int64("z", 3)
		}},
		{"swap", renaming(map[string]string{"a/label": "c", "c": "a/label"}), func(b *tfrecord.Builder) {
			b.Float("a/label", 1, 2, 3)
			b.String("a/text", "x")
			b.Bytes("b/picture", bytes.Repeat([]byte{0xff}, 300))
			b.Int64("c", 3)
		}},
		{"long and empty keys", renaming(map[string]string{"a/label": strings.Repeat("l", 200), "c": ""}), func(b *tfrecord.Builder) {
			b.Float("", 1, 2, 3)
			b.String("a/text", "x")
			b.Bytes("b/picture", bytes.Repeat([]byte{0xff}, 300))
			b.Int64(strings.Repeat("l", 200), 3)
		}},
	} {
		var b tfrecord.Builder
		c.want(&b)
		s := newSplicer(c.rule)
		for range 2 {
			got, err := s.append([]byte("before"), spliceSample())
			if want := b.Append([]byte("before")); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v\n%x, want\n%x", c.name, err, got, want)
			}
		}
	}
}

// Bytes that Builder would not write stay unchanged: unpacked numbers, keys out of order, unknown
// fields.
func TestSpliceLeavesOthersAlone(t *testing.T) {
	entry := func(key, rest string) string {
		body := fmt.Sprintf("\x0a%c%s%s", len(key), key, rest)
		return fmt.Sprintf("\x0a%c%s", len(body), body)
	}
	feature := func(b string) string { return fmt.Sprintf("\x12%c%s", len(b), b) }
	z := entry("z", feature("\x1a\x04\x08\x01\x08\x02")) // [1 2], unpacked
	a := entry("a", "\x18\x07"+feature("\x0a\x03\x0a\x01x"))
	unknown := "\x22\x01?"
	features := z + unknown + a
	record := "\x10\x05" + fmt.Sprintf("\x0a%c%s", len(features), features) + "\x1d1234"

	same, err := newSplicer(renaming(nil)).append(nil, []byte(record))
	if err != nil || string(same) != record {
		t.Errorf("%v\n%x, want\n%x", err, same, record)
	}
	got, err := newSplicer(renaming(map[string]string{"z": "name"})).append(nil, []byte(record))
	body := entry("name", feature("\x1a\x04\x08\x01\x08\x02")) + unknown + a
	if want := "\x10\x05" + fmt.Sprintf("\x0a%c%s", len(body), body) + "\x1d1234"; err != nil || string(got) != want {
		t.Errorf("%v\n%x, want\n%x", err, got, want)
	}
}

func TestSpliceErrors(t *testing.T) {
	if _, err := newSplicer(renaming(map[string]string{"c": "a/text"})).append(nil, spliceSample()); err == nil || !strings.Contains(err.Error(), `named "a/text"`) {
		t.Errorf("two features of one name: %v", err)
	}
	whole := spliceSample()
	for cut := 1; cut < len(whole); cut++ {
		if _, err := newSplicer(without("a/")).append(nil, whole[:cut]); !errors.Is(err, tfrecord.ErrMalformed) {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
	}
}

// FuzzSplice compares the parsed output with the parsed input.
func FuzzSplice(f *testing.F) {
	f.Add(spliceSample())
	f.Add([]byte("\x0a\x00"))
	f.Add([]byte("\x0a\x09\x0a\x07\x0a\x01c\x12\x02\x0a\x00\x0a\x00"))
	rule := renaming(map[string]string{"c": "renamed"})
	f.Fuzz(func(t *testing.T, record []byte) {
		var before, after tfrecord.Example
		if before.Parse(record) != nil {
			return
		}
		out, err := newSplicer(func(key string) (string, bool) {
			to, _ := rule(key)
			return to, !strings.HasPrefix(key, "a/")
		}).append(nil, record)
		if err != nil {
			return // two features with the same key
		}
		if err := after.Parse(out); err != nil {
			t.Fatalf("%x became %x: %v", record, out, err)
		}
		want := before.Map()
		maps.DeleteFunc(want, func(key string, _ any) bool { return strings.HasPrefix(key, "a/") })
		if v, ok := want["c"]; ok {
			delete(want, "c")
			want["renamed"] = v
		}
		if g, w := fmt.Sprint(after.Map()), fmt.Sprint(want); g != w {
			t.Errorf("%x became %x: %s, want %s", record, out, g, w)
		}
	})
}

func BenchmarkSplice(b *testing.B) {
	record := spliceSample()
	s := newSplicer(renaming(map[string]string{"a/text": "text"}))
	var out []byte
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = s.append(out[:0], record); err != nil {
			b.Fatal(err)
		}
	}
}
