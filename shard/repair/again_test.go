package repair

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestRepairAgain repairs twice to the same output, as after a repair that was killed at its end:
// the second run reports what the first did and changes nothing. An output that differs in any way
// is refused.
func TestRepairAgain(t *testing.T) {
	for _, kind := range []string{"set", "directory", "file", "gzip"} {
		base := t.TempDir()
		in, out := filepath.Join(base, "in"), filepath.Join(base, "out")
		c := tfrecord.CompressionNone
		if kind == "gzip" {
			c = tfrecord.CompressionGzip
		}
		m := settest.Labelled(t, in, c)
		settest.FlipIn(t, filepath.Join(in, m.Splits[0].Shards[1].File), 40)
		if kind == "directory" {
			settest.Check(t, os.Remove(filepath.Join(in, manifest.File)))
		}
		if kind == "file" {
			in, out = filepath.Join(in, m.Splits[0].Shards[1].File), filepath.Join(base, "out.tfrecord")
		}
		repair := func() (*Report, error) { return Copy(context.Background(), in, out, Options{}) }
		first, err := repair()
		settest.Check(t, err)
		before, times := settest.FilesOf(t, base), settest.TimesOf(t, base)
		second, err := repair()
		settest.Check(t, err)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s: another report:\n%s", kind, diff)
		}
		if !settest.SameFiles(before, settest.FilesOf(t, base)) || !cmp.Equal(times, settest.TimesOf(t, base)) {
			t.Errorf("%s: repaired again, it holds %v", kind, slices.Sorted(maps.Keys(settest.FilesOf(t, base))))
		}
		for name := range before {
			path := filepath.Join(base, name)
			made := name[:3] == "out"
			if !made {
				continue
			}
			// One more byte, and one file less.
			settest.Check(t, os.WriteFile(path, append([]byte(before[name]), 'x'), 0o644))
			if _, err := repair(); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %s has a byte more: %v", kind, name, err)
			}
			settest.Check(t, os.WriteFile(path, []byte(before[name]), 0o644))
		}
		if kind != "file" {
			settest.PutFile(t, filepath.Join(out, "precious"), nil)
			if _, err := repair(); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: a file of others is in OUT: %v", kind, err)
			}
			settest.Check(t, os.Remove(filepath.Join(out, "precious")))
		}
		if after := settest.FilesOf(t, base); !settest.SameFiles(before, after) {
			t.Errorf("%s: refused, and it changed %v", kind, slices.Sorted(maps.Keys(after)))
		}
	}
}

// TestRepairOfWrongIndexes repairs intact files with random wrong indexes: in place the indexes are
// fixed, elsewhere the output has correct ones, and no record is reported lost.
func TestRepairOfWrongIndexes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for round := range 60 {
		in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
		m := settest.Labelled(t, in, tfrecord.CompressionNone)
		shards := m.Splits[0].Shards
		path := filepath.Join(in, shards[rnd.IntN(3)].File)
		right, err := os.ReadFile(manifest.IndexPath(path))
		settest.Check(t, err)
		lines := bytes.SplitAfter(right, []byte("\n"))
		lines = lines[:len(lines)-1]
		var wrong []byte
		switch rnd.IntN(6) {
		case 0: // lines that continue the last one
			info := slices.IndexFunc(shards, func(i manifest.Shard) bool { return i.File == filepath.Base(path) })
			wrong = tfrecord.AppendIndex(bytes.Clone(right), tfrecord.IndexEntry{Offset: shards[info].Bytes, Size: 16 + rnd.Int64N(999)})
		case 1:
			wrong = bytes.Join(lines[:rnd.IntN(len(lines))], nil)
		case 2:
			rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			wrong = bytes.Join(lines, nil)
		case 3:
			wrong = bytes.Clone(right)
			wrong[rnd.IntN(len(wrong))] ^= byte(1 + rnd.IntN(255))
		case 4:
			other, err := os.ReadFile(manifest.IndexPath(filepath.Join(in, shards[rnd.IntN(3)].File)))
			settest.Check(t, err)
			wrong = append(other, right...)
		case 5:
			settest.Check(t, os.Remove(manifest.IndexPath(path)))
		}
		if bytes.Equal(wrong, right) {
			continue
		}
		want := IndexMissing
		if wrong != nil {
			settest.Check(t, os.WriteFile(manifest.IndexPath(path), wrong, 0o644))
			want = IndexWrong
		} else if _, err := os.Stat(manifest.IndexPath(path)); err == nil {
			settest.Check(t, os.WriteFile(manifest.IndexPath(path), nil, 0o644))
			want = IndexWrong
		}
		for _, to := range []string{out, ""} {
			report, err := run(context.Background(), in, to, Options{})
			settest.Check(t, err)
			if report.Lost() || report.RecordsLost != 0 || report.Status != "repaired" || report.RecordsSaved != 36 {
				t.Fatalf("round %d, %q: %+v", round, wrong, report)
			}
			for _, f := range report.Files {
				if mine := f.Path == path; mine != (f.Index == want) || mine == f.OK || f.Note != "" || f.Original != "" {
					t.Fatalf("round %d, %q: %+v", round, wrong, f)
				}
			}
		}
		verified(t, in)
		verified(t, out)
	}
}

// TestRepairKnowsAnIndexThatItMovedAway stops a repair of a single file after its index was moved
// away and before the file is replaced: the next run still uses the index.
func TestRepairKnowsAnIndexThatItMovedAway(t *testing.T) {
	data, frames := nested()
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	hurt := settest.Overwrite("", data, frames, frames[1].Offset+1, frames[1].Offset+2, settest.Flipped).Data
	settest.PutFile(t, in, hurt)
	putIndex(t, in, frames)
	index := settest.FilesOf(t, dir)["index/a.tfrecord.idx"]
	// The state after a run was killed.
	settest.PutFile(t, filepath.Join(dir, damagedDir, "a.tfrecord"), hurt)
	settest.PutFile(t, manifest.IndexPath(filepath.Join(dir, damagedDir, "a.tfrecord")), []byte(index))
	settest.Check(t, os.Remove(manifest.IndexPath(in)))
	report, err := InPlace(context.Background(), in, Options{})
	settest.Check(t, err)
	if report.RecordsSaved != 3 || report.RecordsLost != 1 || !report.RecordsLostExact {
		t.Errorf("%+v", report)
	}
	got := slices.Sorted(maps.Keys(settest.FilesOf(t, dir)))
	want := []string{"a.tfrecord", "damaged/a.tfrecord", "damaged/a.tfrecord.quarantine", "damaged/index/a.tfrecord.idx", "index/a.tfrecord.idx"}
	if !slices.Equal(got, want) {
		t.Errorf("it holds %v, want %v", got, want)
	}
}
