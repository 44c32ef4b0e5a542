package convert

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// archiveFormats are the extensions that packFiles knows.
var archiveFormats = []string{".tar", ".tar.gz", ".tar.zst", ".zip"}

// packFiles writes files as the archive that path's name says, in an order of their names that
// depends on seed, with what tar puts before names and a Mac adds. It is an hour old.
func packFiles(t *testing.T, path string, seed uint64, files map[string]string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(files))
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var b bytes.Buffer
	var err error
	if strings.HasSuffix(path, ".zip") {
		w := zip.NewWriter(&b)
		for i, name := range names {
			f, failed := w.CreateHeader(&zip.FileHeader{Name: name, Method: []uint16{zip.Store, zip.Deflate}[i%2]})
			if failed == nil {
				_, failed = io.WriteString(f, files[name])
			}
			err = errors.Join(err, failed)
		}
		_, _ = w.Create("__MACOSX/._" + filepath.Base(names[0]))
		err = errors.Join(err, w.Close())
	} else {
		w := tar.NewWriter(&b)
		for _, name := range names {
			err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "./" + name, Typeflag: tar.TypeReg, Size: int64(len(files[name])), Mode: 0o644}))
			_, failed := io.WriteString(w, files[name])
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	switch filepath.Ext(path) {
	case ".gz":
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(data)
		w.Close()
		data = z.Bytes()
	case ".zst":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		data = w.EncodeAll(data, nil)
	}
	put(t, filepath.Dir(path), filepath.Base(path), data)
	setBack(t, path, time.Hour)
}

// setBack sets a file's time back.
func setBack(t *testing.T, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// pets are images of three classes in two splits, with names of many kinds.
func pets(t *testing.T, n int) map[string]string {
	t.Helper()
	files := map[string]string{"train/c1/" + strings.Repeat("long ", 40) + "ü.png": string(pngOf(1000)), "README": "no image"}
	for i := range n {
		files[fmt.Sprintf("%s/c%d/%03d.png", []string{"train", "val"}[i%5/4], i%3, i)] = string(pngOf(i))
	}
	return files
}

// writeTree writes files below a directory.
func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		put(t, dir, name, []byte(data))
		setBack(t, filepath.Join(dir, name), time.Hour)
	}
}

// An archive gives the set of the directory that it was made of, to the last byte of the manifest,
// by any number of workers and of tasks.
func TestArchivesGiveTheSetOfTheirFiles(t *testing.T) {
	tmp := t.TempDir()
	files := pets(t, 40)
	tree := filepath.Join(tmp, "pets")
	writeTree(t, tree, files)
	o := ImageOptions{Options: Options{Name: "pets", Shards: 3, Limit: 37}}
	for _, variant := range []ImageOptions{o, {Options: o.Options, Augment: AugmentSpec{Policy: policy(t, "hflip:0.5"), Copies: 2, KeepOriginal: true}}} {
		out := t.TempDir()
		want := mustImages(t, tree, out, variant)
		for i, ext := range archiveFormats {
			src := filepath.Join(tmp, "archive"+ext)
			packFiles(t, src, uint64(i), files)
			for workers := 1; workers < 4; workers += 2 {
				o := variant
				o.Workers = workers
				into := t.TempDir()
				if got := mustImages(t, src, into, o); got.Records != want.Records || got.SkippedFiles < want.SkippedFiles {
					t.Errorf("%s: %+v, want %+v", ext, got, want)
				}
				sameSet(t, contents(t, into), contents(t, out))
				if again := mustImages(t, src, into, o); again.Status != UpToDate {
					t.Errorf("%s: again: %s", ext, again.Status)
				}
				if left, _ := filepath.Glob(filepath.Join(into, ".tfrec", "tmp", "*")); len(left) > 0 {
					t.Errorf("%s: %q are left", ext, left)
				}
			}
			into := t.TempDir()
			for task := range 3 {
				o := variant
				o.Task = &Task{Index: 2 - task, Count: 3}
				mustImages(t, src, into, o)
			}
			if _, err := Finalize(context.Background(), into, FinalizeOptions{}); err != nil {
				t.Fatal(err)
			}
			sameSet(t, contents(t, into), contents(t, out))
		}
	}
	half := [2]map[string]string{{}, {}}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		half[i%2][name] = files[name]
	}
	packFiles(t, filepath.Join(tmp, "half-0.tar.gz"), 1, half[0])
	packFiles(t, filepath.Join(tmp, "half-1.zip"), 1, half[1])
	out, into := t.TempDir(), t.TempDir()
	mustImages(t, tree, out, o)
	mustImages(t, filepath.Join(tmp, "half-*"), into, o)
	sameSet(t, contents(t, into), contents(t, out))
}

