package reader

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// A file that changes between two epochs, or while it is read, gives an error that names the file,
// in every kind of pipeline, and no goroutine or file is leaked.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"gone":      os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 1000) },
		"emptied":   func(path string) error { return os.Truncate(path, 7) },
		"flipped": func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte{0xff, 0xff, 0xff}, 500)
			return err
		},
		"a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		},
	} {
		for kind, build := range map[string]func(*Set) Flow[int]{
			"mapped": func(s *Set) Flow[int] { return Map(s.Interleave(2, 1).Repeat(2), idFrom, MapOptions{}) },
			"prefetch": func(s *Set) Flow[int] {
				return Map(s.Records().Shuffle(50).Repeat(2), idFrom, MapOptions{}).Prefetch(0)
			},
			"all": func(s *Set) Flow[int] { return Map(s.ShuffleAll(ShuffleAllOptions{}).Repeat(2), idFrom, MapOptions{}) },
		} {
			if kind == "all" && (name == "gone" || name == "a folder") {
				continue // its files stay open
			}
			dir := readertest.WriteShards(t, tfrecord.CompressionNone, 600, 600, 600)
			set := open(t, dir, Options{Memory: 1})
			leavesNothing(t, func() {
				r, err := build(set).Start(t.Context(), From{})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				n := 0
				for err = nil; err == nil; n++ {
					if n == 100 {
						if err := spoil(readertest.ShardPath(dir, 2)); err != nil {
							t.Fatal(err)
						}
					}
					_, err = r.Next()
				}
				var located *tfrecord.Error
				var system *os.PathError
				switch {
				case errors.As(err, &located) && located.Name == readertest.ShardPath(dir, 2):
				case errors.As(err, &system) && system.Path == readertest.ShardPath(dir, 2):
				default:
					t.Errorf("%s, %s: after %d: %v", name, kind, n, err)
				}
				if n < 100 || n > 3600 {
					t.Errorf("%s, %s: it ends after %d", name, kind, n)
				}
			})
		}
	}
}

func idFrom(r Record) (int, error) { return idOf(r), nil }

// Flows are cancelled at random moments, from another goroutine.
func TestCancelFlowsAtAnyMoment(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 0, 900, 10, 900)
	rows := writeRecords(t, Options{}, 3, func(int) [][]byte { return settest.Table(400) }).Sources()
	var tables []string
	for _, s := range rows {
		tables = append(tables, s.Path)
	}
	photos := imageSet(t, 12, nil).Sources()[0].Path
	random := rand.New(rand.NewPCG(5, 6))
	leavesNothing(t, func() {
		for range 8 {
			o := Options{Memory: int64(1 + random.IntN(2)*(1<<22)), Unordered: random.IntN(2) == 0}
			ids := open(t, dir, o)
			cancelled(t, random, Map(ids.Interleave(3, 1).Repeat(-1), idFrom, MapOptions{Unordered: random.IntN(2) == 0}).Prefetch(0))
			cancelled(t, random, Batch(Map(ids.ShuffleAll(ShuffleAllOptions{}).Repeat(-1), idFrom, MapOptions{}), 7, BatchOptions{}).Prefetch(3))
			cancelled(t, random, Batch(ids.Interleave(2, 1).Shuffle(100).Repeat(-1), 9, BatchOptions{DropRemainder: true}).Prefetch(0))
			set, err := OpenAll(t.Context(), tables, o)
			if err != nil {
				t.Fatal(err)
			}
			cancelled(t, random, ParseColumns(set.Interleave(3, 1).Repeat(-1), ColumnSpec{Batch: 50}).Prefetch(0))
			cancelled(t, random, Images(open(t, photos, o).Records().Repeat(-1), ImageSpec{Size: 16, Batch: 4, NoLabels: true}).Prefetch(2))
		}
	})
}

// cancelled runs a flow until it is cancelled at a random moment.
func cancelled[T any](t *testing.T, random *rand.Rand, f Flow[T]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	after := time.Duration(random.IntN(3000)) * time.Microsecond
	wait.Go(func() {
		time.Sleep(after)
		cancel()
	})
	r, err := f.Start(ctx, From{})
	if err == nil {
		for err == nil {
			_, err = r.Next()
		}
		r.Stats()
		r.Report()
		r.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want that it was cancelled", err)
	}
}

// A global order can be divided again among other workers at a batch boundary, also in runs and
// whatever Options.Uneven is.
func TestResumeBatchesWithOtherWorkers(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 17, 30, 6)
	const batch = 3
	for _, o := range []ShuffleAllOptions{{}, {Block: 4, Window: 2}} {
		for ends := UnevenKeep; ends <= UnevenPad; ends++ {
			for _, workers := range [][2]int{{1, 2}, {2, 1}, {3, 2}, {2, 5}} {
				flow := func(worker, workers int) Flow[[]Record] {
					set := open(t, dir, Options{Worker: worker, Workers: workers, Seed: 8, Uneven: ends})
					return Batch(set.ShuffleAll(o), batch, BatchOptions{})
				}
				var got []int
				read := func(r *Stream[[]Record], batches int) {
					for range batches {
						b, err := r.Next()
						if err == io.EOF {
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						for _, record := range b {
							if !record.Pad {
								got = append(got, idOf(record))
							}
						}
					}
				}
				var state State
				for w := range workers[0] {
					r, err := flow(w, workers[0]).Start(t.Context(), From{})
					if err != nil {
						t.Fatal(err)
					}
					read(r, 4)
					state = through(t, r.State())
					r.Close()
				}
				for w := range workers[1] {
					r, err := flow(w, workers[1]).Start(t.Context(), From{State: &state})
					if err != nil {
						t.Fatal(err)
					}
					read(r, 1000)
					r.Close()
				}
				slices.Sort(got)
				want := readertest.InOrder(17, 30, 6)
				if ends == UnevenDrop {
					// Less than one record per worker is dropped, and none is returned twice.
					if n := len(slices.Compact(slices.Clone(got))); n != len(got) || n <= len(want)-workers[1] {
						t.Errorf("%+v, ends %d, workers %v: %d records, %d different, of %d", o, ends, workers, len(got), n, len(want))
					}
				} else if !slices.Equal(got, want) {
					t.Errorf("%+v, ends %d, workers %v: got %v", o, ends, workers, got)
				}
			}
		}
	}
}

// A file cut off between two records shows no damage, except that it has fewer records than the
// manifest says, or than it had when it was divided.
func TestRecordsThatAreMissingAtTheEnd(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		for name, build := range map[string]func(*Set) Pipe{
			"interleave": func(s *Set) Pipe { return s.Interleave(2, 1) },
			"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
		} {
			if name == "all" && c != tfrecord.CompressionNone {
				continue
			}
			for _, want := range []int64{19, 20, 21} {
				set := open(t, readertest.WriteShards(t, c, 30, 20), Options{})
				set.Sources()[1].Info = &manifest.Shard{Records: want, Bytes: -1}
				err := readSome(t, build(set), nil)
				missing := new(tfrecord.Error)
				if got := errors.As(err, &missing) && missing.Part == tfrecord.PartCount && missing.Record == 20; got != (want > 20) {
					t.Errorf("%s, %v, a manifest with %d of 20 records: %v", name, c, want, err)
				}
			}
		}
	}
}
