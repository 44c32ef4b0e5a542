package reader

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// entriesOf returns the index of a plain file.
func entriesOf(t *testing.T, path string) (entries []tfrecord.IndexEntry) {
	at := readertest.Offsets(t, path)
	for i := range at[1:] {
		entries = append(entries, tfrecord.IndexEntry{Offset: at[i], Size: at[i+1] - at[i]})
	}
	return entries
}

// cutSet writes 10 records into each of three files and cuts the second off after record 6, between
// two records. The original length is known from the manifest, from an index file, or not at all.
func cutSet(t *testing.T, known string, left int, o Options) *Set {
	return openCut(t, cutFiles(t, known, left), known, o)
}

func cutFiles(t *testing.T, known string, left int) (dir string) {
	dir = readertest.WriteShards(t, tfrecord.CompressionNone, 10, 10, 10)
	path := readertest.ShardPath(dir, 1)
	if known == "index" {
		writeIndex(t, path, entriesOf(t, path)...)
	}
	if err := os.Truncate(path, readertest.Offsets(t, path)[left]); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openCut(t *testing.T, dir, known string, o Options) *Set {
	set := open(t, dir, o)
	if known == "manifest" {
		set.Sources()[1].Info = &manifest.Shard{Records: 10, Bytes: -1}
	}
	return set
}

// TestCutFilesAreCounted: the records missing from a truncated file are counted, reported and
// limited, once per epoch, however the set is read and divided.
func TestCutFilesAreCounted(t *testing.T) {
	for _, known := range []string{"manifest", "index", "nothing"} {
		for _, left := range []int{6, 0} {
			dir := cutFiles(t, known, left)
			for name, build := range map[string]func(*Set) Pipe{
				"records":    (*Set).Records,
				"interleave": func(s *Set) Pipe { return s.Interleave(2, 3) },
				"shuffle":    func(s *Set) Pipe { return s.Interleave(3, 1).Shuffle(4) },
				"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
			} {
				for _, c := range []struct {
					workers int
					by      ShardBy
				}{{1, ShardAuto}, {2, ShardFiles}, {2, ShardRecords}, {5, ShardRecords}} {
					for _, enough := range []bool{true, false} {
						what := fmt.Sprintf("known by %s, %d left, %s, %+v", known, left, name, c)
						lost := int64(10 - left)
						if known == "nothing" {
							lost = 0
						}
						most := max(lost, 1)
						if !enough {
							most = lost - 1
						}
						if most < 1 {
							continue
						}
						n := 0
						var told []Skipped
						var err error
						for w := range c.workers {
							set := openCut(t, dir, known, Options{
								SkipBad: SkipBad{Count: most}, Worker: w, Workers: c.workers, ShardBy: c.by,
								OnSkip: func(s Skipped) { told = append(told, s) },
							})
							ids, e := idsUntil(build(set).Repeat(2))
							n += len(ids)
							err = errors.Join(err, e)
						}
						if !enough {
							if !errors.Is(err, ErrTooManyBad) || !errors.Is(err, io.ErrUnexpectedEOF) {
								t.Errorf("%s, %d allowed: %v", what, most, err)
							}
							continue
						}
						if err != nil || n != 2*(20+left) {
							t.Errorf("%s: %d records, %v", what, n, err)
						}
						for epoch := range 2 {
							var here []Skipped
							for _, s := range told {
								if s.Epoch == int32(epoch) {
									here = append(here, s)
								}
							}
							if lost == 0 || epoch > 0 && left == 0 && c.by == ShardFiles && name != "all" {
								// A part without records has one epoch.
								if len(here) > 0 {
									t.Errorf("%s: %v", what, here)
								}
								continue
							}
							if len(here) != 1 || here[0].Records != lost || here[0].Record != int64(left) || filepath.Base(here[0].Path) != "n-00001.tfrecord" {
								t.Errorf("%s, epoch %d: told of %+v", what, epoch, here)
							}
						}
					}
				}
			}
		}
	}
}

// Without SkipBad the index of a truncated file works like a manifest; that of another file is
// ignored.
func TestIndexTellsOfACut(t *testing.T) {
	if _, err := idsUntil(cutSet(t, "index", 6, Options{}).Records()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 10)
	writeIndex(t, readertest.ShardPath(dir, 0), entriesOf(t, readertest.ShardPath(dir, 0))...)
	readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, readertest.Numbered(3, 3), readertest.Numbered(4, 4))
	if ids, err := idsUntil(open(t, dir, Options{}).Records()); err != nil || len(ids) != 2 {
		t.Errorf("%v, %v", ids, err)
	}
}

