package reader

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// damages are ways to damage file 1 of three, with 30 records each.
var damages = []struct {
	name   string
	damage func(t testing.TB, path string, at []int64)
	first  int // record of the error
	part   tfrecord.Part
	lost   []int   // records that are lost
	bytes  []int64 // of each skip, counted in records
}{
	{"data", func(t testing.TB, path string, at []int64) { readertest.Flip(t, path, at[7]+13) }, 7, tfrecord.PartDataCRC, []int{7}, []int64{1}},
	{"data CRC", func(t testing.TB, path string, at []int64) { readertest.Flip(t, path, at[8]-1) }, 7, tfrecord.PartDataCRC, []int{7}, []int64{1}},
	{"length", func(t testing.TB, path string, at []int64) { readertest.Flip(t, path, at[20]+3) }, 20, tfrecord.PartLengthCRC, []int{20}, []int64{1}},
	{"length CRC", func(t testing.TB, path string, at []int64) { readertest.Flip(t, path, at[0]+9) }, 0, tfrecord.PartLengthCRC, []int{0}, []int64{1}},
	{"three in a row", func(t testing.TB, path string, at []int64) {
		for i := at[4]; i < at[7]; i++ {
			readertest.Flip(t, path, i)
		}
	}, 4, tfrecord.PartLengthCRC, []int{4, 5, 6}, []int64{3}},
	{"two apart", func(t testing.TB, path string, at []int64) {
		readertest.Flip(t, path, at[3])
		readertest.Flip(t, path, at[29]+12)
	}, 3, tfrecord.PartLengthCRC, []int{3, 29}, []int64{1, 1}},
	{"the last length", func(t testing.TB, path string, at []int64) { readertest.Flip(t, path, at[29]) }, 29, tfrecord.PartLengthCRC, []int{29}, []int64{1}},
	{"cut off", func(t testing.TB, path string, at []int64) {
		readertest.Change(t, path, func(data []byte) []byte { return data[:at[29]+15] })
	}, 29, tfrecord.PartData, []int{29}, nil},
	{"cut in the middle", func(t testing.TB, path string, at []int64) {
		readertest.Change(t, path, func(data []byte) []byte { return slices.Delete(data, int(at[10]+14), int(at[13]+2)) })
	}, 10, tfrecord.PartDataCRC, []int{10, 11, 12, 13}, nil},
}

// damaged writes three files and damages the second. It returns the remaining ids.
func damaged(t testing.TB, i int) (dir string, at []int64, left []int) {
	dir = readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30, 30)
	at = readertest.Offsets(t, readertest.ShardPath(dir, 1))
	damages[i].damage(t, readertest.ShardPath(dir, 1), at)
	for _, id := range readertest.InOrder(30, 30, 30) {
		if !slices.Contains(damages[i].lost, id-1000) {
			left = append(left, id)
		}
	}
	return dir, at, left
}

func TestDamageFails(t *testing.T) {
	for i, d := range damages {
		dir, at, _ := damaged(t, i)
		for name, p := range map[string]Pipe{
			"records":    open(t, dir, Options{}).Records(),
			"interleave": open(t, dir, Options{Memory: 1}).Interleave(2, 3),
			"by record":  open(t, dir, Options{ShardBy: ShardRecords}).Records(),
			"all":        open(t, dir, Options{}).ShuffleAll(ShuffleAllOptions{}),
		} {
			var err error
			var ids []int
			for r, e := range p.All(t.Context()) {
				if err = e; err == nil {
					ids = append(ids, idOf(r))
				}
			}
			var located *tfrecord.Error
			if !errors.As(err, &located) {
				t.Errorf("%s, %s: error %v", d.name, name, err)
				continue
			}
			if located.Name != readertest.ShardPath(dir, 1) {
				t.Errorf("%s, %s: the error is of %s", d.name, name, located.Name)
			}
			if name == "all" || name == "by record" && d.part == tfrecord.PartDataCRC {
				continue // the order determines which comes first; counting only sees headers
			}
			if located.Record != int64(d.first) || located.Offset != at[d.first] || located.Part != d.part {
				t.Errorf("%s, %s: %v, want record %d at %d, %s", d.name, name, err, d.first, at[d.first], d.part)
			}
			if name == "records" && len(ids) != 30+d.first {
				t.Errorf("%s: %d records before it, want %d", d.name, len(ids), 30+d.first)
			}
		}
	}
}

