package shard_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestDir writes a set by hand, as a program outside this module would.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "birds")
	dir, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shard.OpenDir(t.Context(), path, shard.DirOptions{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("a second process: %v, want ErrBusy", err)
	}
	if m, err := dir.Manifest(); m != nil || err != nil || dir.Path() != path {
		t.Errorf("an empty directory %s: %v, %v", dir.Path(), m, err)
	}
	abandoned, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	abandoned.Abort()
	w, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{Compression: tfrecord.CompressionNone})
	if err != nil {
		t.Fatal(err)
	}
	frames := tfrecord.AppendFrame(tfrecord.AppendFrame(nil, []byte("heron")), []byte("kite"))
	err = errors.Join(w.WriteRecord([]byte("stork")), w.WriteFrames(frames, []int{5 + tfrecord.Overhead, 4 + tfrecord.Overhead}))
	if err != nil || w.Records() != 3 {
		t.Fatal(w.Records(), err)
	}
	info, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{
		Name: "birds", Splits: []manifest.Split{{Name: "train", Shards: []manifest.Shard{info}}},
	}
	if err := errors.Join(dir.PutSet(m), dir.Close(), dir.Close()); err != nil {
		t.Fatal(err)
	}

	dir, err = shard.OpenDir(t.Context(), path, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	got, err := dir.Manifest()
	if err != nil || got.Splits[0].Shards[0].SHA256 != info.SHA256 || got.Format != manifest.Format || got.Compression != "none" || got.Splits[0].Records != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	var read []string
	r, err := shard.Open(t.Context(), sources[0].Path, tfrecord.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, string(record))
	}
	if !slices.Equal(read, []string{"stork", "heron", "kite"}) {
		t.Errorf("read %q", read)
	}
	if _, err := shard.Open(t.Context(), filepath.Join(path, "none"), tfrecord.ReaderOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

const (
	one = "birds-train.tfrecord-00000-of-00002"
	two = "birds-train.tfrecord-00001-of-00002"
)

// writeShard commits a shard of n Examples with a vector x and a label.
func writeShard(t *testing.T, dir *shard.Dir, name string, n int) manifest.Shard {
	t.Helper()
	w, err := dir.Create(name, shard.WriterOptions{})
	settest.Check(t, err)
	for i := range n {
		settest.Check(t, w.WriteRecord(settest.Example(func(b *tfrecord.Builder) {
			b.Float("x", float32(i), 2)
			b.Int64("label", int64(i%2))
			if i == 0 {
				b.String("note", "first")
			}
		})))
	}
	info, err := w.Commit()
	settest.Check(t, err)
	return info
}

// rightManifest describes a set of two shards of writeShard.
func rightManifest(a, b manifest.Shard) *manifest.Manifest {
	return &manifest.Manifest{
		Name: "birds", Records: manifest.RecordExample, Labels: []string{"heron", "kite"},
		Features: []manifest.Feature{
			{Key: "label", Kind: "int64", Class: manifest.ClassLabel}, {Key: "x", Kind: "float", Class: manifest.ClassVector, Shape: []int{2}},
			{Key: "note", Kind: "bytes", Class: manifest.ClassText, Optional: true},
		},
		Supervised: &manifest.Supervised{Input: "x", Target: "label"},
		Splits:     []manifest.Split{{Name: "train", Shards: []manifest.Shard{a, b}}},
	}
}

// A manifest that the shards contradict is not written, whatever is wrong with it.
func TestPutSetChecksManifests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "birds")
	dir, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	defer dir.Close()
	a, b := writeShard(t, dir, one, 3), writeShard(t, dir, two, 2)
	for want, break_ := range map[string]func(m *manifest.Manifest){
		"the dataset has no name":                         func(m *manifest.Manifest) { m.Name = "" },
		`its format is "other"`:                           func(m *manifest.Manifest) { m.Format = "other" },
		"version 2; want":                                 func(m *manifest.Manifest) { m.Format, m.Version = manifest.Format, 2 },
		"compression none, and the manifest says g":       func(m *manifest.Manifest) { m.Compression = "gzip" },
		`unknown compression "lz4"`:                       func(m *manifest.Manifest) { m.Compression = "lz4" },
		"was committed, and the manifest does not":        func(m *manifest.Manifest) { m.Splits[0].Shards = m.Splits[0].Shards[:1] },
		"names birds-train.tfrecord-00001-of-00002 twice": func(m *manifest.Manifest) { m.Splits[0].Shards = append(m.Splits[0].Shards, b) },
		"there is no shard birds-test": func(m *manifest.Manifest) {
			m.Splits = append(m.Splits, manifest.Split{Name: "test", Shards: []manifest.Shard{{File: "birds-test.tfrecord-00000-of-00001"}}})
		},
		"and the manifest says 4":                  func(m *manifest.Manifest) { m.Splits[0].Shards[0].Records = 4 },
		"or another SHA-256":                       func(m *manifest.Manifest) { m.Splits[0].Shards[0].SHA256 = b.SHA256 },
		"split train: the manifest says 6 records": func(m *manifest.Manifest) { m.Splits[0].Records = 6 },
		"is not the name of a split":               func(m *manifest.Manifest) { m.Splits[0].Name = "a/b" },
		"split train occurs twice":                 func(m *manifest.Manifest) { m.Splits = append(m.Splits, manifest.Split{Name: "train"}) },
		`no record has the feature "y"`:            func(m *manifest.Manifest) { m.Features[1].Key = "y"; m.Supervised = nil },
		"it is stated as int64, and the records":   func(m *manifest.Manifest) { m.Features[1].Kind = "int64" },
		"stated as 3 values in each record, and t": func(m *manifest.Manifest) { m.Features[1].Shape = []int{3} },
		"it is not stated as optional":             func(m *manifest.Manifest) { m.Features[2].Optional = false },
		"is a label, and there are no label names": func(m *manifest.Manifest) { m.Labels = nil },
		"its class is label, and its kind":         func(m *manifest.Manifest) { m.Features[0].Kind = "float" },
		`supervised names a feature "target"`:      func(m *manifest.Manifest) { m.Supervised.Target = "target" },
		`feature "x" is described twice`:           func(m *manifest.Manifest) { m.Features = append(m.Features, m.Features[1]) },
		"unknown class":                            func(m *manifest.Manifest) { m.Features[1].Class = "odd" },
	} {
		m := rightManifest(a, b)
		break_(m)
		if err := dir.PutSet(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, name := range settest.NamesIn(t, path) {
		if name == manifest.File || name == manifest.TFDSInfoFile {
			t.Errorf("%s was written", name)
		}
	}
	settest.Check(t, dir.PutSet(rightManifest(a, b)))
	settest.Check(t, settest.ManifestOf(t, path).Check())
}

// A set is replaced when PutSet is called, as a whole, or stays.
func TestDirReplacesSets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "birds")
	first, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	settest.Check(t, first.PutSet(rightManifest(writeShard(t, first, one, 3), writeShard(t, first, two, 2))))
	settest.Check(t, first.Close())
	before := settest.FilesOf(t, path)

	abandoned, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	writeShard(t, abandoned, one, 9)
	if !settest.SameFiles(settest.FilesOf(t, path), before) {
		t.Error("a shard of the set was replaced before the manifest")
	}
	settest.Check(t, abandoned.Close())
	if !settest.SameFiles(settest.FilesOf(t, path), before) {
		t.Error("the set changed, and was not replaced")
	}

	// One shard is kept, one replaced, and the set has one more.
	const three = "birds-test.tfrecord-00000-of-00001"
	second, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	old, err := second.Manifest()
	settest.Check(t, err)
	m := rightManifest(writeShard(t, second, one, 9), old.Splits[0].Shards[1])
	m.Splits = append(m.Splits, manifest.Split{Name: "test", Shards: []manifest.Shard{writeShard(t, second, three, 1)}})
	settest.Check(t, errors.Join(second.PutSet(m), second.Close()))
	after := settest.FilesOf(t, path)
	if after[two] != before[two] || after[one] == before[one] || after[three] == "" || after["index/"+two+".idx"] == "" {
		t.Errorf("the new set has %d files, and not the right ones", len(after))
	}
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	if err != nil || len(sources) != 3 {
		t.Errorf("%d shards, %v", len(sources), err)
	}

	// The set shrinks to one shard: the others are removed.
	third, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	m = rightManifest(settest.ManifestOf(t, path).Splits[0].Shards[1], manifest.Shard{})
	m.Splits[0].Shards = m.Splits[0].Shards[:1]
	settest.Check(t, errors.Join(third.PutSet(m), third.Close()))
	if files := settest.FilesOf(t, path); files[one] != "" || files[three] != "" || files["index/"+three+".idx"] != "" || files[two] != before[two] {
		t.Errorf("the small set has %d files", len(files))
	}
}