// An update of an archive redoes the shards of the members that changed, wherever the others are
// now, and gives the set of a fresh run.
func TestUpdatesOfArchives(t *testing.T) {
	for _, ext := range archiveFormats {
		r := rand.New(rand.NewPCG(7, 9))
		files := pets(t, 60)
		src, out := filepath.Join(t.TempDir(), "pets"+ext), t.TempDir()
		o := ImageOptions{Options: Options{Name: "pets", Shards: 6}}
		for step := range 5 {
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !imagetree.IsImage(name) })
			switch at := names[r.IntN(len(names))]; step {
			case 1:
				files["train/c0/more.png"] = string(pngOf(5000))
			case 2:
				delete(files, at)
			case 3:
				files[at] = string(pngOf(6000))
			}
			packFiles(t, src, uint64(step), files)
			setBack(t, src, time.Hour+time.Duration(step)*time.Minute)
			s := mustImages(t, src, out, o)
			if want := []Status{Written, Updated, Updated, Updated, UpToDate}[step]; s.Status != want || step > 0 && s.ShardsWritten > 1 {
				t.Errorf("%s: step %d: %s, %d shards written", ext, step, s.Status, s.ShardsWritten)
			}
			fresh := t.TempDir()
			mustImages(t, src, fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
		}
	}
}

// A changed member of the same size in an archive of the same size and time is found with
// HashInputs.
func TestArchivesByContent(t *testing.T) {
	files := pets(t, 20)
	src, out := filepath.Join(t.TempDir(), "pets.tar"), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 2, TrustTimes: true}, Encode: EncodeSpec{Format: Keep, NoCheck: true}}
	packFiles(t, src, 1, files)
	st, err := os.Stat(src)
	if err != nil {
		t.Fatal(err)
	}
	mustImages(t, src, out, o)
	data := []byte(files["train/c0/000.png"])
	data[len(data)-20] ^= 1 // in the image's data
	files["train/c0/000.png"] = string(data)
	packFiles(t, src, 1, files)
	if err := os.Chtimes(src, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if s := mustImages(t, src, out, o); s.Status != UpToDate {
		t.Errorf("by size and time: %s", s.Status)
	}
	o.HashInputs = true
	if s := mustImages(t, src, out, o); s.Status != Updated || s.ShardsWritten != 1 {
		t.Errorf("by content: %s, %d shards written", s.Status, s.ShardsWritten)
	}
}

// Archives in an object store are read by ranges, or as a stream when they are compressed.
func TestArchivesOfAStore(t *testing.T) {
	files := pets(t, 40)
	tree := filepath.Join(t.TempDir(), "pets")
	writeTree(t, tree, files)
	out := t.TempDir()
	o := ImageOptions{Options: Options{Name: "pets", Shards: 3}}
	mustImages(t, tree, out, o)
	s := storagetest.New()
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	for _, ext := range archiveFormats {
		path := filepath.Join(t.TempDir(), "pets"+ext)
		packFiles(t, path, 3, files)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.Put("a/pets"+ext, data)
		into := t.TempDir()
		mustImages(t, "mem://store/a/pets"+ext, into, o)
		sameSet(t, contents(t, into), contents(t, out))
		c := new(counting).of(s)
		if again := mustImages(t, "mem://store/a/pets"+ext, moved(t, into), o); again.Status != UpToDate || c.kinds["open"] > 4 { // one for README, which is looked into
			t.Errorf("%s: again: %s after %v", ext, again.Status, c.kinds)
		}
		s.Fault = nil
	}
	into := t.TempDir()
	half := [2]map[string]string{{}, {}}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		half[i%2][name] = files[name]
	}
	for i, ext := range []string{".tar", ".zip"} {
		path := filepath.Join(t.TempDir(), "half"+ext)
		packFiles(t, path, 3, half[i])
		data, _ := os.ReadFile(path)
		s.Put("b/half"+ext, data)
	}
	mustImages(t, "mem://store/b/half*", into, o)
	sameSet(t, contents(t, into), contents(t, out))
}

