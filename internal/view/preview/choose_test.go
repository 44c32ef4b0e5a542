package preview

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []file
		n     int
		want  map[string]int // by split
	}{
		{"all", []file{{split: "train", records: 5}, {split: "val", records: 2}}, 10, map[string]int{"train": 5, "val": 2}},
		{"exactly all", []file{{split: "train", records: 5}, {split: "val", records: 2}}, 7, map[string]int{"train": 5, "val": 2}},
		{"a small split has its share", []file{{split: "train", records: 99_990}, {split: "val", records: 10}}, 40, map[string]int{"train": 35, "val": 5}},
		{"empty files", []file{{split: "train"}, {split: "train", records: 3}, {split: "val"}}, 2, map[string]int{"train": 2}},
		{"more splits than records", []file{{split: "a", records: 9}, {split: "b", records: 9}, {split: "c", records: 9}}, 2, map[string]int{"a": 1, "b": 1}},
		{"large", []file{{records: 1 << 60}, {records: 1 << 60}}, 100, map[string]int{"": 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := choose(c.files, c.n, 7)
			counts := map[string]int{}
			seen := map[location]bool{}
			perFile := map[int]int{}
			for _, f := range got {
				p := f.locations[0]
				if seen[p] || p.record < 0 || p.record >= c.files[p.file].records {
					t.Fatalf("place %v twice, or not there", p)
				}
				seen[p] = true
				counts[c.files[p.file].split]++
				perFile[p.file]++
			}
			if !reflect.DeepEqual(counts, c.want) {
				t.Errorf("chosen %v, want %v", counts, c.want)
			}
			if c.name == "large" && perFile[0] != 50 {
				t.Errorf("%d of 100 from the first of two equal files", perFile[0])
			}
			if !reflect.DeepEqual(got, choose(c.files, c.n, 7)) {
				t.Error("the same seed chooses otherwise")
			}
		})
	}
	large := []file{{records: 1000}}
	if reflect.DeepEqual(choose(large, 10, 0), choose(large, 10, 1)) {
		t.Error("another seed chooses the same")
	}
}

// TestFetch reads records by index, without one, with one of another file, and
// from compressed and damaged files.
func TestFetch(t *testing.T) {
	records := numbered(50)
	places := []location{{0, 49, -1}, {0, 3, -1}, {0, 17, -1}, {0, 0, -1}}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		bad  map[int64]bool
	}{
		{"plain", func(t *testing.T, path string) { writeFile(t, path, tfrecord.CompressionNone, records...) }, nil},
		{"index", func(t *testing.T, path string) {
			writeFile(t, path, tfrecord.CompressionNone, records...)
			writeIndex(t, path)
		}, nil},
		{"index of another file", func(t *testing.T, path string) {
			writeFile(t, path, tfrecord.CompressionNone, numbered(60)[10:]...)
			writeIndex(t, path)
			writeFile(t, path, tfrecord.CompressionNone, records...)
		}, nil},
		{"gzip", func(t *testing.T, path string) { writeFile(t, path, tfrecord.CompressionGzip, records...) }, nil},
		{"zstd", func(t *testing.T, path string) { writeFile(t, path, tfrecord.CompressionZstd, records...) }, nil},
		{"damaged record", func(t *testing.T, path string) {
			writeFile(t, path, tfrecord.CompressionNone, records...)
			flip(t, path, 3)
		}, map[int64]bool{3: true}},
		{"damaged record and index", func(t *testing.T, path string) {
			writeFile(t, path, tfrecord.CompressionNone, records...)
			writeIndex(t, path)
			flip(t, path, 3)
		}, map[int64]bool{3: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.tfrecord")
			c.make(t, path)
			all := &contents{files: []file{{path: path, records: 50}}}
			got := make([]string, len(places))
			err := all.fetch(t.Context(), places, 3, func(i int, record []byte, err error) {
				got[i] = "unread"
				var e tfrecord.Example
				if err == nil && e.Parse(record) == nil {
					got[i] = textOf(&e.Features, "key")
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range places {
				want := fmt.Sprintf("k%d", p.record)
				if c.bad[p.record] {
					want = "unread"
				}
				if got[i] != want {
					t.Errorf("record %d is %s, want %s", p.record, got[i], want)
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
			shards[at] = append(shards[at], variant(nil, fmt.Sprintf("p%d", i), "x", copy, "[]"))
		}
	}
	c := &contents{key: imagekey.Filename}
	for i, records := range shards {
		path := filepath.Join(dir, fmt.Sprint(i))
		writeFile(t, path, []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionNone}[i], records...)
		c.files = append(c.files, file{path: path, records: int64(len(records))})
		c.records += int64(len(records))
	}
	for _, n := range []int{1, 10, 1000} {
		families, err := c.chooseFamilies(t.Context(), n, &Options{Workers: 2, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, f := range families {
			total += len(f.locations)
			keys := make([]string, len(f.locations))
			copies := make([]int64, len(f.locations))
			err := c.fetch(t.Context(), f.locations, 1, func(i int, record []byte, err error) {
				var e tfrecord.Example
				if err != nil || e.Parse(record) != nil {
					t.Errorf("%v: %v", f.locations[i], err)
				}
				keys[i] = textOf(&e.Features, imagekey.Filename)
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
		if want := min(int64(n), c.records); int64(total) < want || int64(total) > want+3 {
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