// Whatever a program does with a Dir, in whatever order, the directory has the set of the last PutSet, and
// it is whole; shards that were written since then do not show.
func TestDirAtRandom(t *testing.T) {
	for _, seed := range torture.Seeds(8, 300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		path := filepath.Join(t.TempDir(), "set")
		var set map[string]string // name to content of the set in place
		dir, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
		settest.Check(t, err)
		written := map[string]manifest.Shard{} // by dir, since the last PutSet
		for range 25 {
			name := fmt.Sprintf("birds-train.tfrecord-%05d-of-00004", rng.IntN(4))
			switch _, taken := written[name]; rng.IntN(5) {
			case 0, 1:
				w, err := dir.Create(name, shard.WriterOptions{})
				if (err != nil) != taken {
					t.Fatalf("seed %d: create %s, written %v: %v", seed, name, taken, err)
				}
				if taken {
					break
				}
				for range rng.IntN(4) {
					settest.Check(t, w.WriteRecord(make([]byte, rng.IntN(1000))))
				}
				if rng.IntN(4) == 0 {
					w.Abort()
					break
				}
				written[name], err = w.Commit()
				settest.Check(t, err)
			case 2:
				m := &manifest.Manifest{Name: "birds", Splits: []manifest.Split{{Name: "train"}}}
				old, err := dir.Manifest()
				settest.Check(t, err)
				infos := maps.Clone(written)
				if old != nil && rng.IntN(2) == 0 { // keep what is not replaced
					for _, info := range old.Splits[0].Shards {
						if _, again := infos[info.File]; !again {
							infos[info.File] = info
						}
					}
				}
				if len(infos) == 0 {
					break
				}
				for _, name := range slices.Sorted(maps.Keys(infos)) {
					m.Splits[0].Shards = append(m.Splits[0].Shards, infos[name])
				}
				settest.Check(t, dir.PutSet(m))
				set = settest.FilesOf(t, path)
				clear(written)
			case 3:
				if set != nil { // otherwise shards stay, and a set would have to list them
					settest.Check(t, dir.Close())
					clear(written)
					dir, err = shard.OpenDir(t.Context(), path, shard.DirOptions{})
					settest.Check(t, err)
				}
			}
			if set != nil && !settest.SameFiles(settest.FilesOf(t, path), set) {
				t.Fatalf("seed %d: the directory is not as the last PutSet left it", seed)
			}
		}
		settest.Check(t, dir.Close())
		if set != nil {
			sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
			settest.Check(t, err)
			faults, err := sources[0].Set.Check(t.Context())
			settest.Check(t, err)
			if len(faults) > 0 {
				t.Errorf("seed %d: %v", seed, faults)
			}
		}
	}
}

