package repair

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/diff"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestRepairOfAFileMayFailAnywhere(t *testing.T) {
	t.Parallel()
	data, frames := settest.Framed(10, 300, 77, 5000, 12)
	hurt := settest.Overwrite("", data, frames, frames[1].Offset, frames[1].Offset+1, settest.Flipped).Data
	for name, content := range map[string][]byte{"plain": hurt, "gzip": settest.Compressed(t, tfrecord.CompressionGzip, data)[:4000]} {
		t.Run(name, func(t *testing.T) {
			prepare := func() string {
				dir := t.TempDir()
				settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), content)
				if name == "plain" {
					putIndex(t, filepath.Join(dir, "a.tfrecord"), frames)
				}
				return dir
			}
			before := settest.NamesIn(t, prepare())
			run := func(ctx context.Context, dir string) error {
				_, err := Copy(ctx, filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord"), Options{})
				return err
			}
			whole := prepare()
			settest.Check(t, run(t.Context(), whole))
			want := settest.FilesOf(t, whole)
			settest.EachFault(t, prepare, run, func(dir, fail string, err error) {
				if fail == "" {
					settest.Check(t, err)
				} else {
					if left := settest.NamesIn(t, dir); !slices.Equal(left, before) {
						t.Errorf("%s failed, and left %v", fail, left)
					}
					settest.Check(t, run(t.Context(), dir))
				}
				if got := settest.FilesOf(t, dir); !sameNames(got, want) || got["b.tfrecord"] != want["b.tfrecord"] {
					t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
				}
			})
		})
	}
}

func sameNames(a, b map[string]string) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

// damagedSetAt writes a set with damage in its second shard.
func damagedSetAt(t *testing.T, dir string) {
	t.Helper()
	m := settest.Labelled(t, dir, tfrecord.CompressionNone)
	settest.FlipIn(t, filepath.Join(dir, m.Splits[0].Shards[1].File), 40)
}

func TestRepairOfASetMayFailAnywhere(t *testing.T) {
	t.Parallel()
	made := t.TempDir()
	damagedSetAt(t, filepath.Join(made, "in"))
	prepare := func() string { return settest.CopyOf(t, made) }
	run := func(ctx context.Context, dir string) error {
		_, err := Copy(ctx, filepath.Join(dir, "in"), filepath.Join(dir, "out"), Options{})
		return err
	}
	whole := prepare()
	before := settest.FilesOf(t, whole)
	settest.Check(t, run(t.Context(), whole))
	want := settest.FilesOf(t, filepath.Join(whole, "out"))
	settest.EachFault(t, prepare, run, func(dir, fail string, err error) {
		if fail == "" {
			settest.Check(t, err)
		} else {
			if got := settest.FilesOf(t, dir); !settest.SameFiles(got, before) {
				t.Errorf("%s failed, and left %v", fail, slices.Sorted(maps.Keys(got)))
			}
			if _, err := os.Lstat(filepath.Join(dir, "out")); err == nil {
				t.Errorf("%s failed, and left the output folder with %v", fail, settest.NamesIn(t, filepath.Join(dir, "out")))
			}
			settest.Check(t, run(t.Context(), dir))
		}
		if got := settest.FilesOf(t, filepath.Join(dir, "out")); !settest.SameFiles(got, want) {
			t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
		}
		verified(t, filepath.Join(dir, "out"))
	})
}

func TestRepairInPlaceMayFailAnywhere(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made")
	damagedSetAt(t, made)
	for _, lone := range []bool{false, true} {
		prepare := func() string {
			dir := settest.CopyOf(t, made)
			if lone {
				settest.Check(t, os.Remove(filepath.Join(dir, manifest.File)))
			}
			return dir
		}
		run := func(ctx context.Context, dir string) error {
			_, err := InPlace(ctx, dir, Options{})
			return err
		}
		whole := prepare()
		before := settest.FilesOf(t, whole)
		report, err := InPlace(context.Background(), whole, Options{})
		settest.Check(t, err)
		want := settest.FilesOf(t, whole)
		settest.EachFault(t, prepare, run, func(dir, fail string, err error) {
			got := settest.FilesOf(t, dir)
			kept := slices.Sorted(maps.Keys(got))
			for name, data := range before {
				if strings.Contains(name, ".tfrecord-") && !strings.HasSuffix(name, ".idx") &&
					!slices.ContainsFunc(kept, func(k string) bool { return got[k] == data }) {
					t.Errorf("%s failed, and nothing is left of the old %s", fail, name)
				}
			}
			for _, name := range kept {
				file := strings.Contains(name, ".tfrecord-") && !strings.Contains(name, "/")
				if file && got[name] != before[name] && got[name] != want[name] {
					t.Errorf("%s failed, and %s is neither the old nor the new one", fail, name)
				}
				if strings.HasPrefix(filepath.Base(name), ".tfrec-work") {
					t.Errorf("%s failed, and left %s", fail, name)
				}
			}
			if fail == "" {
				settest.Check(t, err)
				return
			}
			again, err := InPlace(t.Context(), dir, Options{})
			settest.Check(t, err)
			for name, data := range settest.FilesOf(t, dir) {
				// A quarantine includes the path of the directory.
				if is, ok := want[name]; !ok || is != data && !strings.HasSuffix(name, setdir.QuarantineSuffix) {
					t.Errorf("%s failed: repaired again, there is another %s", fail, name)
				}
			}
			if got := settest.FilesOf(t, dir); len(got) != len(want) {
				t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
			}
			if diff := cmp.Diff(inDir(report, whole), inDir(again, dir)); diff != "" {
				t.Errorf("%s failed: repaired again, the report is another:\n%s", fail, diff)
			}
			if !lone {
				verified(t, dir)
			}
		})
	}
}