func TestDamageIsSkipped(t *testing.T) {
	for i, d := range damages {
		dir, at, left := damaged(t, i)
		for _, memory := range []int64{1, 0} {
			for name, build := range map[string]func(*Set) Pipe{
				"records":    (*Set).Records,
				"interleave": func(s *Set) Pipe { return s.Interleave(2, 3) },
				"shuffle":    func(s *Set) Pipe { return s.Records().Shuffle(20) },
				"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
				"all, runs":  func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{Block: 4, Window: 3}) },
			} {
				for _, workers := range []int{1, 3} {
					var got []int
					var skipped []Skipped
					for w := range workers {
						set := open(t, dir, Options{
							Memory: memory, Worker: w, Workers: workers, SkipBad: SkipBad{Count: 2}, ShardBy: ShardRecords,
							OnSkip: func(s Skipped) { skipped = append(skipped, s) },
						})
						got = append(got, idsOf(t, build(set))...)
					}
					slices.Sort(got)
					if !slices.Equal(got, left) {
						t.Errorf("%s, %s, %d workers: got %v", d.name, name, workers, got)
					}
					slices.SortFunc(skipped, func(a, b Skipped) int { return int(a.Offset - b.Offset) })
					expectSkipped(t, d.name+", "+name, skipped, readertest.ShardPath(dir, 1), at, d.lost, d.bytes)
				}
			}
		}
	}
}

// expectSkipped checks the position of each reported skip.
func expectSkipped(t *testing.T, name string, skipped []Skipped, path string, at []int64, lost []int, bytes []int64) {
	t.Helper()
	if len(skipped) == 0 || skipped[0].Path != path || skipped[0].Offset != at[lost[0]] || skipped[0].Err == nil {
		t.Errorf("%s: skipped %v", name, skipped)
		return
	}
	if bytes == nil {
		return
	}
	if len(skipped) != len(bytes) {
		t.Errorf("%s: skipped %v", name, skipped)
		return
	}
	for i, s := range skipped {
		first := lost[i]
		if want := at[first+int(bytes[i])] - at[first]; s.Bytes != want || s.Offset != at[first] {
			t.Errorf("%s: skipped %d bytes at %d, want %d at %d", name, s.Bytes, s.Offset, want, at[first])
		}
	}
}

func TestSkipBadHasALimit(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 100, 100)
	at := readertest.Offsets(t, readertest.ShardPath(dir, 0))
	for _, i := range []int{5, 50, 70} {
		readertest.Flip(t, readertest.ShardPath(dir, 0), at[i]+12)
	}
	for _, c := range []struct {
		bad SkipBad
		ok  bool
	}{
		{SkipBad{Count: 2}, false},
		{SkipBad{Count: 3}, true},
		{SkipBad{Share: 0.01}, false},
		{SkipBad{Share: 0.015}, true},
		{SkipBad{Count: 1, Share: 0.015}, true},
	} {
		for name, build := range map[string]func(*Set) Pipe{
			"interleave": func(s *Set) Pipe { return s.Interleave(2, 1).Repeat(3) }, // per epoch
			"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Repeat(3) },
		} {
			n := 0
			var err error
			for _, e := range build(open(t, dir, Options{SkipBad: c.bad})).All(t.Context()) {
				if err = e; err == nil {
					n++
				}
			}
			switch {
			case c.ok && (err != nil || n != 3*197):
				t.Errorf("%+v, %s: %d records, error %v", c.bad, name, n, err)
			case !c.ok && (!errors.Is(err, ErrTooManyBad) || !errors.Is(err, tfrecord.ErrChecksum)):
				t.Errorf("%+v, %s: error %v, want ErrTooManyBad", c.bad, name, err)
			}
		}
	}
}

