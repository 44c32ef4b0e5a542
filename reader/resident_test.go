package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// costs counts what a store is asked for: reads of objects, their bytes, and requests for index
// files, which are missing.
type costs struct{ requests, bytes, indexes int64 }

// countReads counts the requests to a store.
func countReads(store *storagetest.Store) *costs {
	c := &costs{}
	var mu sync.Mutex
	store.Read = func(_ string, n int64) { c.requests, c.bytes = c.requests+1, c.bytes+n }
	store.Fault = func(kind, name string) error {
		if kind == "open" && strings.HasSuffix(name, ".idx") {
			mu.Lock()
			defer mu.Unlock()
			c.indexes++
		}
		return nil
	}
	return c
}

// storedRecords puts files of records of up to size bytes into a store.
func storedRecords(t *testing.T, files, each, size int) (dir, url string, total int64, c *costs) {
	dir = t.TempDir()
	random := rand.New(rand.NewPCG(1, uint64(size)))
	for i := range files {
		records := make([][]byte, each)
		for k := range records {
			records[k] = append(readertest.Numbered(i, k), make([]byte, size/2+random.IntN(size/2+1))...)
			total += int64(len(records[k]) + tfrecord.Overhead)
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	store, url := inStore(t, dir)
	return dir, url, total, countReads(store)
}

// A set that fits in memory is read once, whatever the size of its records and files and however
// many epochs there are: by its first stream while the records are counted, after the ends of the
// files, which identify the set, and by later ones in blocks. Never more
// than the limit is taken. The order is that on a disk.
func TestResidentSetIsReadOnce(t *testing.T) {
	sizes := []struct{ files, each, size int }{
		{3, 5, 1 << 20}, {2, 700, 9 << 10}, {4, 1, 10}, {1, 40_000, 184}, {300, 100, 184},
	}
	for _, s := range sizes[:race.Few(len(sizes), 3)] {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			dir, url, total, c := storedRecords(t, s.files, s.each, s.size)
			memory := max(total/5*8+64, 8<<20)
			o := Options{Seed: 9, Memory: memory}
			pipe := func(dir string) Pipe { return open(t, dir, o).ShuffleAll(ShuffleAllOptions{}).Repeat(3) }
			want := idsOf(t, pipe(dir))
			there := pipe(url)
			read := func(bytes, requests, indexes int64) {
				t.Helper()
				*c = costs{}
				stream, err := there.Start(t.Context(), From{})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				if got := rest(t, stream); !slices.Equal(got, want) {
					t.Fatalf("%d records, not in the order of the %d on the disk", len(got), len(want))
				}
				if c.bytes > bytes || c.requests > requests || c.indexes > indexes {
					t.Errorf("%+v, want %d requests for %d bytes and %d for index files at most", *c, requests, bytes, indexes)
				}
				if m := stream.run.(*stages.Stream).Run.Budget.Snapshot(); m.Peak > m.Limit && s.size < 1<<20 {
					t.Errorf("%d bytes in flight, and %d were given", m.Peak, m.Limit)
				}
				stream.Close()
				if m := stream.run.(*stages.Stream).Run.Budget.Snapshot(); m.InFlight != 0 {
					t.Errorf("%d bytes are still accounted for", m.InFlight)
				}
				t.Logf("%.2f times %d bytes, %+v", float64(c.bytes)/float64(total), total, *c)
			}
			files := int64(s.files)
			read(total+files*2*fileset.EndsSize, 4*files+total/records.RunStored, files)
			read(total, records.FirstStored+2*files+total/records.RunStored, 0)
		})
	}
}

// An index file is read once, and saves reading the file for its index.
func TestResidentSetWithIndexes(t *testing.T) {
	dir, _, total, _ := storedRecords(t, 3, 4000, 184)
	store, url := inStore(t, dir)
	var lines int64
	for i := range 3 {
		var index []byte
		at := readertest.Offsets(t, readertest.ShardPath(dir, i))
		for k := range at[1:] {
			index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: at[k], Size: at[k+1] - at[k]})
		}
		name := filepath.Base(readertest.ShardPath(dir, i))
		store.Put(strings.TrimPrefix(manifest.IndexPath("set/"+name), "/"), index)
		lines += int64(len(index))
	}
	c := countReads(store)
	o := Options{Seed: 9, Memory: 16 << 20}
	want := idsOf(t, open(t, dir, o).ShuffleAll(ShuffleAllOptions{}))
	if got := idsOf(t, open(t, url, o).ShuffleAll(ShuffleAllOptions{})); !slices.Equal(got, want) {
		t.Fatalf("%d records, not in the order of the %d on the disk", len(got), len(want))
	}
	if most := total + lines + 3*2*fileset.EndsSize + 3*tfrecord.HeaderSize; c.bytes > most || c.indexes > 3 {
		t.Errorf("%+v of %d bytes, want %d at most", *c, total, most)
	}
}

