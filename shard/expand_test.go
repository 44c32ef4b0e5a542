package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/manifest"
)

// others is a directory of files made by other writers.
const others = "../testdata/tfrecords"

func TestExpandOtherHabits(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"TFDS first", []string{"b.tfrecord-00001-of-00002", "b.tfrecord-00000-of-00002", "x.record", "notes.txt"},
			[]string{"b.tfrecord-00000-of-00002", "b.tfrecord-00001-of-00002"}},
		{"no indexes, no hidden files", []string{"b.tfrecord", "b.tfrecord.idx", ".b.tfrecord.swp"}, []string{"b.tfrecord"}},
		{"compressed", []string{"b.tfrecord.gz", "c.tfrecords.zst"}, []string{"b.tfrecord.gz", "c.tfrecords.zst"}},
		{"object detection", []string{"train.record", "val.record-00000-of-00001", "label_map.pbtxt", "recording.wav"},
			[]string{"train.record", "val.record-00000-of-00001"}},
		{"TFX and Beam", []string{"data_tfrecord-00000-of-00001.gz", "part-00000-of-00002", "part-00001-of-00002", "checkpoint"},
			[]string{"data_tfrecord-00000-of-00001.gz", "part-00000-of-00002", "part-00001-of-00002"}},
		{"Kaggle", []string{"ld_train01-1338.tfrec", "sample.csv"}, []string{"ld_train01-1338.tfrec"}},
		{"Yggdrasil", []string{"toy.tfe-tfrecord-00000-of-00001", "toy.csv"}, []string{"toy.tfe-tfrecord-00000-of-00001"}},
		{"Hadoop", []string{"part-r-00000", "part-m-00001.deflate", "part-00002", "_SUCCESS", ".part-r-00000.crc", "part-00000.parquet"},
			[]string{"part-00002", "part-m-00001.deflate", "part-r-00000"}},
		{"Spark", []string{"part-00000-0a1b2c3d-0000-1111-2222-0123456789ab-c000.gz", "part-00001-0a1b2c3d-0000-1111-2222-0123456789ab.c000", "part-00000-0a1b2c3d-0000-1111-2222-0123456789ab-c000.csv", "part-time"},
			[]string{"part-00000-0a1b2c3d-0000-1111-2222-0123456789ab-c000.gz", "part-00001-0a1b2c3d-0000-1111-2222-0123456789ab.c000"}},
		{"TensorBoard", []string{"events.out.tfevents.1662041974.host.97126.2", "model.pb"}, []string{"events.out.tfevents.1662041974.host.97126.2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range test.files {
				check(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
			}
			check(t, os.Mkdir(filepath.Join(dir, "more.tfrecord"), 0o755))
			sources, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
			check(t, err)
			if diff := cmp.Diff(test.want, names(sources)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func names(sources []Source) []string {
	var list []string
	for _, s := range sources {
		list = append(list, filepath.Base(s.Path))
	}
	return list
}

func TestExpandSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := writeSet(t, dir, 3, func(yield func([]byte)) { yield([]byte("x")) })
	last := m.Splits[0].Shards[2].File
	check(t, os.WriteFile(filepath.Join(dir, "stray.tfrecord"), nil, 0o644))
	check(t, os.Remove(filepath.Join(dir, last)))
	for _, path := range []string{dir, filepath.Join(dir, manifest.File)} {
		var part *IncompleteError
		if _, err := Expand(t.Context(), []string{path}, ExpandOptions{}); !errors.As(err, &part) || !slices.Equal(part.Missing, []string{last}) || part.Shards != 3 {
			t.Errorf("%s: %v, want an error that names the missing shard", path, err)
		}
		noted := ""
		sources, err := Expand(t.Context(), []string{path}, ExpandOptions{Partial: true, Note: func(s string) { noted = s }})
		check(t, err)
		if len(sources) != 2 || !strings.Contains(noted, last) || !sources[0].Set.Partial || sources[0].Set.Splits[0].Records != 2*m.Splits[0].Records/3 {
			t.Errorf("%s: %v, want the two shards that are there; %q", path, names(sources), noted)
		}
		for _, s := range sources {
			if s.Set == nil || s.Set.Name != "t" || s.Split != "train" || s.Info == nil || s.Info.File != filepath.Base(s.Path) {
				t.Errorf("%s: set %v split %q info %v", s.Path, s.Set, s.Split, s.Info)
			}
		}
	}
	// Single files find their set too; a stray one has none. A glob excludes metadata.
	sources, err := Expand(t.Context(), []string{dir + "/*"}, ExpandOptions{})
	check(t, err)
	want := append([]string{"stray.tfrecord"}, m.Splits[0].Shards[0].File, m.Splits[0].Shards[1].File)
	if diff := cmp.Diff(want, names(sources)); diff != "" {
		t.Error(diff)
	}
	if sources[0].Info != nil || sources[1].Info == nil {
		t.Errorf("info of a stray file %v, of a shard %v", sources[0].Info, sources[1].Info)
	}
}

func TestExpandIsInNameOrder(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"c", "a", "b"} {
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, nil, 0o644))
		paths = append(paths, path)
	}
	sources, err := Expand(t.Context(), append(paths, paths[0]), ExpandOptions{})
	check(t, err)
	if got := names(sources); !slices.Equal(got, []string{"a", "b", "c", "c"}) {
		t.Errorf("order %v", got)
	}
}

