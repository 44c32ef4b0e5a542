package reader

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// compress compresses a file, whatever its content.
func compress(t *testing.T, path string, c tfrecord.Compression) {
	readertest.Change(t, path, func(frames []byte) []byte {
		var b bytes.Buffer
		w, err := tfrecord.NewWriter(&b, tfrecord.WriterOptions{Compression: c})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFrames(frames, 1); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	})
}

// TestDamageInCompressedFilesIsAlike has damage in what was compressed: the remaining records, the
// reports, the division into parts and resuming are the same as for a plain file.
func TestDamageInCompressedFilesIsAlike(t *testing.T) {
	for i, d := range damages {
		dir, _, left := damaged(t, i)
		read := func(o Options) (ids []int, told []Skipped) {
			o.SkipBad, o.OnSkip = SkipBad{Count: 9}, func(s Skipped) { told = append(told, s) }
			return idsOf(t, open(t, dir, o).Records()), told
		}
		_, plain := read(Options{})
		for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd} {
			if c != tfrecord.CompressionNone {
				dir, _, _ = damaged(t, i)
				for k := range 3 {
					compress(t, readertest.ShardPath(dir, k), c)
				}
			}
			ids, told := read(Options{})
			same := slices.EqualFunc(told, plain, func(a, b Skipped) bool {
				// How much the last one lost is unknown in a stream.
				return a.Record == b.Record && a.Offset == b.Offset && (a.Bytes == b.Bytes || a.Bytes == -1)
			})
			if !slices.Equal(ids, left) || !same {
				t.Errorf("%s, %v: %d records, told %v; plain %v", d.name, c, len(ids), told, plain)
			}
			var all []int
			for w := range 4 {
				part, _ := read(Options{Worker: w, Workers: 4, ShardBy: ShardRecords})
				all = append(all, part...)
			}
			if !slices.Equal(all, left) {
				t.Errorf("%s, %v, in four parts: %v", d.name, c, all)
			}
			set := open(t, dir, Options{SkipBad: SkipBad{Count: 9}})
			s := started(t, set.Interleave(2, 3))
			whole := idsOf(t, set.Interleave(2, 3))
			for k := 29; k < len(whole); k += 29 {
				takeIDs(t, s, 29)
				r, err := set.Interleave(2, 3).Start(t.Context(), From{State: new(through(t, s.State()))})
				if err != nil {
					t.Fatal(err)
				}
				if got := rest(t, r); !slices.Equal(got, whole[k:]) {
					t.Errorf("%s, %v, behind %d: %v", d.name, c, k, got)
				}
				r.Close()
			}
			s.Close()
		}
	}
}

// Records larger than the window are found after damage, a stream that ends after it is reported,
// and a malicious one terminates.
func TestSalvageOfCompressedFiles(t *testing.T) {
	large := func(k int) []byte {
		return append(readertest.Numbered(0, k), bytes.Repeat([]byte{1, byte(k)}, 700<<10)...)
	}
	var frames []byte
	var at []int
	for k := range 6 {
		at = append(at, len(frames))
		frames = tfrecord.AppendFrame(frames, large(k))
	}
	frames[at[1]+9] ^= 1
	frames[at[4]+3] ^= 1
	path := readertest.ShardPath(t.TempDir(), 0)
	read := func(most int64, frames []byte, spoil func([]byte) []byte) (ids []int, told []Skipped, err error) {
		if err := os.WriteFile(path, frames, 0o644); err != nil {
			t.Fatal(err)
		}
		compress(t, path, tfrecord.CompressionGzip)
		readertest.Change(t, path, spoil)
		ids, err = idsUntil(open(t, path, Options{SkipBad: SkipBad{Count: most}, OnSkip: func(s Skipped) { told = append(told, s) }}).Records())
		return ids, told, err
	}
	keep := func(p []byte) []byte { return p }
	if ids, told, err := read(2, frames, keep); err != nil || !slices.Equal(ids, []int{0, 2, 3, 5}) || len(told) != 2 {
		t.Errorf("%v, %v, %v", ids, told, err)
	}
	ids, told, err := read(9, frames, func(p []byte) []byte { return p[:len(p)*3/4] })
	last := new(tfrecord.Error)
	if err != nil || len(ids) < 2 || ids[1] != 2 || !errors.As(told[len(told)-1].Err, &last) || last.Part != tfrecord.PartCompression {
		t.Errorf("cut off: %v, %v, %v", ids, told, err)
	}
	// Bogus headers of long records, each of which is read to its end.
	frame := tfrecord.AppendFrame(nil, make([]byte, 900<<10))
	deceit := append([]byte{1}, bytes.Repeat(frame[:tfrecord.HeaderSize], 200)...)
	deceit = append(deceit, make([]byte, 2<<20)...)
	if ids, told, err := read(1, append(frames[:at[1]:at[1]], deceit...), keep); err != nil || len(ids) != 1 || len(told) != 1 {
		t.Errorf("deceit: %v, %v, %v", ids, told, err)
	}
}