// The skip count is part of the state, and resuming gives the same at every element.
func TestResumeAcrossDamage(t *testing.T) {
	for i, d := range damages {
		dir, _, _ := damaged(t, i)
		for name, build := range map[string]func(*Set) Pipe{
			"interleave": func(s *Set) Pipe { return s.Interleave(2, 1).Repeat(2) },
			"shuffle":    func(s *Set) Pipe { return s.Records().Shuffle(8) },
			"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Repeat(2) },
		} {
			o := Options{SkipBad: SkipBad{Count: 2}, Seed: 2}
			whole := idsOf(t, build(open(t, dir, o)))
			s, err := build(open(t, dir, o)).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			for k := range whole {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
				if k%11 > 0 {
					continue
				}
				again, err := build(open(t, dir, o)).Start(t.Context(), From{State: new(s.State())})
				if err != nil {
					t.Fatal(err)
				}
				if got := rest(t, again); !slices.Equal(got, whole[k+1:]) {
					t.Fatalf("%s, %s, after %d: got %v, want %v", d.name, name, k+1, got, whole[k+1:])
				}
				again.Close()
			}
			s.Close()
		}
	}
}

func TestDamageInCompressedFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		// Damage from before the file was compressed: the stream is intact.
		var frames []byte
		var at []int
		for k := range 30 {
			at = append(at, len(frames))
			frames = tfrecord.AppendFrame(frames, readertest.Numbered(i, k))
		}
		if i == 0 {
			frames[at[7]+13] ^= 1
			frames[at[20]+3] ^= 1
		}
		writeCompressed(t, readertest.ShardPath(dir, i), frames)
	}
	set := open(t, dir, Options{})
	_, err := idsUntil(set.Records())
	if want := readertest.ShardPath(dir, 0) + ": record 7 at byte"; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("error %v", err)
	}
	var skipped []Skipped
	set = open(t, dir, Options{SkipBad: SkipBad{Count: 2}, OnSkip: func(s Skipped) { skipped = append(skipped, s) }})
	got, err := idsUntil(set.Records())
	// After the broken length the stream is searched like a plain file.
	want := slices.DeleteFunc(readertest.InOrder(30, 30), func(id int) bool { return id == 7 || id == 20 })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if len(skipped) != 2 || skipped[0].Record != 7 || skipped[0].Bytes != int64(len(readertest.Numbered(0, 7)))+tfrecord.Overhead ||
		skipped[1].Record != 20 || skipped[1].Bytes != int64(len(readertest.Numbered(0, 20)))+tfrecord.Overhead {
		t.Errorf("skipped %v", skipped)
	}
}

// writeCompressed writes a gzip file.
func writeCompressed(t testing.TB, path string, frames []byte) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(frames)
	w.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// idsUntil reads a pipe until an error.
func idsUntil(p Pipe) (ids []int, err error) {
	for r, err := range p.All(context.Background()) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, idOf(r))
	}
	return ids, nil
}

func TestFilesThatCannotBeRead(t *testing.T) {
	lengths := []int{600, 600, 600}
	for name, spoil := range map[string]func(path string) error{
		"gone":      os.Remove,
		"forbidden": func(path string) error { return os.Chmod(path, 0) },
	} {
		if name == "forbidden" && os.Geteuid() == 0 {
			continue // root may read anything
		}
		dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
		set := open(t, dir, Options{Parallelism: 1, SkipBad: SkipBad{Count: 100}})
		s, err := set.Records().Repeat(2).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err = nil; err == nil; n++ {
			if n == 1000 {
				if err := spoil(readertest.ShardPath(dir, 1)); err != nil {
					t.Fatal(err)
				}
			}
			_, err = s.Next()
		}
		var system *fs.PathError
		if !errors.As(err, &system) || system.Path != readertest.ShardPath(dir, 1) {
			t.Errorf("%s: error %v after %d", name, err, n)
		}
		if n < 1800 || n > 2500 {
			t.Errorf("%s: it ends after %d", name, n)
		}
		if _, again := s.Next(); again != err {
			t.Errorf("%s: then %v", name, again)
		}
		s.Close()
	}
}