// In an object store, shards of other names can be added to a set, and none of it can be replaced or left
// out.
func TestDirInStore(t *testing.T) {
	_, url := settest.StoreOf(t)
	path := url + "/birds"
	first, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	a, b := writeShard(t, first, one, 3), writeShard(t, first, two, 2)
	settest.Check(t, errors.Join(first.PutSet(rightManifest(a, b)), first.Close()))

	const three = "birds-test.tfrecord-00000-of-00001"
	second, err := shard.OpenDir(t.Context(), path, shard.DirOptions{})
	settest.Check(t, err)
	if _, err := second.Create(one, shard.WriterOptions{}); err == nil || !strings.Contains(err.Error(), "cannot be replaced in one step") {
		t.Errorf("a shard of the set: %v", err)
	}
	c := writeShard(t, second, three, 4)
	alone := rightManifest(a, c)
	if err := second.PutSet(alone); err == nil || !strings.Contains(err.Error(), two+" of the set is not in the new one") {
		t.Errorf("a set without one of its shards: %v", err)
	}
	more := rightManifest(a, b)
	more.Splits = append(more.Splits, manifest.Split{Name: "test", Shards: []manifest.Shard{c}})
	settest.Check(t, errors.Join(second.PutSet(more), second.Close()))
	sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	settest.Check(t, err)
	faults, err := sources[0].Set.Check(t.Context())
	if len(sources) != 3 || len(faults) > 0 || err != nil {
		t.Errorf("%d shards, %v, %v", len(sources), faults, err)
	}
}

