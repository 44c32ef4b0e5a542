package shard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// eachFault has the first operation on files of a run fail, then the second, and
// so on; of many those at the beginning and the end, and some between. judge is
// told what the run said, that path and operation are in; fail is "" for the run
// that did not fail.
func eachFault(t *testing.T, prepare func() string, run func(dir string) error, judge func(dir, fail string, err error)) {
	t.Helper()
	defer func() { inject.Hook = nil }()
	dir := prepare()
	var total atomic.Int64
	inject.Hook = func(string) error { total.Add(1); return nil }
	err := run(dir)
	inject.Hook = nil
	judge(dir, "", err)
	for at := range total.Load() {
		if total.Load()-at > 14 && at > 6 && at%4 > 0 {
			continue
		}
		dir := prepare()
		var n atomic.Int64
		failed := make(chan string, 1)
		inject.Hook = func(operation string) error {
			if n.Add(1) != at+1 {
				return nil
			}
			failed <- operation
			return syscall.EIO
		}
		err := run(dir)
		inject.Hook = nil
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

// namesIn are all files and directories below a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

func TestRepairOfAFileMayFailAnywhere(t *testing.T) {
	data, frames := framed(10, 300, 77, 5000, 12)
	hurt := overwrite("", data, frames, frames[1].offset, frames[1].offset+1, flipped).data
	for name, content := range map[string][]byte{"plain": hurt, "gzip": compressed(t, tfrecord.Gzip, data)[:4000]} {
		t.Run(name, func(t *testing.T) {
			prepare := func() string {
				dir := t.TempDir()
				putFile(t, filepath.Join(dir, "a.tfrecord"), content)
				if name == "plain" {
					putIndex(t, filepath.Join(dir, "a.tfrecord"), frames)
				}
				return dir
			}
			before := namesIn(t, prepare())
			run := func(dir string) error {
				_, err := Repair(context.Background(), filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord"), RepairOptions{})
				return err
			}
			whole := prepare()
			check(t, run(whole))
			want := filesOf(t, whole)
			eachFault(t, prepare, run, func(dir, fail string, err error) {
				if fail == "" {
					check(t, err)
				} else {
					if left := namesIn(t, dir); !slices.Equal(left, before) {
						t.Errorf("%s failed, and left %v", fail, left)
					}
					check(t, run(dir))
				}
				if got := filesOf(t, dir); !sameNames(got, want) || got["b.tfrecord"] != want["b.tfrecord"] {
					t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
				}
			})
		})
	}
}

func sameNames(a, b map[string]string) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

// damagedSetAt makes a set with damage in its second shard.
func damagedSetAt(t *testing.T, dir string) {
	t.Helper()
	m := labelled(t, dir, tfrecord.None)
	flipIn(t, filepath.Join(dir, m.Splits[0].Shards[1].File), 40)
}

func TestRepairOfASetMayFailAnywhere(t *testing.T) {
	made := t.TempDir()
	damagedSetAt(t, filepath.Join(made, "in"))
	prepare := func() string { return copyOf(t, made) }
	run := func(dir string) error {
		_, err := Repair(context.Background(), filepath.Join(dir, "in"), filepath.Join(dir, "out"), RepairOptions{})
		return err
	}
	whole := prepare()
	before := filesOf(t, whole)
	check(t, run(whole))
	want := filesOf(t, filepath.Join(whole, "out"))
	eachFault(t, prepare, run, func(dir, fail string, err error) {
		if fail == "" {
			check(t, err)
		} else {
			if got := filesOf(t, dir); !sameFiles(got, before) {
				t.Errorf("%s failed, and left %v", fail, slices.Sorted(maps.Keys(got)))
			}
			if _, err := os.Lstat(filepath.Join(dir, "out")); err == nil {
				t.Errorf("%s failed, and left the output folder with %v", fail, namesIn(t, filepath.Join(dir, "out")))
			}
			check(t, run(dir))
		}
		if got := filesOf(t, filepath.Join(dir, "out")); !sameFiles(got, want) {
			t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
		}
		verified(t, filepath.Join(dir, "out"))
	})
}

func TestRepairInPlaceMayFailAnywhere(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	damagedSetAt(t, made)
	for _, lone := range []bool{false, true} {
		prepare := func() string {
			dir := copyOf(t, made)
			if lone {
				check(t, os.Remove(filepath.Join(dir, ManifestFile)))
			}
			return dir
		}
		run := func(dir string) error {
			_, err := Repair(context.Background(), dir, "", RepairOptions{InPlace: true})
			return err
		}
		whole := prepare()
		before := filesOf(t, whole)
		report, err := Repair(context.Background(), whole, "", RepairOptions{InPlace: true})
		check(t, err)
		want := filesOf(t, whole)
		eachFault(t, prepare, run, func(dir, fail string, err error) {
			got := filesOf(t, dir)
			kept := slices.Sorted(maps.Keys(got))
			for name, data := range before {
				if strings.Contains(name, ".tfrecord-") && !strings.HasSuffix(name, ".idx") &&
					!slices.ContainsFunc(kept, func(k string) bool { return got[k] == data }) {
					t.Errorf("%s failed, and nothing is left of the old %s", fail, name)
				}
			}
			for _, name := range kept {
				shard := strings.Contains(name, ".tfrecord-") && !strings.Contains(name, "/")
				if shard && got[name] != before[name] && got[name] != want[name] {
					t.Errorf("%s failed, and %s is neither the old nor the new one", fail, name)
				}
				if strings.HasPrefix(filepath.Base(name), ".tfrec-work") {
					t.Errorf("%s failed, and left %s", fail, name)
				}
			}
			if fail == "" {
				check(t, err)
				return
			}
			begun := !sameFiles(got, before)
			again, err := Repair(context.Background(), dir, "", RepairOptions{InPlace: true})
			check(t, err)
			for name, data := range filesOf(t, dir) {
				// A quarantine names the directory.
				if is, ok := want[name]; !ok || is != data && !strings.HasSuffix(name, QuarantineSuffix) {
					t.Errorf("%s failed: repaired again, there is another %s", fail, name)
				}
			}
			if got := filesOf(t, dir); len(got) != len(want) {
				t.Errorf("%s failed: repaired again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
			}
			if lone && begun {
				noted := again.RecordsLost == report.RecordsLost || slices.ContainsFunc(again.Files, func(f RepairedFile) bool { return f.Note != "" })
				if !noted {
					t.Errorf("%s failed: repaired again, nothing says that anything was lost: %+v", fail, again)
				}
				return
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

// inDir is a report without the directory that it is of.
func inDir(r *RepairReport, dir string) string {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(data), dir, "DIR")
}

func TestAdoptMayFailAnywhere(t *testing.T) {
	for _, rename := range []bool{false, true} {
		prepare := func() string {
			dir := filepath.Join(t.TempDir(), "birds")
			check(t, os.MkdirAll(dir, 0o755))
			putFile(t, filepath.Join(dir, "a.tfrecord"), fileOf(photo(0, "ant"), photo(1, "bee")))
			putFile(t, filepath.Join(dir, "b.tfrecord"), fileOf(photo(1, "bee")))
			return dir
		}
		run := func(dir string) error {
			_, err := Adopt(context.Background(), dir, AdoptOptions{Rename: rename, Workers: 1})
			return err
		}
		whole := prepare()
		before := namesIn(t, whole)
		check(t, run(whole))
		want := filesOf(t, whole)
		eachFault(t, prepare, run, func(dir, fail string, err error) {
			if fail == "" {
				check(t, err)
			} else {
				if left := namesIn(t, dir); !rename && !slices.Equal(left, before) {
					t.Errorf("%s failed, and left %v", fail, left)
				}
				check(t, run(dir))
			}
			if got := filesOf(t, dir); !sameFiles(got, want) {
				t.Errorf("%s failed: adopted again, it holds %v", fail, slices.Sorted(maps.Keys(got)))
			}
			verified(t, dir)
		})
	}
}

func TestIndexMayFailAnywhere(t *testing.T) {
	prepare := func() string {
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "a.tfrecord"), fileOf(photo(0, "ant"), photo(1, "bee")))
		putFile(t, filepath.Join(dir, "b.tfrecord"), fileOf(photo(1, "bee")))
		return dir
	}
	run := func(dir string) error {
		_, err := Index(context.Background(), []string{dir}, IndexOptions{Workers: 1})
		return err
	}
	whole := prepare()
	check(t, run(whole))
	want := filesOf(t, whole)
	eachFault(t, prepare, run, func(dir, fail string, err error) {
		for name, data := range filesOf(t, dir) {
			if data != want[name] {
				t.Errorf("%s failed, and left %s, which is not that of an index in place", fail, name)
			}
		}
		if fail != "" {
			check(t, run(dir))
		} else {
			check(t, err)
		}
		if !sameFiles(filesOf(t, dir), want) {
			t.Errorf("%s failed: other indexes the next time", fail)
		}
	})
}

func TestDiffMayFailAnywhere(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	a := exampleFile(t, filepath.Join(t.TempDir(), "a.tfrecord"), 12_000, numbers)
	b := exampleFile(t, filepath.Join(t.TempDir(), "b.tfrecord"), 12_001, numbers)
	for _, unordered := range []bool{false, true} {
		run := func(string) error {
			report, err := Diff(context.Background(), a, b, DiffOptions{Unordered: unordered, Memory: leastMemory, Workers: 1})
			if err == nil && (report.OnlyB != 1 || report.Differing+report.OnlyA > 0) {
				t.Errorf("%+v", report)
			}
			return err
		}
		eachFault(t, func() string { return temp }, run, func(_, fail string, err error) {
			if fail == "" {
				check(t, err)
			}
			if left := namesIn(t, temp); len(left) > 0 {
				t.Errorf("%s failed, and left %v", fail, left)
			}
		})
	}
}