func TestExpandForeignManifest(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, manifest.File), []byte(`{"name": "some web extension"}`), 0o644))
	check(t, os.WriteFile(filepath.Join(dir, "a.tfrecord"), nil, 0o644))
	sources, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
	if err != nil || len(sources) != 1 {
		t.Errorf("a folder with another tool's manifest.json: %v, %v", names(sources), err)
	}
}

func TestExpandErrors(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	check(t, os.Mkdir(broken, 0o755))
	check(t, os.WriteFile(filepath.Join(broken, manifest.File), []byte(`{"format": "tfrec.mani`), 0o644))
	newer := filepath.Join(dir, "newer.json")
	check(t, os.WriteFile(newer, []byte(`{"format": "tfrec.manifest", "version": 99}`), 0o644))
	other := filepath.Join(dir, "other.json")
	check(t, os.WriteFile(other, []byte(`{}`), 0o644))
	none := filepath.Join(dir, "none.json")
	check(t, os.WriteFile(none, []byte(`{"format": "tfrec.manifest", "version": 1}`), 0o644))
	empty := filepath.Join(dir, "empty")
	check(t, os.Mkdir(empty, 0o755))
	for _, test := range []struct {
		paths []string
		is    error
		says  string
	}{
		{nil, nil, "no input"},
		{[]string{filepath.Join(dir, "missing")}, fs.ErrNotExist, "missing"},
		{[]string{empty}, ErrNoRecords, "not searched"},
		{[]string{empty + "/*"}, ErrNoRecords, "quote it"},
		{[]string{empty + "/[a-"}, filepath.ErrBadPattern, "glob"},
		{[]string{broken}, nil, "not a manifest"},
		{[]string{newer}, nil, "newer"},
		{[]string{other}, nil, "format"},
		{[]string{none}, ErrNoRecords, "names no shards"},
	} {
		_, err := Expand(t.Context(), test.paths, ExpandOptions{})
		if err == nil || !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%v: %v, want %q (%v)", test.paths, err, test.says, test.is)
		}
	}
}

// The error for a directory without TFRecords says what is in it.
func TestDirectoriesOfOtherFiles(t *testing.T) {
	for want, names := range map[string][]string{
		"(it is empty)": {".hidden"},
		"(it has 2 .jpg, 1 directory, 1 other file)": {"a.JPG", "b.jpg", "d/x", "README"},
		"(it has 2 .csv, 1 .a, 1 .b, and others)":    {"1.csv", "2.csv", "x.a", "x.b", "x.c"},
	} {
		dir := t.TempDir()
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Expand(t.Context(), []string{dir}, ExpandOptions{}); !errors.Is(err, ErrNoRecords) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", names, err, want)
		}
	}
}