// tarred writes a tar of headers, with data as the content of files that claim its size.
func tarred(t *testing.T, path string, data string, headers ...*tar.Header) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range 4 {
		image := string(pngOf(i))
		headers = append([]*tar.Header{{Name: fmt.Sprintf("c%d/%d.png", i%2, i), Size: int64(len(image)), PAXRecords: map[string]string{"TFREC.test": image}}}, headers...)
	}
	for _, h := range headers {
		content := data
		if image, ok := h.PAXRecords["TFREC.test"]; ok {
			content, h.PAXRecords = image, nil
		} else if h.Typeflag == 0 && h.Size == 0 {
			h.Size = int64(len(data))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, content); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Close()
	put(t, filepath.Dir(path), filepath.Base(path), b.Bytes())
}

// Members that could do harm are in the ledger, and no record is made of them.
func TestHostileMembers(t *testing.T) {
	image := string(pngOf(9))
	for name, c := range map[string]struct {
		member *tar.Header
		bad    string
		skips  int64
	}{
		"up":        {&tar.Header{Name: "../evil.png"}, "..", 0},
		"inside":    {&tar.Header{Name: "c0/../../evil.png"}, "..", 0},
		"absolute":  {&tar.Header{Name: "/tmp/evil.png"}, "absolute", 0},
		"backslash": {&tar.Header{Name: `..\evil.png`}, "backslash", 0},
		"drive":     {&tar.Header{Name: "C:evil.png"}, "drive", 0},
		"symlink":   {&tar.Header{Name: "c0/evil.png", Typeflag: tar.TypeSymlink, Linkname: "0.png"}, "link", 0},
		"hard link": {&tar.Header{Name: "c9/evil.png", Typeflag: tar.TypeLink, Linkname: "c0/0.png"}, "link", 0},
		"fifo":      {&tar.Header{Name: "c0/evil.png", Typeflag: tar.TypeFifo}, "not a file", 0},
		"twice":     {&tar.Header{Name: "c0/0.png"}, "", 1},
		"dot":       {&tar.Header{Name: "c0/./0.png"}, "", 1},
		"up text":   {&tar.Header{Name: "../evil.txt"}, "", 1},
		"link text": {&tar.Header{Name: "evil", Typeflag: tar.TypeSymlink, Linkname: "c0"}, "", 1},
		"hidden":    {&tar.Header{Name: "c0/.evil.png"}, "", 1},
	} {
		src, out := filepath.Join(t.TempDir(), "h.tar"), t.TempDir()
		tarred(t, src, image, c.member)
		s := mustImages(t, src, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 1}}})
		ledger := contents(t, out)["errors.jsonl"]
		if s.Records != 4 || s.SkippedFiles != c.skips || (s.Errors == 1) != (c.bad != "") || !strings.Contains(ledger, c.bad) {
			t.Errorf("%s: %+v, ledger %s", name, s, ledger)
		}
		if c.bad != "" && (!strings.Contains(ledger, `"stage":"read"`) || !strings.Contains(ledger, `"source":"h.tar"`)) {
			t.Errorf("%s: ledger %s", name, ledger)
		}
		got := records(t, out, "train")
		for i := range 4 {
			if e := got[fmt.Sprintf("c%d/%d.png", i%2, i)]; e == nil || fmt.Sprint(e["image/encoded"]) == "" {
				t.Errorf("%s: image %d is missing", name, i)
			}
		}
	}
}

