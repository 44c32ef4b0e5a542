// Package settest writes sets for the tests of the packages that work on sets, and inspects what
// these packages wrote.
package settest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
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

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// CopyOf copies a set to a temporary directory of the test.
func CopyOf(t testing.TB, set string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "set")
	Check(t, os.CopyFS(to, os.DirFS(set)))
	return to
}

// StoreOf returns an empty store in memory and its URL.
func StoreOf(t testing.TB) (*storagetest.Store, string) {
	store := storagetest.New()
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return store, nil })
	storage.Forget()
	return store, "mem://bucket"
}

// Uploads returns the names of objects whose upload was neither committed nor aborted.
func Uploads(store *storagetest.Store) (names []string) {
	for l := range store.Unfinished(context.Background(), "") {
		names = append(names, l.Name)
	}
	return names
}

// NothingAt fails the test if there is a directory at path.
func NothingAt(t testing.TB, path string) {
	t.Helper()
	if entries, err := os.ReadDir(path); err == nil {
		t.Errorf("%s was left, with %v", path, entries)
	}
}

// FilesOf returns the content of all files below a directory, by relative path, except StateDir.
func FilesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	Check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == shard.StateDir {
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

func SameFiles(a, b map[string]string) bool { return maps.Equal(a, b) && len(a) > 0 }

// Compressed returns data compressed as a single stream.
func Compressed(t testing.TB, c tfrecord.Compression, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch c {
	case tfrecord.CompressionGzip:
		w = gzip.NewWriter(&b)
	case tfrecord.CompressionZlib:
		w = zlib.NewWriter(&b)
	default:
		w, err = zstd.NewWriter(&b)
	}
	Check(t, err)
	_, err = w.Write(data)
	Check(t, err)
	Check(t, w.Close())
	return b.Bytes()
}

// Labelled writes a set of three shards with labels and the files for TFDS.
func Labelled(t testing.TB, path string, c tfrecord.Compression) *manifest.Manifest {
	t.Helper()
	var b tfrecord.Builder
	m := WriteCompressedSet(t, path, 3, c, func(yield func([]byte)) {
		for id := range int64(12) {
			b.Reset()
			b.Int64("label", id%3)
			b.Bytes("data", bytes.Repeat([]byte{byte(id)}, 400))
			yield(b.Append(nil))
		}
	})
	m.Tool, m.Records, m.Labels = "a test", manifest.RecordExample, []string{"ant", "bee", "cat"}
	m.Features = []manifest.Feature{
		{Key: "data", Kind: "bytes", Class: manifest.ClassText},
		{Key: "label", Kind: "int64", Class: manifest.ClassLabel},
	}
	for i := range m.Splits[0].Shards {
		info := &m.Splits[0].Shards[i]
		info.Labels = map[string]int64{"ant": 4, "bee": 4, "cat": 4}
		info.Fingerprint = fingerprint.OfShard(*info)
	}
	m.Fingerprint = fingerprint.OfSet(m)
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	Check(t, err)
	defer dir.Close()
	Check(t, dir.PutSet(m))
	return m
}

func FlipIn(t testing.TB, path string, offset int) {
	t.Helper()
	data, err := os.ReadFile(path)
	Check(t, err)
	data[offset] ^= 0x5a
	Check(t, os.WriteFile(path, data, 0o644))
}

// Frame is the location of a record in a test file.
type Frame struct{ Offset, Size int }

// Framed returns a file of records of the given sizes, with contents that do not include a valid
// header.
func Framed(sizes ...int) (data []byte, frames []Frame) {
	draw := rand.New(rand.NewPCG(1, 2))
	for i, size := range sizes {
		record := make([]byte, size)
		for j := range record {
			record[j] = byte(1 + draw.IntN(255))
		}
		if size > 8 {
			binary.LittleEndian.PutUint64(record, uint64(1e18)+uint64(i)) // so that all records differ
		}
		at := len(data)
		data = tfrecord.AppendFrame(data, record)
		frames = append(frames, Frame{at, len(data) - at})
	}
	return data, frames
}

func PutFile(t testing.TB, path string, data []byte) {
	t.Helper()
	Check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Check(t, os.WriteFile(path, data, 0o644))
}

// Hurt is damaged data, and the frames that are still intact.
type Hurt struct {
	Name string
	Data []byte
	Left []Frame
}

func Overwrite(name string, data []byte, frames []Frame, from, to int, how func(byte) byte) Hurt {
	b := bytes.Clone(data)
	for i := from; i < to; i++ {
		b[i] = how(b[i])
	}
	return Hurt{name, b, Equal(data, b, frames)}
}

// Equal returns the frames whose bytes are the same in a and b.
func Equal(a, b []byte, frames []Frame) []Frame {
	return slices.DeleteFunc(slices.Clone(frames), func(f Frame) bool {
		return !bytes.Equal(a[f.Offset:f.Offset+f.Size], b[f.Offset:f.Offset+f.Size])
	})
}

func Flipped(b byte) byte { return b ^ 0x5a }

// TimesOf returns the modification times of all files below a directory, except StateDir.
func TimesOf(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	for name := range FilesOf(t, dir) {
		st, err := os.Stat(filepath.Join(dir, name))
		Check(t, err)
		times[name] = st.ModTime()
	}
	return times
}

// WriteSet writes a set named "t", with its manifest. Its only split is train, and each of its
// shards has the records that give yields.
func WriteSet(t testing.TB, path string, shards int, give func(yield func([]byte))) *manifest.Manifest {
	t.Helper()
	return WriteCompressedSet(t, path, shards, tfrecord.CompressionNone, give)
}

func WriteCompressedSet(t testing.TB, path string, shards int, c tfrecord.Compression, give func(yield func([]byte))) *manifest.Manifest {
	t.Helper()
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	Check(t, err)
	defer dir.Close()
	m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "t", Compression: c.String()}
	split := manifest.Split{Name: "train"}
	for i := range shards {
		name := shard.Name{Dataset: m.Name, Split: split.Name, Index: i, Count: shards}
		w, err := dir.Create(name.String(), setdir.WriterOptions{Compression: c})
		Check(t, err)
		give(func(record []byte) { Check(t, w.WriteRecord(record)) })
		info, err := w.Commit()
		Check(t, err)
		split.Shards = append(split.Shards, info)
		split.Records += info.Records
	}
	m.Splits = []manifest.Split{split}
	PutManifest(t, dir, m)
	return m
}

