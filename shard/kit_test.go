package shard

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// copyOf copies a set to a directory of the test's.
func copyOf(t testing.TB, set string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "set")
	check(t, os.CopyFS(to, os.DirFS(set)))
	return to
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