// Bits that flipped on their way are requested again. Damage of the files is reported as on a disk.
func TestResidentDamage(t *testing.T) {
	dir, url, _, _ := storedRecords(t, 2, 4000, 184)
	o := Options{Seed: 9, Memory: 16 << 20}
	want := idsOf(t, open(t, dir, o).ShuffleAll(ShuffleAllOptions{}).Repeat(2))
	s, err := open(t, url, o).ShuffleAll(ShuffleAllOptions{}).Repeat(2).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := s.run.(*stages.Stream).Pipe.(*pipeline.Checked).Stage.(*stages.RepeatStage).Up.(*pipeline.Checked).Stage.(*records.Global).Kept
	for _, data := range kept.Data {
		kept.Mend.Lock()
		for i := 0; i < len(data); i += 2000 {
			data[i] ^= 4
		}
		kept.Mend.Unlock()
	}
	if got := rest(t, s); !slices.Equal(got, want) {
		t.Errorf("%d records, not in the order of the %d on the disk", len(got), len(want))
	}

	path := readertest.ShardPath(dir, 1)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, url = inStore(t, dir)
	o.SkipBad.Count = 1
	want = idsOf(t, open(t, dir, o).ShuffleAll(ShuffleAllOptions{}))
	if got := idsOf(t, open(t, url, o).ShuffleAll(ShuffleAllOptions{})); len(got) != 7999 || !slices.Equal(got, want) {
		t.Errorf("%d records, want the %d of the disk", len(got), len(want))
	}
}

