package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// unusable lists the records of unusableSet without a result, by file.
var unusable = [][]int64{{}, {3, 4, 5}, {0, 11}, {7}}

// unusableSet writes 12 records into each of four files: an image and its number, and some intact
// frames without an Example.
func unusableSet(t *testing.T, o Options) *Set {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 1))
	return writeRecords(t, o, len(unusable), func(file int) (records [][]byte) {
		for i := range 12 {
			if slices.Contains(unusable[file], int64(i)) {
				records = append(records, bytes.Repeat([]byte{0xff}, 20+i))
				continue
			}
			image, err := augment.AppendPNG(nil, randomImage(rnd, 4, 4, 1))
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, image)
				b.Int64(DefaultLabelKey, int64(100*file+i))
			}))
		}
		return records
	})
}

// label is a Map function.
func label(r Record) (int64, error) {
	var e tfrecord.Example
	if err := e.Parse(r.Data); err != nil {
		return 0, err
	}
	f, _ := e.Get(DefaultLabelKey)
	n, _ := f.Int64()
	return n, nil
}

func one(n int64) ([]int64, error) { return []int64{n}, nil }

// usable are ways to make labels of records.
var usable = map[string]func(Pipe) Flow[[]int64]{
	"map": func(p Pipe) Flow[[]int64] {
		return Map(Map(p, label, MapOptions{Workers: 2}), one, MapOptions{Workers: 2})
	},
	"map, batch": func(p Pipe) Flow[[]int64] { return Batch(Map(p, label, MapOptions{}), 6, BatchOptions{}).Prefetch(2) },
	"filter": func(p Pipe) Flow[[]int64] {
		p = p.Filter(func(r Record) (bool, error) { _, err := label(r); return true, err })
		return Map(Map(p, label, MapOptions{}), one, MapOptions{})
	},
	"map to records": func(p Pipe) Flow[[]int64] {
		p = MapData(p, func(dst []byte, r Record) ([]byte, error) {
			if _, err := label(r); err != nil {
				return nil, err
			}
			return append(dst, r.Data...), nil
		}, MapDataOptions{Workers: 3})
		return Map(Map(p, label, MapOptions{}), one, MapOptions{})
	},
	"columns": func(p Pipe) Flow[[]int64] {
		schema := columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64}}
		f := ParseColumns(p, ColumnSpec{Schema: schema, Batch: 3, Workers: 2})
		return Map(f, func(b *ColumnBatch) ([]int64, error) { return b.Get(DefaultLabelKey).Int64s, nil }, MapOptions{})
	},
	"windows": func(p Pipe) Flow[[]int64] {
		p = Windows(p, columns.WindowSpec{Length: 2, Schema: columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64, Steps: columns.FlatSteps}}})
		return Map(Map(p, label, MapOptions{}), one, MapOptions{})
	},
	"sequences": func(p Pipe) Flow[[]int64] {
		schema := columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64, Steps: columns.FlatSteps, Length: columns.Longest}}
		f := ParseColumns(p, ColumnSpec{Schema: schema, Batch: 3, Workers: 2})
		return Map(f, func(b *ColumnBatch) ([]int64, error) {
			c := b.Get(DefaultLabelKey)
			if n := b.Rows; !slices.Equal(c.Shape, []int{n, 1}) || len(c.Lengths(nil)) != n {
				return nil, fmt.Errorf("shape %v, lengths %v of %d rows", c.Shape, c.Lengths(nil), n)
			}
			return c.Int64s, nil
		}, MapOptions{})
	},
	"pictures": func(p Pipe) Flow[[]int64] {
		f := Images(p, ImageSpec{Size: 4, Channels: 1, Batch: 4, Workers: 2})
		return Map(f, func(b *ImageBatch) ([]int64, error) {
			if n := len(b.Labels); b.Shape[0] != n || len(b.Bytes) != 16*n {
				return nil, fmt.Errorf("shape %v, %d bytes, %d labels", b.Shape, len(b.Bytes), n)
			}
			return b.Labels, nil
		}, MapOptions{})
	},
}

