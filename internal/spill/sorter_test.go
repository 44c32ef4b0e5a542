package spill

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSorter compares with slices.Sort: rows of many lengths, distributed evenly or
// all the same, with much memory and so little that runs of runs are merged.
func TestSorter(t *testing.T) {
	for seed, test := range []struct {
		rows, longest, kinds int // kinds: of rows that differ; 0 is any
		memory               int64
		files                int // at least this many, and none if 0
	}{
		{0, 10, 0, 0, 0}, {1, 10, 0, 0, 0}, {2000, 30, 0, 0, 0}, {2000, 30, 0, 8 << 20, 0},
		{50_000, 40, 0, 0, 1}, {50_000, 40, 1, 0, 1}, {50_000, 40, 3, 1 << 20, 1}, {300, 100_000, 0, 0, 2},
		{200_000, 60, 5000, 0, 2},
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		made, open := 0, 0
		s := NewSorter(test.memory, func() (File, error) {
			made++
			open++
			f, err := os.Create(filepath.Join(t.TempDir(), "run"))
			return counted{f, &open}, err
		})
		random := func() []byte {
			row := make([]byte, rng.IntN(test.longest+1))
			for i := range row {
				row[i] = byte(rng.Uint32() & 3) // many share their beginning
			}
			return row
		}
		var kinds [][]byte
		for range test.kinds {
			kinds = append(kinds, random())
		}
		var want [][]byte
		for len(want) < test.rows {
			var batch []byte
			for range min(rng.IntN(50), test.rows-len(want)) {
				row := []byte(nil)
				if test.kinds == 0 {
					row = random()
				} else {
					row = kinds[rng.IntN(test.kinds)]
				}
				want = append(want, row)
				batch = AppendRow(batch, row)
			}
			if err := s.Add(batch); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Sort(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(want, bytes.Compare)
		for i, w := range want {
			if got, err := s.Next(); err != nil || !bytes.Equal(got, w) {
				t.Fatalf("%+v: row %d is %x, %v, want %x", test, i, got, err, w)
			}
		}
		for range 2 {
			if row, err := s.Next(); err != io.EOF {
				t.Errorf("%+v: after the last row: %x, %v", test, row, err)
			}
		}
		if err := s.Close(); err != nil || open != 0 || made < test.files || made > 0 && test.files == 0 {
			t.Errorf("%+v: %d files, of which %d are open, %v", test, made, open, err)
		}
	}
}

// counted is a file that counts down when it is closed.
type counted struct {
	*os.File
	open *int
}

func (c counted) Close() error { *c.open--; return c.File.Close() }

// TestSorterSaysWhatFails has files fail that are made, written or read.
func TestSorterSaysWhatFails(t *testing.T) {
	broken := errors.New("broken")
	fill := func(s *Sorter) error {
		row := AppendRow(nil, make([]byte, 100))
		for range 20_000 {
			if err := s.Add(row); err != nil {
				return err
			}
		}
		return s.Sort(context.Background())
	}
	if err := fill(NewSorter(0, func() (File, error) { return nil, broken })); !errors.Is(err, broken) {
		t.Errorf("a file that cannot be made: %v", err)
	}
	for _, f := range []failing{{write: broken}, {read: broken}} {
		s := NewSorter(0, func() (File, error) {
			var err error
			f.File, err = os.Create(filepath.Join(t.TempDir(), "run"))
			return f, err
		})
		err := fill(s)
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("%+v: %v", f, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// Merging runs of runs ends with its context.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := NewSorter(0, func() (File, error) { return os.Create(filepath.Join(t.TempDir(), "run")) })
	row := AppendRow(nil, make([]byte, 1000))
	for range 5000 {
		if err := s.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sort(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

type failing struct {
	*os.File
	write, read error
}

func (f failing) Write(p []byte) (int, error) {
	if f.write != nil {
		return 0, f.write
	}
	return f.File.Write(p)
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.File.ReadAt(p, off)
}

func BenchmarkSorter(b *testing.B) {
	const rows = 2_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	b.SetBytes(rows)
	b.ReportAllocs()
	for b.Loop() {
		s := NewSorter(16<<20, func() (File, error) { return os.Create(filepath.Join(b.TempDir(), "run")) })
		var row [24]byte
		var batch []byte
		for i := range rows {
			for j := range 3 {
				for k, v := 0, rng.Uint64(); k < 8; k, v = k+1, v>>8 {
					row[8*j+k] = byte(v)
				}
			}
			batch = AppendRow(batch, row[:])
			if i%1000 == 999 {
				if err := s.Add(batch); err != nil {
					b.Fatal(err)
				}
				batch = batch[:0]
			}
		}
		if err := s.Sort(b.Context()); err != nil {
			b.Fatal(err)
		}
		for range rows {
			if _, err := s.Next(); err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
}