// A stretch of broken framing counts as all the records it held, if the manifest gives their
// number, and it is reported once with a State on either side of the report.
func TestResumeAcrossACut(t *testing.T) {
	build := func(told *int64) Pipe {
		set := cutSet(t, "manifest", 6, Options{SkipBad: SkipBad{Count: 4}, OnSkip: func(s Skipped) { *told += s.Records }})
		return set.Interleave(2, 2).Repeat(2)
	}
	var all, now int64
	whole := idsOf(t, build(&all))
	s, err := build(&now).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for k := range whole {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		state := through(t, s.State())
		var later int64
		r, err := build(&later).Start(t.Context(), From{State: &state})
		if err != nil {
			t.Fatal(err)
		}
		if got := rest(t, r); !slices.Equal(got, whole[k+1:]) {
			t.Fatalf("after %d: got %v", k+1, got)
		}
		r.Close()
		// What was reported of the current block is reported again.
		if later+now < all || later > all {
			t.Errorf("after %d: %d told until there, %d after it, %d in all", k+1, now, later, all)
		}
	}
	if all != 8 {
		t.Errorf("%d told in two epochs", all)
	}
}

func TestStretchesCountTheirRecords(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		dir := t.TempDir()
		var frames []byte
		var at []int
		for k := range 30 {
			at = append(at, len(frames))
			frames = tfrecord.AppendFrame(frames, readertest.Numbered(0, k))
		}
		for i := at[4]; i < at[7]; i++ { // three records
			frames[i] ^= 0x20
		}
		if c == tfrecord.CompressionNone {
			if err := os.WriteFile(readertest.ShardPath(dir, 0), frames, 0o644); err != nil {
				t.Fatal(err)
			}
		} else {
			writeCompressed(t, readertest.ShardPath(dir, 0), frames)
		}
		for most := int64(2); most <= 3; most++ {
			set := open(t, dir, Options{SkipBad: SkipBad{Count: most}})
			set.Sources()[0].Info = &manifest.Shard{Records: 30, Bytes: -1}
			ids, err := idsUntil(set.Records())
			if most == 3 && (err != nil || len(ids) != 27) || most == 2 && !errors.Is(err, ErrTooManyBad) {
				t.Errorf("%v, %d allowed: %d records, %v", c, most, len(ids), err)
			}
		}
	}
}

// TestReplacedFiles replaces a file with another valid one, at any time after the set was opened.
func TestReplacedFiles(t *testing.T) {
	replace := func(t *testing.T, dir string, keep bool) {
		path := readertest.ShardPath(dir, 1)
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := path + ".other"
		if !keep { // another one of the same size
			at := readertest.Offsets(t, path)
			old = slices.Concat(old[at[1]:], old[:at[1]])
		}
		if err := os.WriteFile(other, old, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(other, time.Time{}, st.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
	}
	for name, build := range map[string]func(*Set) Pipe{
		"records": func(s *Set) Pipe { return s.Records().Repeat(2) },
		"all":     func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Repeat(2) },
	} {
		for _, after := range []int{0, 25} { // before it is read, and in the first epoch
			for what, c := range map[string]struct {
				change func(t *testing.T, dir string)
				found  bool
			}{
				"nothing":       {func(*testing.T, string) {}, false},
				"another file":  {func(t *testing.T, dir string) { replace(t, dir, false) }, true},
				"an equal file": {func(t *testing.T, dir string) { replace(t, dir, true) }, false},
				"a longer one": {func(t *testing.T, dir string) {
					readertest.Change(t, readertest.ShardPath(dir, 1), func(p []byte) []byte { return tfrecord.AppendFrame(p, readertest.Numbered(7, 7)) })
				}, true},
				"a newer one": {func(t *testing.T, dir string) {
					if err := os.Chtimes(readertest.ShardPath(dir, 1), time.Time{}, time.Unix(1e9, 0)); err != nil {
						t.Fatal(err)
					}
				}, true},
			} {
				dir := readertest.WriteShards(t, tfrecord.CompressionNone, 10, 10, 10)
				set := open(t, dir, Options{SkipBad: SkipBad{Count: 1000}})
				if _, err := set.Fingerprint(t.Context()); err != nil {
					t.Fatal(err)
				}
				if after == 0 {
					c.change(t, dir)
				}
				s, err := build(set).Start(t.Context(), From{})
				n := 0
				for ; err == nil; n++ {
					if n == after && after > 0 {
						c.change(t, dir)
					}
					_, err = s.Next()
				}
				if s != nil {
					s.Close()
				}
				if c.found != errors.Is(err, ErrChanged) || !c.found && (err != io.EOF || n != 61) {
					t.Errorf("%s, %s after %d: %d records, %v", name, what, after, n, err)
				}
			}
		}
	}
}
