package reader

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// A plainFile returns the same records and error as a tfrecord.Reader.
func FuzzPlainIsTheReaders(f *testing.F) {
	var frames []byte
	for i := range 20 {
		frames = tfrecord.AppendFrame(frames, numbered(0, i))
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
		o := Options{Compression: tfrecord.None, MaxRecord: 1 << 20}
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
		r := tfrecord.NewReader(file, tfrecord.ReaderOptions{Name: path, Compression: tfrecord.None, MaxRecord: 1 << 20})
		var wantErr, gotErr error
		for {
			data, err := r.Next()
			if err != nil {
				wantErr = err
				break
			}
			want = append(want, one{string(data), r.Offset(), r.Record()})
		}
		set, err := Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		run, err := newRun(t.Context(), set.files.opts, set.files)
		if err != nil {
			t.Fatal(err)
		}
		in := &blockAllocator{ctx: t.Context(), run: run, readers: newGate(1), needed: func() bool { return true }}
		p := &plainFile{run: run, in: in, file: file, name: path, framing: framingOf(&set.files.opts), chunk: int(chunk) + 1, most: 4 * int(chunk), end: noEnd}
		watch := new(stageStats).watch()
		for {
			b, err := p.read(&watch)
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
		skip := Options{MaxRecord: 1 << 20, Compression: tfrecord.None, SkipBad: SkipBad{Count: 1 << 40}}
		read := func(p Pipe) (all []string) {
			for r, err := range p.All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, fmt.Sprint(r.Offset, " ", string(r.Data)))
			}
			return all
		}
		set, err = Open(t.Context(), path, skip)
		if err != nil {
			t.Fatal(err)
		}
		rescued := read(set.Records())
		if len(rescued) < len(want) {
			t.Fatalf("%d records with skipping, %d without", len(rescued), len(want))
		}
		all := read(set.ShuffleAll(ShuffleAllOptions{}))
		slices.Sort(all)
		slices.Sort(rescued)
		if !slices.Equal(all, rescued) {
			t.Fatalf("%d records in one order, %d in the other", len(all), len(rescued))
		}
	})
}
