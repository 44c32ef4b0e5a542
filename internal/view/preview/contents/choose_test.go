package contents

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []File
		n     int
		want  map[string]int // by split
	}{
		{"all", []File{{Split: "train", Records: 5}, {Split: "val", Records: 2}}, 10, map[string]int{"train": 5, "val": 2}},
		{"exactly all", []File{{Split: "train", Records: 5}, {Split: "val", Records: 2}}, 7, map[string]int{"train": 5, "val": 2}},
		{"a small split has its share", []File{{Split: "train", Records: 99_990}, {Split: "val", Records: 10}}, 40, map[string]int{"train": 35, "val": 5}},
		{"empty files", []File{{Split: "train"}, {Split: "train", Records: 3}, {Split: "val"}}, 2, map[string]int{"train": 2}},
		{"more splits than records", []File{{Split: "a", Records: 9}, {Split: "b", Records: 9}, {Split: "c", Records: 9}}, 2, map[string]int{"a": 1, "b": 1}},
		{"large", []File{{Records: 1 << 60}, {Records: 1 << 60}}, 100, map[string]int{"": 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Choose(c.files, c.n, 7)
			counts := map[string]int{}
			seen := map[Location]bool{}
			perFile := map[int]int{}
			for _, f := range got {
				p := f.Locations[0]
				if seen[p] || p.Record < 0 || p.Record >= c.files[p.File].Records {
					t.Fatalf("place %v twice, or not there", p)
				}
				seen[p] = true
				counts[c.files[p.File].Split]++
				perFile[p.File]++
			}
			if !reflect.DeepEqual(counts, c.want) {
				t.Errorf("chosen %v, want %v", counts, c.want)
			}
			if c.name == "large" && perFile[0] != 50 {
				t.Errorf("%d of 100 from the first of two equal files", perFile[0])
			}
			if !reflect.DeepEqual(got, Choose(c.files, c.n, 7)) {
				t.Error("the same seed chooses otherwise")
			}
		})
	}
	large := []File{{Records: 1000}}
	if reflect.DeepEqual(Choose(large, 10, 0), Choose(large, 10, 1)) {
		t.Error("another seed chooses the same")
	}
}

// TestFetch reads records by index, without one, with one of another file, and
// from compressed and damaged files.
func TestFetch(t *testing.T) {
	records := previewtest.Numbered(50)
	places := []Location{{0, 49, -1}, {0, 3, -1}, {0, 17, -1}, {0, 0, -1}}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		bad  map[int64]bool
	}{
		{"plain", func(t *testing.T, path string) { previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...) }, nil},
		{"index", func(t *testing.T, path string) {
			previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...)
			previewtest.WriteIndex(t, path)
		}, nil},
		{"index of another file", func(t *testing.T, path string) {
			previewtest.WriteFile(t, path, tfrecord.CompressionNone, previewtest.Numbered(60)[10:]...)
			previewtest.WriteIndex(t, path)
			previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...)
		}, nil},
		{"gzip", func(t *testing.T, path string) { previewtest.WriteFile(t, path, tfrecord.CompressionGzip, records...) }, nil},
		{"zstd", func(t *testing.T, path string) { previewtest.WriteFile(t, path, tfrecord.CompressionZstd, records...) }, nil},
		{"damaged record", func(t *testing.T, path string) {
			previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...)
			flip(t, path, 3)
		}, map[int64]bool{3: true}},
		{"damaged record and index", func(t *testing.T, path string) {
			previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...)
			previewtest.WriteIndex(t, path)
			flip(t, path, 3)
		}, map[int64]bool{3: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.tfrecord")
			c.make(t, path)
			all := &Set{Files: []File{{Path: path, Records: 50}}}
			got := make([]string, len(places))
			err := all.Fetch(t.Context(), places, 3, func(i int, record []byte, err error) {
				got[i] = "unread"
				var e tfrecord.Example
				if err == nil && e.Parse(record) == nil {
					got[i] = text(&e, "key")
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range places {
				want := fmt.Sprintf("k%d", p.Record)
				if c.bad[p.Record] {
					want = "unread"
				}
				if got[i] != want {
					t.Errorf("record %d is %s, want %s", p.Record, got[i], want)
				}
			}
		})
	}
}

// TestFamilies distributes variants to files at random, and finds them as families.
func TestFamilies(t *testing.T) {
	dir := t.TempDir()
	shards := make([][][]byte, 3)
	for i := range 30 {
		for copy := range int64(1 + i%4) {
			at := (i*7 + int(copy)*5) % 3
			shards[at] = append(shards[at], previewtest.Variant(nil, fmt.Sprintf("p%d", i), "x", copy, "[]"))
		}
	}
	c := &Set{Key: imagekey.Filename}
	for i, records := range shards {
		path := filepath.Join(dir, fmt.Sprint(i))
		previewtest.WriteFile(t, path, []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionNone}[i], records...)
		c.Files = append(c.Files, File{Path: path, Records: int64(len(records))})
		c.Records += int64(len(records))
	}
	for _, n := range []int{1, 10, 1000} {
		families, err := c.ChooseFamilies(t.Context(), n, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, f := range families {
			total += len(f.Locations)
			keys := make([]string, len(f.Locations))
			copies := make([]int64, len(f.Locations))
			err := c.Fetch(t.Context(), f.Locations, 1, func(i int, record []byte, err error) {
				var e tfrecord.Example
				if err != nil || e.Parse(record) != nil {
					t.Errorf("%v: %v", f.Locations[i], err)
				}
				keys[i] = text(&e, imagekey.Filename)
				nth, _ := e.Get(imagekey.Copy)
				copies[i], _ = nth.Int64()
			})
			if err != nil {
				t.Fatal(err)
			}
			var number int
			fmt.Sscanf(keys[0], "p%d", &number)
			if len(keys) != 1+number%4 {
				t.Errorf("the family of %s has %d members, want %d", keys[0], len(keys), 1+number%4)
			}
			for i := range keys {
				if keys[i] != keys[0] || copies[i] != int64(i) {
					t.Errorf("member %d of the family of %s is copy %d of %s", i, keys[0], copies[i], keys[i])
				}
			}
		}
		if want := min(int64(n), c.Records); int64(total) < want || int64(total) > want+3 {
			t.Errorf("%d records for %d", total, n)
		}
	}
}

// flip changes a byte of the payload of a record.
func flip(t *testing.T, path string, record int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for range record {
		at += int(binary.LittleEndian.Uint64(data[at:])) + tfrecord.Overhead
	}
	data[at+tfrecord.HeaderSize] ^= 0x40
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// text returns the text of a feature of one value.
func text(e *tfrecord.Example, key string) string {
	f, _ := e.Get(key)
	b, _ := f.Bytes()
	return string(b)
}
