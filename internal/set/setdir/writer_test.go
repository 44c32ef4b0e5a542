package setdir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Shards that are written at the same time, of records and of frames that are overwritten as soon
// as they may be, have the bytes, the hash and the index of all records.
func TestLentFrames(t *testing.T) {
	dir, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for k := range 5 {
				c := tfrecord.CompressionNone
				if i == 3 {
					c = tfrecord.CompressionGzip
				}
				writeLent(t, dir, fmt.Sprintf("s-%d-%d.tfrecord", i, k), c, rng)
			}
		})
	}
	all.Wait()
}

func writeLent(t *testing.T, dir *Dir, file string, c tfrecord.Compression, rng *rand.Rand) {
	w, err := dir.CreatePart(file, WriterOptions{Compression: c})
	if err != nil {
		t.Error(err)
		return
	}
	var want, index []byte
	var lent sync.WaitGroup
	record := func() []byte { return bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(1000)) }
	records := 0
	for range 60 {
		if rng.IntN(3) == 0 {
			r := record()
			index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: int64(len(want)), Size: int64(len(r) + tfrecord.Overhead)})
			want = tfrecord.AppendFrame(want, r)
			records++
			err = w.WriteRecord(r)
		} else {
			var frames []byte
			var sizes []int
			for range rng.IntN(400) {
				before := len(frames)
				frames = tfrecord.AppendFrame(frames, record())
				sizes = append(sizes, len(frames)-before)
				index = tfrecord.AppendIndex(index, tfrecord.IndexEntry{Offset: int64(len(want) + before), Size: int64(len(frames) - before)})
			}
			want = append(want, frames...)
			records += len(sizes)
			lent.Add(1)
			err = w.WriteLentFrames(frames, sizes, func() {
				clear(frames)
				clear(sizes)
				lent.Done()
			})
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
	if rng.IntN(4) == 0 {
		w.Abort()
		lent.Wait()
		return
	}
	info, err := w.Commit()
	if err != nil {
		t.Error(err)
		return
	}
	lent.Wait()
	path := dir.Join(file)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	sum := sha256.Sum256(got)
	if info.Records != int64(records) || info.Bytes != int64(len(got)) || info.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: %+v: want %d records, %d bytes, SHA-256 %x", file, info, records, len(got), sum)
	}
	if c != tfrecord.CompressionNone {
		return
	}
	stored, err := os.ReadFile(filepath.Join(filepath.Dir(path), manifest.IndexName(file)))
	if err != nil || !bytes.Equal(stored, index) || !bytes.Equal(got, want) {
		t.Errorf("%s: %v: index equal: %v, frames equal: %v", file, err, bytes.Equal(stored, index), bytes.Equal(got, want))
	}
}

// fullDraft is a file on a full disk.
type fullDraft struct{ place.Draft }

var errFull = errors.New("disk full")

func (fullDraft) Write([]byte) (int, error) { return 0, errFull }

// An index that cannot be written is an error that names the shard, once.
func TestIndexErrorNamesTheShardOnce(t *testing.T) {
	dir, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	frame := tfrecord.AppendFrame(nil, nil)
	frames, sizes := bytes.Repeat(frame, 2*indexBuffer), slices.Repeat([]int{len(frame)}, 2*indexBuffer)
	for name, write := range map[string]func(w *Writer) error{
		"records": func(w *Writer) error {
			for range sizes {
				if err := w.WriteRecord(nil); err != nil {
					return err
				}
			}
			return nil
		},
		"frames":      func(w *Writer) error { return w.WriteFrames(frames, sizes) },
		"lent frames": func(w *Writer) error { return w.WriteLentFrames(frames, sizes, func() {}) },
		"commit": func(w *Writer) error {
			if err := w.WriteRecord(nil); err != nil {
				return err
			}
			_, err := w.Commit()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := dir.Create("s.tfrecord", WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			w.indexDraft = fullDraft{w.indexDraft}
			err = write(w)
			w.Abort()
			if !errors.Is(err, errFull) || strings.Count(err.Error(), dir.Join("s.tfrecord")) != 1 {
				t.Errorf("got %v: want an error that names the shard once", err)
			}
		})
	}
}
