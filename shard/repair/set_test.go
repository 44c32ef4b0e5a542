package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// verified requires a set without faults.
func verified(t testing.TB, path string) {
	t.Helper()
	report, err := verify.Files(context.Background(), []string{path}, verify.Options{})
	if err != nil || !report.OK {
		t.Errorf("verify %s: %v %+v", path, err, report.Faults)
	}
}

func TestRepairOfASet(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
			in := filepath.Join(t.TempDir(), "in")
			out := filepath.Join(t.TempDir(), "out")
			m := settest.Labelled(t, in, c)
			shards := m.Splits[0].Shards
			first, err := os.ReadFile(filepath.Join(in, shards[0].File))
			settest.Check(t, err)
			// The payload of the second record of the second shard; the whole third shard.
			second := filepath.Join(in, shards[1].File)
			size := len(tfrecord.AppendFrame(nil, settest.RecordsOf(t, second)[0]))
			lost := int64(1 + 12)
			if c == tfrecord.CompressionNone {
				settest.FlipIn(t, second, size+20)
			} else {
				data, err := os.ReadFile(second)
				settest.Check(t, err)
				settest.Check(t, os.WriteFile(second, data[:len(data)/2], 0o644))
				lost = 0 // unknown yet
			}
			settest.Check(t, os.Remove(filepath.Join(in, shards[2].File)))
			to, o := out, Options{}
			if inPlace {
				to, out = "", in
			}
			before := settest.FilesOf(t, in)
			var part *shard.IncompleteError
			if _, err := run(t.Context(), in, to, o); !errors.As(err, &part) || part.Lost != 1 || !settest.SameFiles(before, settest.FilesOf(t, in)) {
				t.Fatalf("a set without its third shard: %v", err)
			}
			o.Partial = true
			report, err := run(context.Background(), in, to, o)
			settest.Check(t, err)
			verified(t, out)
			if lost == 0 {
				lost = 36 - report.RecordsSaved
			}
			if report.RecordsSaved+report.RecordsLost != 36 || report.RecordsLost != lost || !report.RecordsLostExact || len(report.Files) != 3 {
				t.Errorf("in place %v, %v: %+v", inPlace, c, report)
			}
			if got, _ := os.ReadFile(filepath.Join(out, shards[0].File)); !bytes.Equal(got, first) {
				t.Error("the shard without damage is another one")
			}
			now, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
			settest.Check(t, err)
			if c == tfrecord.CompressionNone {
				if want := map[string]int64{"ant": 4, "bee": 3, "cat": 4}; !cmp.Equal(now.Splits[0].Shards[1].Labels, want) {
					t.Errorf("labels %v", now.Splits[0].Shards[1].Labels)
				}
				var info struct {
					Splits []struct{ ShardLengths []string }
				}
				data, err := os.ReadFile(filepath.Join(out, manifest.TFDSInfoFile))
				settest.Check(t, err)
				settest.Check(t, json.Unmarshal(data, &info))
				if !slices.Equal(info.Splits[0].ShardLengths, []string{"12", "11", "0"}) {
					t.Errorf("TFDS's lengths: %v", info.Splits[0].ShardLengths)
				}
			}
			if now.Splits[0].Shards[0].Fingerprint != shards[0].Fingerprint || now.Splits[0].Shards[1].Fingerprint == shards[1].Fingerprint {
				t.Error("the fingerprints do not tell which shards are others")
			}
			// Again: nothing is wrong any more.
			again, err := Copy(context.Background(), out, filepath.Join(t.TempDir(), "again"), Options{})
			settest.Check(t, err)
			if again.Status != "clean" {
				t.Errorf("again: %+v", again)
			}
		}
	}
}

func TestRepairOfADirectoryWithoutAManifest(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "deep", "out")
	data, frames := settest.Framed(10, 20, 30)
	settest.PutFile(t, filepath.Join(in, "a.tfrecord"), data)
	settest.PutFile(t, filepath.Join(in, "b.tfrecord"), settest.Overwrite("", data, frames, 30, 31, settest.Flipped).Data)
	settest.PutFile(t, filepath.Join(in, "c.tfrecord"), settest.Compressed(t, tfrecord.CompressionGzip, data))
	settest.PutFile(t, filepath.Join(in, "notes.txt"), []byte("not ours"))
	report, err := Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	if report.RecordsSaved != 8 || report.Quarantine != out+setdir.QuarantineSuffix {
		t.Errorf("%+v", report)
	}
	for _, name := range []string{"a.tfrecord", "c.tfrecord"} {
		was, _ := os.ReadFile(filepath.Join(in, name))
		is, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !bytes.Equal(was, is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"notes.txt", manifest.File, manifest.IndexDir} {
		if _, err := os.Lstat(filepath.Join(out, name)); err == nil {
			t.Errorf("%s is in the output", name)
		}
	}
}

func TestRepairRefusesDirectories(t *testing.T) {
	base := t.TempDir()
	in := filepath.Join(base, "in")
	data, _ := settest.Framed(10, 20)
	settest.PutFile(t, filepath.Join(in, "a.tfrecord"), data)
	settest.PutFile(t, filepath.Join(base, "full", "precious"), nil)
	settest.Check(t, os.Symlink(in, filepath.Join(base, "link")))
	for name, out := range map[string]string{
		"the input": in, "a link to it": filepath.Join(base, "link"), "inside": filepath.Join(in, "out"),
		"inside by a link": filepath.Join(base, "link", "x"), "around": base, "not empty": filepath.Join(base, "full"),
	} {
		before, err := os.ReadDir(base)
		settest.Check(t, err)
		if _, err := Copy(context.Background(), in, out, Options{}); err == nil {
			t.Errorf("%s: not refused", name)
		}
		after, err := os.ReadDir(base)
		settest.Check(t, err)
		inside, err := os.ReadDir(in)
		settest.Check(t, err)
		if len(before) != len(after) || len(inside) != 1 {
			t.Errorf("%s: left behind: %v, %v", name, after, inside)
		}
	}
}

func TestRepairSweepsWhatAKilledOneLeft(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	m := settest.Labelled(t, in, tfrecord.CompressionNone)
	settest.FlipIn(t, filepath.Join(in, m.Splits[0].Shards[1].File), 100)
	// The state after a run was killed before it wrote the manifest.
	dir, err := setdir.Open(context.Background(), out, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, dir.State().PutRun(&setdir.Run{Options: map[string]json.RawMessage{"verb": json.RawMessage(`"repair"`)}, Files: m.Files()}))
	settest.PutFile(t, filepath.Join(out, m.Splits[0].Shards[0].File), []byte("half"))
	settest.Check(t, dir.Close())
	settest.PutFile(t, out+setdir.QuarantineSuffix, []byte("of the killed run"))
	_, err = Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	verified(t, out)
}