// What is wrong with an archive ends the run, whatever Options.MaxErrors allows, and names it.
func TestDamagedArchivesEndTheRun(t *testing.T) {
	files := pets(t, 30)
	for _, ext := range archiveFormats {
		path := filepath.Join(t.TempDir(), "pets"+ext)
		packFiles(t, path, 5, files)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damage := map[string][]byte{"cut": whole[:len(whole)*2/3], "shorter": whole[:len(whole)-1100]}
		if ext != ".tar" {
			flipped := bytes.Clone(whole)
			flipped[len(flipped)/3] ^= 4
			damage["flipped"] = flipped
		}
		for name, data := range damage {
			put(t, filepath.Dir(path), filepath.Base(path), data)
			out := t.TempDir()
			_, err := Images(context.Background(), path, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "at byte ") {
				t.Errorf("%s %s: %v", ext, name, err)
			}
			if got := contents(t, out); got["manifest.json"] != "" {
				t.Errorf("%s %s: a manifest was written", ext, name)
			}
		}
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	one := map[string]string{"c0/1.png": string(pngOf(1)), "c1/2.png": string(pngOf(2))}
	packFiles(t, filepath.Join(dir, "a.tar"), 1, one)
	packFiles(t, filepath.Join(dir, "b.tar"), 1, map[string]string{"c0/3.png": string(pngOf(1)), "c1/2.png": string(pngOf(3))})
	packFiles(t, filepath.Join(dir, "none.zip"), 1, map[string]string{"notes.txt": ""})
	put(t, dir, "text.tar", []byte("text"))
	for src, want := range map[string]string{
		"[ab].tar": "c1/2.png is in both", "none.zip": "no images in", "text.tar": "not an archive", "gone.tar": "no such file", "gone*.tar": "no archive matches", "*": "", "../*": "matches the directory",
	} {
		_, err := Images(context.Background(), filepath.Join(dir, src), t.TempDir(), ImageOptions{Options: Options{Name: "x"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
	_, err := Images(context.Background(), filepath.Join(dir, "a.tar"), t.TempDir(), ImageOptions{Select: SelectSpec{FollowSymlinks: true}})
	if !ofOption(err) {
		t.Errorf("FollowSymlinks: %v", err)
	}
}

// A directory around the class directories is worth a note.
func TestArchiveWithOneTopDirectory(t *testing.T) {
	src := filepath.Join(t.TempDir(), "a.tar.gz")
	packFiles(t, src, 1, map[string]string{"photos/c0/1.png": string(pngOf(1)), "photos/c1/2.png": string(pngOf(2))})
	var notes []string
	mustImages(t, src, t.TempDir(), ImageOptions{Options: Options{Note: func(s string) { notes = append(notes, s) }}})
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "photos is taken as the only class") || !strings.Contains(all, "tar -C photos") {
		t.Errorf("notes: %s", all)
	}
}

// A directory of archives has no images, and the error says how archives are given.
func TestDirectoryOfArchives(t *testing.T) {
	src := t.TempDir()
	packFiles(t, filepath.Join(src, "a.tar"), 1, map[string]string{"c0/1.png": string(pngOf(1))})
	_, err := Images(context.Background(), src, t.TempDir(), ImageOptions{})
	if err == nil || !strings.Contains(err.Error(), "(1 archive not read: give archives as the source: a.tar)") || !strings.Contains(err.Error(), "quoted glob") {
		t.Error(err)
	}
}

// Where no image can be used there is no class to be noted.
func TestNoteOfClassesWithoutImages(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range 2 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("train/c%d/1.png", i), Typeflag: tar.TypeSymlink, Linkname: "2.png"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(src, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var notes []string
	_, err := Images(context.Background(), src, t.TempDir(), ImageOptions{Options: Options{Note: func(s string) { notes = append(notes, s) }}})
	if all := strings.Join(notes, "\n"); err == nil || strings.Contains(all, "only class") {
		t.Errorf("%v; notes: %s", err, all)
	}
}

// A dry run, its estimate and a table of labels know archives.
func TestArchivesWithOtherOptions(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	table := "path,label\n"
	for i := range 12 {
		files[fmt.Sprintf("%02d.png", i)] = string(pngOf(i))
		table += fmt.Sprintf("%02d.png,%d\n", i, i%2)
	}
	put(t, dir, "labels.csv", []byte(table+"gone.png,1\n"))
	tree := filepath.Join(dir, "pets")
	writeTree(t, tree, files)
	o := ImageOptions{Options: Options{Name: "pets", MaxErrors: Tolerance{Count: 1}}, Labels: LabelSpec{File: filepath.Join(dir, "labels.csv")}}
	out := t.TempDir()
	mustImages(t, tree, out, o)
	for _, ext := range archiveFormats {
		src, into := filepath.Join(dir, "pets"+ext), filepath.Join(t.TempDir(), "none")
		packFiles(t, src, 1, files)
		o := o
		o.DryRun, o.Estimate = true, true
		s := mustImages(t, src, into, o)
		if s.Plan.Estimate.Tried != 13 || s.Plan.Estimate.Errors != 1 {
			t.Errorf("%s: estimate %+v", ext, s.Plan.Estimate)
		}
		if _, err := os.Stat(into); err == nil {
			t.Errorf("%s: a dry run wrote into its output", ext)
		}
		o.DryRun, o.Estimate, o.Depfile = false, false, filepath.Join(dir, "deps")
		mustImages(t, src, into, o)
		sameSet(t, contents(t, into), contents(t, out))
		if deps, err := os.ReadFile(o.Depfile); err != nil || !strings.Contains(string(deps), src) || strings.Contains(string(deps), "01.png") {
			t.Errorf("%s: %s, %v", ext, deps, err)
		}
	}
}