// Mistakes with writers are errors: names that are taken or none of a shard, use after the end, and
// shards that were never committed.
func TestDirMisuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "birds")
	ctx, cancel := context.WithCancelCause(t.Context())
	dir, err := shard.OpenDir(ctx, path, shard.DirOptions{})
	settest.Check(t, err)
	for _, name := range []string{manifest.File, manifest.LedgerFile, "notes.txt", "a/b.tfrecord", "../b.tfrecord", "", one + ".idx"} {
		if _, err := dir.Create(name, shard.WriterOptions{}); err == nil {
			t.Errorf("%q was created as a shard", name)
		}
	}
	w, err := dir.Create(one, shard.WriterOptions{})
	settest.Check(t, err)
	if _, err := dir.Create(one, shard.WriterOptions{}); err == nil {
		t.Error("two writers of one name")
	}
	if err := dir.PutSet(new(manifest.Manifest)); err == nil || !strings.Contains(err.Error(), "neither committed nor aborted") {
		t.Errorf("a set with an open writer: %v", err)
	}
	for _, sizes := range [][]int{{20, 20}, {5}, {-1}, {100}} {
		if err := w.WriteFrames(tfrecord.AppendFrame(nil, []byte("heron")), sizes); err == nil {
			t.Errorf("sizes %v of a frame of 21 bytes", sizes)
		}
	}
	if _, err := w.Commit(); err != nil {
		t.Error(err)
	}
	w.Abort() // does nothing
	if err := w.WriteRecord(nil); !errors.Is(err, shard.ErrClosed) {
		t.Errorf("a record after Commit: %v", err)
	}
	if _, err := w.Commit(); !errors.Is(err, shard.ErrClosed) {
		t.Errorf("two commits: %v", err)
	}
	if _, err := dir.Create(one, shard.WriterOptions{}); err == nil {
		t.Error("a committed name was created again")
	}
	leaked, err := dir.Create(two, shard.WriterOptions{})
	settest.Check(t, err)
	cause := errors.New("stopped")
	cancel(cause)
	if err := leaked.WriteRecord(nil); !errors.Is(err, cause) {
		t.Errorf("a record after the end of the context: %v", err)
	}
	if err := dir.Close(); err == nil || !strings.Contains(err.Error(), two+" not committed") {
		t.Errorf("a writer was left: %v", err)
	}
	if err := leaked.WriteRecord(nil); !errors.Is(err, shard.ErrClosed) {
		t.Errorf("a record after Close: %v", err)
	}
	if _, err := dir.Create(two, shard.WriterOptions{}); !errors.Is(err, shard.ErrClosed) {
		t.Errorf("a shard after Close: %v", err)
	}
	if err := dir.PutSet(new(manifest.Manifest)); !errors.Is(err, shard.ErrClosed) {
		t.Errorf("a set after Close: %v", err)
	}
	for _, name := range settest.NamesIn(t, path) {
		if strings.Contains(name, two) || strings.Contains(name, ".tmp") {
			t.Errorf("%s was left", name)
		}
	}
}
