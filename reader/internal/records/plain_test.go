package records

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// A plainFile returns the same records and error as a tfrecord.Reader.
func FuzzPlainIsTheReaders(f *testing.F) {
	var frames []byte
	for i := range 20 {
		frames = tfrecord.AppendFrame(frames, readertest.Numbered(0, i))
	}
	f.Add(frames, uint16(16))
	f.Add(frames[:len(frames)-3], uint16(40))
	f.Add(frames[1:], uint16(1))
	f.Add([]byte{}, uint16(0))
	broken := slices.Clone(frames)
	broken[100] ^= 1
	broken[500] ^= 1
	f.Add(broken, uint16(100))
	path := f.TempDir() + "/f.tfrecord"
	f.Fuzz(func(t *testing.T, data []byte, chunk uint16) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		o := pipeline.Options{Compression: tfrecord.CompressionNone, MaxRecord: 1 << 20}
		type one struct {
			data   string
			offset int64
			number int64
		}
		var want, got []one
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r := tfrecord.NewReader(file, tfrecord.ReaderOptions{Name: path, Compression: tfrecord.CompressionNone, MaxRecord: 1 << 20})
		var wantErr, gotErr error
		for {
			data, err := r.Next()
			if err != nil {
				wantErr = err
				break
			}
			want = append(want, one{string(data), r.Offset(), r.Record()})
		}
		set, err := fileset.OpenAll(t.Context(), []string{path}, o)
		if err != nil {
			t.Fatal(err)
		}
		run, err := pipeline.NewRun(t.Context(), set.Opts, set)
		if err != nil {
			t.Fatal(err)
		}
		in := &blockAllocator{ctx: t.Context(), run: run, readers: pipeline.NewGate(1), needed: func() bool { return true }}
		p := &plainFile{run: run, in: in, file: file, name: path, framing: pipeline.Framing(&set.Opts), chunk: int(chunk) + 1, most: 4 * int(chunk), end: fileset.NoEnd}
		watch := new(pipeline.Counters).Watch()
		for {
			b, err := p.Read(&watch)
			if err != nil {
				gotErr = err
				break
			}
			for _, r := range b.Records {
				got = append(got, one{string(r.Data), r.Offset, r.Number})
			}
			b.Release()
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		if gotErr != io.EOF && wantErr != io.EOF {
			if gotErr.Error() != wantErr.Error() {
				t.Fatalf("error %v, want %v", gotErr, wantErr)
			}
		} else if gotErr != wantErr {
			t.Fatalf("error %v, want %v", gotErr, wantErr)
		}
		// With skipping, all of these are returned, and perhaps more; in any order it is the same.
		skip := pipeline.Options{MaxRecord: 1 << 20, Compression: tfrecord.CompressionNone, SkipBad: pipeline.SkipBad{Count: 1 << 40}}
		view := func(r pipeline.Record) string { return fmt.Sprint(r.Offset, " ", string(r.Data)) }
		set = open(t, path, skip)
		rescued := read(t, set, Interleave(set, 1, 1), view)
		if len(rescued) < len(want) {
			t.Fatalf("%d records with skipping, %d without", len(rescued), len(want))
		}
		all := read(t, set, ShuffleAll(set, ShuffleAllOptions{}), view)
		slices.Sort(all)
		slices.Sort(rescued)
		if !slices.Equal(all, rescued) {
			t.Fatalf("%d records in one order, %d in the other", len(all), len(rescued))
		}
	})
}