// Compressed files, which have no global order, and requests that fail are reported with the file.
func TestResidentFailures(t *testing.T) {
	dir := t.TempDir()
	readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionGzip, readertest.Numbered(0, 0), readertest.Numbered(0, 1))
	_, url := inStore(t, dir)
	_, err := open(t, url, Options{}).ShuffleAll(ShuffleAllOptions{}).Start(t.Context(), From{})
	if err == nil || !strings.Contains(err.Error(), "n-00000.tfrecord: it can only be read sequentially") {
		t.Errorf("of a compressed file: %v", err)
	}
	for _, indexed := range []bool{false, true} {
		dir, _, _, _ := storedRecords(t, 2, 100, 184)
		store, url := inStore(t, dir)
		set := open(t, url, Options{})
		if _, err := set.Fingerprint(t.Context()); err != nil {
			t.Fatal(err)
		}
		if indexed {
			if _, err := set.files.AllIndexes(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var denied atomic.Bool
		denied.Store(true)
		store.Fault = func(kind, name string) error {
			if kind == "open" && strings.HasSuffix(name, "n-00001.tfrecord") && denied.Load() {
				return fs.ErrPermission
			}
			return nil
		}
		read := func() (n int, err error) {
			for _, err := range set.ShuffleAll(ShuffleAllOptions{}).All(t.Context()) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}
		if _, err := read(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "n-00001.tfrecord") {
			t.Errorf("indexed %v: %v", indexed, err)
		}
		denied.Store(false)
		if n, err := read(); n != 200 || err != nil {
			t.Errorf("indexed %v: %d records, %v", indexed, n, err)
		}
	}
}

// Of a set that does not fit, an epoch reads at most as often as batch reads of five sixteenths of
// the limit make necessary, and the small ones at its beginning twice in addition.
func TestPassesOverALargeSet(t *testing.T) {
	race.Skip(t)
	dir, url, total, c := storedRecords(t, 3, 30_000, 184)
	for _, memory := range []int64{4 << 20, 8 << 20} {
		log := &costLog{}
		o := Options{Seed: 9, Memory: memory, Logger: slog.New(log)}
		want := idsOf(t, open(t, dir, o).ShuffleAll(ShuffleAllOptions{}))
		if len(log.all) != 0 {
			t.Errorf("reading from a disk logs %v", log.all)
		}
		set := open(t, url, o)
		if _, err := set.files.AllIndexes(t.Context()); err != nil {
			t.Fatal(err)
		}
		*c = costs{}
		stream, err := set.ShuffleAll(ShuffleAllOptions{}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if got := rest(t, stream); !slices.Equal(got, want) {
			t.Fatalf("%d records, not in the order of the %d on the disk", len(got), len(want))
		}
		all := total + int64(len(want))*(pipeline.RecordSize+records.RequestSize)
		passes := 1 + all/(memory/16*5) + 2
		if c.bytes > passes*total {
			t.Errorf("%d bytes of %d were read with a limit of %d, want %d times at most", c.bytes, total, memory, passes)
		}
		if m := stream.run.(*stages.Stream).Run.Budget.Snapshot(); m.Peak > m.Limit {
			t.Errorf("%d bytes in flight, and %d were given", m.Peak, m.Limit)
		}
		t.Logf("limit %d: %.1f times %d bytes, %d requests", memory, float64(c.bytes)/float64(total), total, c.requests)
		if len(log.all) != 1 {
			t.Fatalf("%d costs were logged, want 1", len(log.all))
		}
		said := log.all[0]
		for name, is := range map[string]int64{"read_bytes": c.bytes, "requests": c.requests, "set_bytes": total} {
			if estimate := said[name]; estimate < is*2/3 || estimate > is*3/2 {
				t.Errorf("limit %d: %s is %d, and the log says %d", memory, name, is, estimate)
			}
		}
		fits := Options{Memory: said["memory_needed"], Logger: o.Logger}
		idsOf(t, open(t, url, fits).ShuffleAll(ShuffleAllOptions{}))
		if len(log.all) != 1 {
			t.Errorf("with the memory that is needed, it logs %v", log.all[1:])
		}
	}
}

// costLog keeps the numbers of the events that say what a global order costs.
type costLog struct {
	mu  sync.Mutex
	all []map[string]int64
}

func (l *costLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *costLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "global order exceeds memory" { // which the command looks for, too
		return nil
	}
	numbers := map[string]int64{}
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindInt64 {
			numbers[a.Key] = a.Value.Int64()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, numbers)
	return nil
}

func (l *costLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *costLog) WithGroup(string) slog.Handler      { return l }

// Parts of the order and resumed streams over a resident set give the records of the disk. Each
// reads at most the whole set once, and of large records little more than its own.
func TestResidentParts(t *testing.T) {
	dir, url, total, c := storedRecords(t, 2, 24, 300<<10)
	for worker := range 4 {
		o := Options{Seed: 2, Memory: 32 << 20, Workers: 4, Worker: worker}
		want := idsOf(t, open(t, dir, o).ShuffleAll(ShuffleAllOptions{}))
		set := open(t, url, o)
		if _, err := set.files.AllIndexes(t.Context()); err != nil {
			t.Fatal(err)
		}
		*c = costs{}
		s, err := set.ShuffleAll(ShuffleAllOptions{}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range 5 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		state := s.State()
		if got := rest(t, s); !slices.Equal(got, want[5:]) {
			t.Errorf("worker %d: %v, want %v", worker, got, want[5:])
		}
		if c.bytes > total/4*9/4 {
			t.Errorf("worker %d read %d bytes for its quarter of %d", worker, c.bytes, total)
		}
		again, err := set.ShuffleAll(ShuffleAllOptions{}).Start(t.Context(), From{State: &state})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if got := rest(t, again); !slices.Equal(got, want[5:]) {
			t.Errorf("worker %d resumed: %v, want %v", worker, got, want[5:])
		}
	}
}

// Counting the records of files without index reads each once, in large requests.
func TestIndexesOfAStoreInParts(t *testing.T) {
	for _, size := range []int{184, 20 << 10, 100 << 10} {
		_, url, total, c := storedRecords(t, 1, 12<<20/size, size)
		set := open(t, url, Options{})
		*c = costs{}
		if _, err := set.files.AllIndexes(t.Context()); err != nil {
			t.Fatal(err)
		}
		most := 1 + (total-256<<10+records.RunStored-1)/records.RunStored // the beginning, and parts
		if c.bytes > total || c.requests > most {
			t.Errorf("records of %d bytes: %d requests for %d of %d bytes", size, c.requests, c.bytes, total)
		}
	}
}
