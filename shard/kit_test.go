package shard

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/storage/storagetest"
	"github.com/tfrec/tfrec/tfrecord"
)

// copyOf copies a set to a directory of the test's.
func copyOf(t testing.TB, set string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "set")
	check(t, os.CopyFS(to, os.DirFS(set)))
	return to
}

// storeOf returns an empty store in memory and its URL.
func storeOf(t testing.TB) (*storagetest.Store, string) {
	store := storagetest.New()
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return store, nil })
	storage.Forget()
	return store, "mem://bucket"
}

// uploads are the names of objects that were begun and neither committed nor aborted.
func uploads(store *storagetest.Store) (names []string) {
	for l := range store.Unfinished(context.Background(), "") {
		names = append(names, l.Name)
	}
	return names
}

// filesOf returns all files below a directory by their paths there, but for this
// machine's state.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == StateDir {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return files
}

func sameFiles(a, b map[string]string) bool { return maps.Equal(a, b) && len(a) > 0 }

// recordsOf reads a file that must be whole.
func recordsOf(t testing.TB, path string) [][]byte {
	t.Helper()
	r, err := Open(t.Context(), path, tfrecord.ReaderOptions{})
	check(t, err)
	defer r.Close()
	var list [][]byte
	for record, err := range r.All() {
		check(t, err)
		list = append(list, bytes.Clone(record))
	}
	return list
}

func putFile(t testing.TB, path string, data []byte) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, data, 0o644))
}

// writeSet writes a set named "t" with one split, train, whose shards all have
// the records that give yields, and its manifest.
func writeSet(t testing.TB, path string, shards int, give func(yield func([]byte))) *Manifest {
	t.Helper()
	return writeCompressedSet(t, path, shards, tfrecord.None, give)
}

func writeCompressedSet(t testing.TB, path string, shards int, c tfrecord.Compression, give func(yield func([]byte))) *Manifest {
	t.Helper()
	dir, err := setdir.Open(context.Background(), path, setdir.Options{Names: ManifestFiles})
	check(t, err)
	defer dir.Close()
	m := &Manifest{Format: ManifestFormat, Version: ManifestVersion, Name: "t", Compression: c.String()}
	split := Split{Name: "train"}
	for i := range shards {
		name := Name{Dataset: m.Name, Split: split.Name, Index: i, Count: shards}
		w, err := dir.Create(name.String(), setdir.WriterOptions{Compression: c})
		check(t, err)
		give(func(record []byte) { check(t, w.WriteRecord(record)) })
		info, err := w.Commit()
		check(t, err)
		split.Shards = append(split.Shards, info)
		split.Records += info.Records
	}
	m.Splits = []Split{split}
	putManifest(t, dir, m)
	return m
}

func putManifest(t testing.TB, dir *setdir.Dir, m *Manifest) {
	t.Helper()
	data, err := m.Encode()
	check(t, err)
	check(t, dir.Put(ManifestFile, data))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachFault has the first operation on files of a run fail, then the second, and
// so on; of many those at the beginning and the end, and some between. judge is
// told what the run said, that path and operation are in; fail is "" for the run
// that did not fail.
func eachFault(t *testing.T, prepare func() string, run func(dir string) error, judge func(dir, fail string, err error)) {
	t.Helper()
	defer func() { inject.Hook = nil }()
	dir := prepare()
	var total atomic.Int64
	inject.Hook = func(string) error { total.Add(1); return nil }
	err := run(dir)
	inject.Hook = nil
	judge(dir, "", err)
	for at := range total.Load() {
		if total.Load()-at > 14 && at > 6 && at%4 > 0 {
			continue
		}
		dir := prepare()
		var n atomic.Int64
		failed := make(chan string, 1)
		inject.Hook = func(operation string) error {
			if n.Add(1) != at+1 {
				return nil
			}
			failed <- operation
			return syscall.EIO
		}
		err := run(dir)
		inject.Hook = nil
		if len(failed) == 0 {
			t.Errorf("there are %d operations in one run, and not in another", total.Load())
			return
		}
		fail := <-failed
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), fail) || !strings.Contains(err.Error(), string(filepath.Separator)) {
			t.Errorf("operation %d, %s, failed, and the run said %v: want operation and path", at, fail, err)
		}
		var fault *tfrecord.Error
		if errors.As(err, &fault) && recordscan.IsDamage(err) {
			t.Errorf("operation %d, %s, failed, and the run took it for damage: %v", at, fail, err)
		}
		judge(dir, fail, err)
	}
	if total.Load() < 2 {
		t.Errorf("only %d operations are attempted", total.Load())
	}
}

// namesIn are all files and directories below a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// has reports whether a directory holds a file of that name.
func has(t *testing.T, dir, name string) bool {
	t.Helper()
	is, err := setdir.View(t.Context(), dir).Exists(name)
	check(t, err)
	return is
}

func threeShards(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	writeSet(t, dir, 3, func(yield func([]byte)) {
		for _, s := range []string{"one", "two", "three", "four"} {
			yield([]byte(s))
		}
	})
	return dir
}

// stageNext writes the next version of a set into its stage: its first shard with one
// other record, and a manifest that says so.
func stageNext(t *testing.T, dir string) {
	t.Helper()
	d, err := setdir.Open(t.Context(), dir, setdir.Options{Names: ManifestFiles})
	check(t, err)
	defer d.Close()
	m, err := ManifestIn(d)
	check(t, err)
	first := &m.Splits[0].Shards[0]
	w, err := d.Stage().Create(first.File, setdir.WriterOptions{})
	check(t, err)
	check(t, w.WriteRecord([]byte("another record")))
	info, err := w.Commit()
	check(t, err)
	check(t, d.Stage().PutDone(&setdir.Done{Info: info}))
	m.Splits[0].Records += info.Records - first.Records
	*first = info
	putManifest(t, d.Stage(), m)
}

// replaceStaged puts what is staged in place.
func replaceStaged(dir string) error {
	d, err := setdir.Open(context.Background(), dir, setdir.Options{Names: ManifestFiles})
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := ManifestIn(d)
	if err != nil {
		return err
	}
	return d.PutStaged([]string{m.Splits[0].Shards[0].File}, []string{ManifestFile}, nil)
}
