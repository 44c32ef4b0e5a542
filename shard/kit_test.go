package shard

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/storage/storagetest"
	"github.com/tfrec/tfrec/tfrecord"
)

// photo is an Example as people write them, without its pixels.
func photo(id int64, text string) []byte {
	var b tfrecord.Builder
	b.Bytes("image/encoded", []byte("\xff\xd8\xff\xe0 no real picture"))
	b.Int64("image/class/label", id)
	if text != "" {
		b.String("image/class/text", text)
	}
	b.Float("bbox", 1, 2, 3, 4)
	return b.Append(nil)
}

func fileOf(records ...[]byte) []byte {
	var data []byte
	for _, r := range records {
		data = tfrecord.AppendFrame(data, r)
	}
	return data
}

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

// exampleFile writes n Examples to a file, and returns its path.
func exampleFile(t testing.TB, path string, n int, build func(i int, b *tfrecord.Builder)) string {
	t.Helper()
	var data []byte
	var b tfrecord.Builder
	for i := range n {
		b.Reset()
		build(i, &b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	putFile(t, path, data)
	return path
}

// idsOf returns the values of an int64 feature in all records of a split, in
// their order; all splits for "".
func idsOf(t testing.TB, path, split, key string) []int64 {
	t.Helper()
	sources, err := Expand(t.Context(), []string{path}, ExpandOptions{})
	check(t, err)
	var ids []int64
	var e tfrecord.Example
	for _, s := range sources {
		if split != "" && s.Split != split {
			continue
		}
		r, err := Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
		check(t, err)
		for record, err := range r.All() {
			check(t, err)
			check(t, e.Parse(record))
			f, ok := e.Get(key)
			id, isInt := f.Int64()
			if !ok || !isInt {
				t.Fatalf("%s: a record without %s", s.Path, key)
			}
			ids = append(ids, id)
		}
		check(t, r.Close())
	}
	return ids
}

// numbers builds records with their number as the feature id.
func numbers(i int, b *tfrecord.Builder) {
	b.Int64("id", int64(i))
	b.String("text", fmt.Sprintf("record %d", i))
}

// manifestOf reads the manifest of a set.
func manifestOf(t testing.TB, path string) *Manifest {
	t.Helper()
	m, err := ReadManifest(t.Context(), filepath.Join(path, ManifestFile))
	check(t, err)
	return m
}

// nothingAt wants no file or directory at a path.
func nothingAt(t testing.TB, path string) {
	t.Helper()
	if entries, err := os.ReadDir(path); err == nil {
		t.Errorf("%s was left, with %v", path, entries)
	}
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

// compressed returns data as one stream.
func compressed(t testing.TB, c tfrecord.Compression, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch c {
	case tfrecord.Gzip:
		w = gzip.NewWriter(&b)
	case tfrecord.Zlib:
		w = zlib.NewWriter(&b)
	default:
		w, err = zstd.NewWriter(&b)
	}
	check(t, err)
	_, err = w.Write(data)
	check(t, err)
	check(t, w.Close())
	return b.Bytes()
}

// labelled writes a set of three shards with labels and TFDS's files.
func labelled(t testing.TB, path string, c tfrecord.Compression) *Manifest {
	t.Helper()
	var b tfrecord.Builder
	m := writeCompressedSet(t, path, 3, c, func(yield func([]byte)) {
		for id := range int64(12) {
			b.Reset()
			b.Int64("label", id%3)
			b.Bytes("data", bytes.Repeat([]byte{byte(id)}, 400))
			yield(b.Append(nil))
		}
	})
	m.Tool, m.Records, m.Labels = "a test", RecordExample, []string{"ant", "bee", "cat"}
	m.Features = []Feature{
		{Key: "data", Kind: "bytes", Class: ClassText},
		{Key: "label", Kind: "int64", Class: ClassLabel},
	}
	for i := range m.Splits[0].Shards {
		info := &m.Splits[0].Shards[i]
		info.Labels = map[string]int64{"ant": 4, "bee": 4, "cat": 4}
		info.Fingerprint = ContentFingerprint(*info)
	}
	m.Fingerprint = SetFingerprint(m)
	dir, err := setdir.Open(context.Background(), path, setdir.Options{Names: ManifestFiles})
	check(t, err)
	defer dir.Close()
	check(t, PutSet(dir, m))
	return m
}

func flipIn(t testing.TB, path string, offset int) {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	data[offset] ^= 0x5a
	check(t, os.WriteFile(path, data, 0o644))
}

// frame is where a record of a file under test lies.
type frame struct{ offset, size int }

// framed returns a file of records of these sizes, with bytes that no header
// is among.
func framed(sizes ...int) (data []byte, frames []frame) {
	draw := rand.New(rand.NewPCG(1, 2))
	for i, size := range sizes {
		record := make([]byte, size)
		for j := range record {
			record[j] = byte(1 + draw.IntN(255))
		}
		if size > 8 {
			binary.LittleEndian.PutUint64(record, uint64(1e18)+uint64(i)) // no two are equal
		}
		at := len(data)
		data = tfrecord.AppendFrame(data, record)
		frames = append(frames, frame{at, len(data) - at})
	}
	return data, frames
}

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

// hurt is data with damage, and the frames that it leaves whole.
type hurt struct {
	name string
	data []byte
	left []frame
}

func overwrite(name string, data []byte, frames []frame, from, to int, how func(byte) byte) hurt {
	b := bytes.Clone(data)
	for i := from; i < to; i++ {
		b[i] = how(b[i])
	}
	return hurt{name, b, equal(data, b, frames)}
}

// equal are the frames that have the same bytes in both.
func equal(a, b []byte, frames []frame) []frame {
	return slices.DeleteFunc(slices.Clone(frames), func(f frame) bool {
		return !bytes.Equal(a[f.offset:f.offset+f.size], b[f.offset:f.offset+f.size])
	})
}

func flipped(b byte) byte { return b ^ 0x5a }

// timesOf are the times of all files below a directory but the lock.
func timesOf(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	for name := range filesOf(t, dir) {
		st, err := os.Stat(filepath.Join(dir, name))
		check(t, err)
		times[name] = st.ModTime()
	}
	return times
}

func indexOf(t testing.TB, path string) []tfrecord.IndexEntry {
	t.Helper()
	r, err := Open(t.Context(), path, tfrecord.ReaderOptions{})
	check(t, err)
	defer r.Close()
	entries, err := tfrecord.BuildIndex(r.Reader)
	check(t, err)
	return entries
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

func removeManifest(t testing.TB, path string) {
	t.Helper()
	check(t, os.Remove(filepath.Join(path, ManifestFile)))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// some yields n different records of the given length.
func some(n, length int) func(yield func([]byte)) {
	return func(yield func([]byte)) {
		for i := range n {
			yield(bytes.Repeat([]byte{byte(i)}, length))
		}
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