func PutManifest(t testing.TB, dir *setdir.Dir, m *manifest.Manifest) {
	t.Helper()
	data, err := m.Encode()
	Check(t, err)
	Check(t, dir.Put(manifest.File, data))
}

func RemoveManifest(t testing.TB, path string) {
	t.Helper()
	Check(t, os.Remove(filepath.Join(path, manifest.File)))
}

func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Some yields n different records of the given length.
func Some(n, length int) func(yield func([]byte)) {
	return func(yield func([]byte)) {
		for i := range n {
			yield(bytes.Repeat([]byte{byte(i)}, length))
		}
	}
}

// EachFault makes the first file operation of a run fail, then the second, and so on; if there are
// many, those at the beginning and the end, and some in between. It checks that the error of the
// run names the operation and a path, and calls judge with it; fail is the operation, or "" for the
// run without a fault.
func EachFault(t *testing.T, prepare func() string, run func(ctx context.Context, dir string) error, judge func(dir, fail string, err error)) {
	t.Helper()
	dir := prepare()
	var total atomic.Int64
	err := run(inject.With(t.Context(), func(string) error { total.Add(1); return nil }), dir)
	judge(dir, "", err)
	for at := range total.Load() {
		if total.Load()-at > 14 && at > 6 && at%4 > 0 {
			continue
		}
		dir := prepare()
		var n atomic.Int64
		failed := make(chan string, 1)
		ctx := inject.With(t.Context(), func(operation string) error {
			if n.Add(1) != at+1 {
				return nil
			}
			failed <- operation
			return syscall.EIO
		})
		err := run(ctx, dir)
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

// NamesIn returns all files and directories below a directory.
func NamesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	Check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// Has reports whether a directory has a file of that name.
func Has(t *testing.T, dir, name string) bool {
	t.Helper()
	is, err := setdir.View(t.Context(), dir).Exists(name)
	Check(t, err)
	return is
}

// ThreeShards writes a set of three shards with four short records each.
func ThreeShards(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	WriteSet(t, dir, 3, func(yield func([]byte)) {
		for _, s := range []string{"one", "two", "three", "four"} {
			yield([]byte(s))
		}
	})
	return dir
}

// Others is a directory of files written by other programs, relative to a package below shard.
const Others = "../../testdata/tfrecords"

// Main runs the tests of a package with temporary directories in memory, and with store claims that
// expire quickly.
func Main(m *testing.M) {
	memtemp.Use()
	claim.Renew, claim.Expire = 150*time.Millisecond, 600*time.Millisecond
	os.Exit(m.Run())
}
