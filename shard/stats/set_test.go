package stats

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// others are files written by other programs.
const others = "../../testdata/tfrecords"

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeSet writes a set named "t" with one split, train, whose shards all have the records that
// give yields, and its manifest.
func writeSet(t testing.TB, path string, shards int, give func(yield func([]byte))) *manifest.Manifest {
	t.Helper()
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	check(t, err)
	defer dir.Close()
	m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "t", Compression: "none"}
	split := manifest.Split{Name: "train"}
	for i := range shards {
		name := shard.Name{Dataset: m.Name, Split: split.Name, Index: i, Count: shards}
		w, err := dir.Create(name.String(), setdir.WriterOptions{})
		check(t, err)
		give(func(record []byte) { check(t, w.WriteRecord(record)) })
		info, err := w.Commit()
		check(t, err)
		split.Shards = append(split.Shards, info)
		split.Records += info.Records
	}
	m.Splits = []manifest.Split{split}
	putManifest(t, dir, m)
	return m
}

func putManifest(t testing.TB, dir *setdir.Dir, m *manifest.Manifest) {
	t.Helper()
	data, err := m.Encode()
	check(t, err)
	check(t, dir.Put(manifest.File, data))
}

// words yields some records in lower or upper case.
func words(upper bool) func(yield func([]byte)) {
	return func(yield func([]byte)) {
		for _, s := range []string{"one", "two", "three", "four"} {
			if upper {
				s = strings.ToUpper(s)
			}
			yield([]byte(s))
		}
	}
}

// A verb whose input is replaced while it reads returns an error instead of mixing versions.
func TestVerbsNoticeReplacedSets(t *testing.T) {
	t.Parallel()
	verbs := map[string]func(ctx context.Context, in string) error{
		"inspect": func(ctx context.Context, in string) error {
			_, err := Inspect(ctx, []string{in}, InspectOptions{Workers: 1})
			return err
		},
		"stats": func(ctx context.Context, in string) error {
			_, err := Measure(ctx, []string{in}, Options{Workers: 1})
			return err
		},
	}
	for name, verb := range verbs {
		dir := filepath.Join(t.TempDir(), "set")
		m := writeSet(t, dir, 3, words(false))
		files := stageUpper(t, dir, m)
		var opened atomic.Int64 // the replacement opens files, too
		ctx := inject.With(t.Context(), func(op string) error {
			if op == "open" && opened.Add(1) == 2 {
				d, err := setdir.Open(context.Background(), dir, setdir.Options{})
				check(t, err)
				check(t, d.Staged().Publish(files, []string{manifest.File}, nil))
				check(t, d.Close())
			}
			return nil
		})
		err := verb(ctx, dir)
		if err == nil || opened.Load() < 2 || !strings.Contains(err.Error(), "replaced while it was read") {
			t.Errorf("%s: %d files opened, %v", name, opened.Load(), err)
		}
	}
}

// stageUpper stages a version of a set with other records of the same lengths, and
// returns its shards.
func stageUpper(t *testing.T, dir string, m *manifest.Manifest) (files []string) {
	t.Helper()
	d, err := setdir.Open(t.Context(), dir, setdir.Options{})
	check(t, err)
	defer d.Close()
	for i := range m.Splits[0].Shards {
		info := &m.Splits[0].Shards[i]
		w, err := d.Stage().Create(info.File, setdir.WriterOptions{})
		check(t, err)
		words(true)(func(record []byte) { check(t, w.WriteRecord(record)) })
		*info, err = w.Commit()
		check(t, err)
		check(t, d.Stage().Shards().PutDone(&setdir.Done{Shard: *info}))
		files = append(files, info.File)
	}
	m.Fingerprint = "the next version"
	putManifest(t, d.Stage(), m)
	return files
}