func TestUnusableRecords(t *testing.T) {
	var want []int64
	bad := 0
	for file := range unusable {
		bad += len(unusable[file])
		for i := range int64(12) {
			if !slices.Contains(unusable[file], i) {
				want = append(want, int64(100*file)+i)
			}
		}
	}
	text := func(labels []int64) string { return fmt.Sprint(labels) }
	for name, build := range usable {
		t.Run(name, func(t *testing.T) {
			read := func(o Options, epochs int) (labels []int64, err error) {
				for v, err := range build(unusableSet(t, o).Records().Repeat(epochs)).All(t.Context()) {
					if err != nil {
						return labels, err
					}
					labels = append(labels, v...)
				}
				return labels, nil
			}
			var located *tfrecord.Error
			if _, err := read(Options{}, 1); !errors.As(err, &located) || located.Record != 3 || filepath.Base(located.Name) != "01.tfrecord" {
				t.Errorf("none may be passed over: %v", err)
			}
			var skipped []string
			o := Options{SkipBad: SkipBad{Count: int64(bad)}, OnSkip: func(s Skipped) {
				skipped = append(skipped, fmt.Sprintf("%d %s %d %d", s.Epoch, filepath.Base(s.Path), s.Record, s.Bytes))
				if !strings.Contains(s.Err.Error(), fmt.Sprintf("record %d at byte %d", s.Record, s.Offset)) {
					t.Errorf("%+v", s)
				}
			}}
			got, err := read(o, 2)
			if err != nil || !slices.Equal(got, slices.Concat(want, want)) {
				t.Errorf("got %v, %v", got, err)
			}
			var told []string
			for epoch := range 2 {
				for file, records := range unusable {
					for _, i := range records {
						told = append(told, fmt.Sprintf("%d %02d.tfrecord %d %d", epoch, file, i, 20+i+tfrecord.Overhead))
					}
				}
			}
			if !slices.Equal(skipped, told) {
				t.Errorf("told of %q, want %q", skipped, told)
			}
			for _, c := range []struct {
				bad SkipBad
				ok  bool
			}{{SkipBad{Count: int64(bad) - 1}, false}, {SkipBad{Share: 0.1}, false}, {SkipBad{Share: 0.13}, true}} {
				if _, err := read(Options{SkipBad: c.bad}, 2); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTooManyBad) {
					t.Errorf("%+v: %v", c.bad, err)
				}
			}
			// Counting one twice after resuming would exceed the limit.
			o.OnSkip = nil
			checkResume(t, build(unusableSet(t, o).Interleave(2, 1).Repeat(2)), text)
			// Forgetting one would allow it.
			o.SkipBad.Count--
			checkFails(t, build(unusableSet(t, o).Records()), ErrTooManyBad)
		})
	}
}

// checkFails checks that a flow ends with an error, also when resumed after each element.
func checkFails[T any](t *testing.T, f Flow[T], want error) {
	t.Helper()
	r, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n := 0; ; n++ {
		again, err := f.Start(t.Context(), From{State: new(through(t, r.State()))})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = again.Next()
		}
		again.Close()
		if !errors.Is(err, want) {
			t.Fatalf("resumed behind %d elements: %v, want %v", n, err, want)
		}
		if _, err := r.Next(); err != nil {
			return
		}
	}
}

// TestUnusableAndDamaged: damage in the files and unusable records share the limit.
func TestUnusableAndDamaged(t *testing.T) {
	for _, most := range []int64{7, 8} {
		set := unusableSet(t, Options{SkipBad: SkipBad{Count: most}})
		for _, file := range []int{0, 3} {
			path := set.Sources()[file].Path
			readertest.Flip(t, path, readertest.Offsets(t, path)[9]+14)
		}
		set = open(t, filepath.Dir(set.Sources()[0].Path), set.files.Opts)
		for name, build := range usable {
			for _, p := range []Pipe{set.Records().Repeat(2), set.Interleave(4, 2).Prefetch(1).Repeat(2), set.ShuffleAll(ShuffleAllOptions{}).Repeat(2)} {
				n := 0
				var err error
				for v, e := range build(p).All(t.Context()) {
					n, err = n+len(v), e
				}
				if most == 8 && (err != nil || n != 2*(48-8)) || most == 7 && !errors.Is(err, ErrTooManyBad) {
					t.Errorf("%s, %d allowed: %d labels, %v", name, most, n, err)
				}
			}
		}
	}
}

// A State with impossible numbers of skipped records is refused.
func TestOddSkipCounts(t *testing.T) {
	set := unusableSet(t, Options{SkipBad: SkipBad{Count: 9}})
	r, err := set.Records().Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	for _, skipped := range [][][2]int64{{{0, -1}}, {{1 << 40, 1}}, {{0, 1}, {1, 1}, {2, 1}}, {{0, 1 << 60}}} {
		s := r.State()
		s.Skipped = skipped
		if _, err := Map(set.Records(), label, MapOptions{}).Start(t.Context(), From{State: &s}); !errors.Is(err, ErrState) {
			t.Errorf("skipped %v: %v", skipped, err)
		}
	}
}