// inDir returns a report as JSON, without the path of its directory.
func inDir(r *Report, dir string) string {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(data), dir, "DIR")
}

func TestAdoptMayFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, rename := range []bool{false, true} {
		prepare := func() string {
			dir := filepath.Join(t.TempDir(), "birds")
			settest.Check(t, os.MkdirAll(dir, 0o755))
			settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), settest.FileOf(settest.Photo(0, "ant"), settest.Photo(1, "bee")))
			settest.PutFile(t, filepath.Join(dir, "b.tfrecord"), settest.FileOf(settest.Photo(1, "bee")))
			return dir
		}
		run := func(ctx context.Context, dir string) error {
			_, err := Adopt(ctx, dir, AdoptOptions{Rename: rename, Workers: 1})
			return err
		}
		whole := prepare()
		before := settest.NamesIn(t, whole)
		settest.Check(t, run(t.Context(), whole))
		want := settest.FilesOf(t, whole)
		settest.EachFault(t, prepare, run, func(dir, fail string, err error) {
			if fail == "" {
				settest.Check(t, err)
			} else {
				if left := settest.NamesIn(t, dir); !rename && !slices.Equal(left, before) {
					t.Errorf("%s failed, and left %v", fail, left)
				}
				settest.Check(t, run(t.Context(), dir))
			}
			if got := settest.FilesOf(t, dir); !settest.SameFiles(got, want) {
				t.Errorf("%s failed: adopted again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
			}
			verified(t, dir)
		})
	}
}

func TestIndexMayFailAnywhere(t *testing.T) {
	t.Parallel()
	prepare := func() string {
		dir := t.TempDir()
		settest.PutFile(t, filepath.Join(dir, "a.tfrecord"), settest.FileOf(settest.Photo(0, "ant"), settest.Photo(1, "bee")))
		settest.PutFile(t, filepath.Join(dir, "b.tfrecord"), settest.FileOf(settest.Photo(1, "bee")))
		return dir
	}
	run := func(ctx context.Context, dir string) error {
		_, err := Index(ctx, []string{dir}, IndexOptions{Workers: 1})
		return err
	}
	whole := prepare()
	settest.Check(t, run(t.Context(), whole))
	want := settest.FilesOf(t, whole)
	settest.EachFault(t, prepare, run, func(dir, fail string, err error) {
		for name, data := range settest.FilesOf(t, dir) {
			if data != want[name] {
				t.Errorf("%s failed, and left %s, which is not that of an index in place", fail, name)
			}
		}
		if fail != "" {
			settest.Check(t, run(t.Context(), dir))
		} else {
			settest.Check(t, err)
		}
		if !settest.SameFiles(settest.FilesOf(t, dir), want) {
			t.Errorf("%s failed: other indexes the next time", fail)
		}
	})
}

func TestDiffMayFailAnywhere(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	a := settest.ExampleFile(t, filepath.Join(t.TempDir(), "a.tfrecord"), 12_000, settest.Numbers)
	b := settest.ExampleFile(t, filepath.Join(t.TempDir(), "b.tfrecord"), 12_001, settest.Numbers)
	for _, unordered := range []bool{false, true} {
		run := func(ctx context.Context, _ string) error {
			report, err := diff.Compare(ctx, a, b, diff.Options{Unordered: unordered, Memory: 1_000_000, Workers: 1})
			if err == nil && (report.OnlyB != 1 || report.Differing+report.OnlyA > 0) {
				t.Errorf("%+v", report)
			}
			return err
		}
		settest.EachFault(t, func() string { return temp }, run, func(_, fail string, err error) {
			if fail == "" {
				settest.Check(t, err)
			}
			if left := settest.NamesIn(t, temp); len(left) > 0 {
				t.Errorf("%s failed, and left %v", fail, left)
			}
		})
	}
}
