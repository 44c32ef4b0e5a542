package spill

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestSorter compares with slices.Sort: rows of many lengths, distributed evenly or
// all the same, with much memory and so little that runs of runs are merged, added by one goroutine
// and by several.
func TestSorter(t *testing.T) {
	for _, procs := range []int{1, 5} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) { testSorter(t, procs) })
	}
}

func testSorter(t *testing.T, procs int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	tests := []struct {
		rows, longest, kinds int // kinds: of rows that differ; 0 is any
		memory               int64
		files                int // at least this many, and none if 0
	}{
		{0, 10, 0, 0, 0}, {1, 10, 0, 0, 0}, {2000, 30, 0, 0, 0}, {2000, 30, 0, 8 << 20, 0},
		{50_000, 40, 0, 0, 1}, {50_000, 40, 1, 0, 1}, {50_000, 40, 3, 1 << 20, 1}, {300, 100_000, 0, 0, 2},
		{200_000, 60, 5000, 0, 2}, {200_000, 60, 0, 16 << 20, 1}, {20_000, 60, 0, 64 << 20, 0},
	}
	for seed, test := range tests[:race.Few(len(tests), 8)] {
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
		batches := make(chan []byte)
		var group errgroup.Group
		for range procs {
			group.Go(func() (err error) {
				for batch := range batches {
					err = errors.Join(err, s.Add(batch))
				}
				return err
			})
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
			batches <- batch
		}
		close(batches)
		if err := errors.Join(group.Wait(), s.Sort(t.Context())); err != nil {
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

// BenchmarkSorter adds random rows of 24 bytes in several goroutines, as many as processors, sorts
// and reads them, with memory for all of them and for less. It reports the time
// of adding with sorting, and of reading, for each row.
func BenchmarkSorter(b *testing.B) {
	const rows, batch = 1_000_000, 1000
	for name, memory := range map[string]int64{"all": 1 << 30, "file": 32 << 20} {
		for _, procs := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("%s/procs=%d", name, procs), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				b.ReportAllocs()
				var adding, reading time.Duration
				for b.Loop() {
					began := time.Now()
					s := NewSorter(memory, func() (File, error) { return os.Create(filepath.Join(b.TempDir(), "run")) })
					var left atomic.Int64
					left.Store(rows)
					var group errgroup.Group
					for worker := range procs {
						group.Go(func() error {
							random := rand.New(rand.NewPCG(uint64(worker), 1))
							row, rows := make([]byte, 24), []byte(nil)
							for left.Add(-batch) >= 0 {
								rows = rows[:0]
								for range batch {
									binary.NativeEndian.PutUint64(row, random.Uint64())
									rows = AppendRow(rows, row)
								}
								if err := s.Add(rows); err != nil {
									return err
								}
							}
							return nil
						})
					}
					if err := errors.Join(group.Wait(), s.Sort(b.Context())); err != nil {
						b.Fatal(err)
					}
					adding += time.Since(began)
					began = time.Now()
					for range rows {
						if _, err := s.Next(); err != nil {
							b.Fatal(err)
						}
					}
					reading += time.Since(began)
					s.Close()
				}
				each := float64(b.N) * rows
				b.ReportMetric(float64(adding.Nanoseconds())/each, "add-ns/row")
				b.ReportMetric(float64(reading.Nanoseconds())/each, "read-ns/row")
			})
		}
	}
}
