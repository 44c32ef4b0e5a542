package convert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
)

// anyCase returns a word with letters of random case.
func anyCase(rnd *rand.Rand, s string) string {
	b := []byte(s)
	for i := range b {
		if rnd.IntN(2) == 0 {
			b[i] = s[i] - 'a' + 'A'
		}
	}
	return string(b)
}

func TestSplitDirectoriesAreRecognised(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	names := map[string][]string{
		"train": {"train", "training"}, "val": {"val", "valid", "validation", "dev"}, "test": {"test", "testing", "eval"},
	}
	for range 20 {
		src, out := filepath.Join(t.TempDir(), "s"), t.TempDir()
		dirs := map[string]string{}
		renamed := false
		for split, list := range names {
			dirs[split] = list[rnd.IntN(len(list))]
			if rnd.IntN(2) == 0 {
				dirs[split] = anyCase(rnd, dirs[split])
			}
			if rnd.IntN(4) == 0 && len(dirs) > 1 {
				delete(dirs, split)
				continue
			}
			renamed = renamed || dirs[split] != split
			for i := range 4 {
				put(t, src, fmt.Sprintf("%s/c%d/%d.png", dirs[split], i%2, i), pngOf(i))
			}
		}
		o := ImageOptions{Options: Options{Shards: 1}}
		said := notes(&o.Options)
		s := mustImages(t, src, out, o)
		if len(s.Splits) != len(dirs) {
			t.Errorf("%v: splits %v", dirs, s.Splits)
		}
		for split, dir := range dirs {
			if s.Splits[split] != (SplitSummary{Records: 4, Shards: 1}) {
				t.Errorf("%v: split %s: %+v", dirs, split, s.Splits[split])
			}
			for name, r := range records(t, out, split) {
				if !strings.HasPrefix(name, dir+"/") || string(r[imagekey.Text].([][]byte)[0]) != strings.Split(name, "/")[1] {
					t.Errorf("%s in %s labelled %q", name, split, r[imagekey.Text])
				}
			}
		}
		if n := strings.Join(*said, "\n"); strings.Contains(n, "is the split") != renamed {
			t.Errorf("%v: notes %q", dirs, n)
		}
		other := ImageOptions{Options: Options{Shards: 1, Splits: []SplitShare{{Name: "a", Share: 1}}}}
		said, again := notes(&other.Options), t.TempDir()
		if s := mustImages(t, src, again, other); s.Splits["a"] != (SplitSummary{Records: s.Records, Shards: 1}) || !strings.Contains(strings.Join(*said, "\n"), "not taken as splits") {
			t.Errorf("Options.Splits over split directories: %+v, %q", s.Splits, *said)
		}
		for name, r := range records(t, again, "a") {
			if string(r[imagekey.Text].([][]byte)[0]) != strings.Split(name, "/")[1] {
				t.Errorf("%s labelled %q", name, r[imagekey.Text])
			}
		}
	}
}

func TestSplitDirectoriesThatAreDoubtful(t *testing.T) {
	for _, c := range []struct {
		dirs, wrong, note string // one of the two
	}{
		{"train/a training/a", "the directories train and training both name the split train", ""},
		{"Test/a test/a train/a", "both name the split test", ""},
		{"val/a dev/b", "both name the split val", ""},
		{"train/a test/a daisy/a", "test, train are split directories, but daisy/a/0.png is in none of them", ""},
		{"Training/a Dev/a daisy", "Training, Dev are split directories", ""},
		{"eval daisy roses", "", "the directory eval is taken as a class"},
		{"valid invalid", "", "the directory valid is taken as a class"},
		{"Test/a", "", "Test is the split test"},
		{"train/a", "", ""},
	} {
		src := filepath.Join(t.TempDir(), "s")
		for _, dir := range strings.Fields(c.dirs) {
			put(t, src, dir+"/0.png", pngOf(0))
		}
		o := ImageOptions{}
		said := notes(&o.Options)
		out := t.TempDir()
		_, err := Images(context.Background(), src, out, o)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", c.dirs, err, c.wrong)
			}
			if entries, _ := os.ReadDir(out); len(entries) != 0 {
				t.Errorf("%s: wrote %v", c.dirs, entries)
			}
			continue
		}
		if n := strings.Join(*said, "\n"); err != nil || !strings.Contains(n, c.note) || c.note == "" && n != "" {
			t.Errorf("%s: %v, notes %q, want %q", c.dirs, err, n, c.note)
		}
	}
}

// TestHiddenFilesAreNoImages puts files of macOS, version control and notebooks anywhere into a
// tree: they are neither classes nor samples, and are counted.
func TestHiddenFilesAreNoImages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 10 {
		src, out, plain := filepath.Join(t.TempDir(), "s"), t.TempDir(), t.TempDir()
		splits := []string{""}
		if round%2 == 1 {
			splits = []string{"train/", "Valid/"}
		}
		for i := range 12 {
			put(t, src, fmt.Sprintf("%sc%d/%d.png", splits[i%len(splits)], i%3, i), pngOf(i))
		}
		o := ImageOptions{Options: Options{Name: "n", Shards: 1}}
		before := mustImages(t, src, plain, o)
		parts := []string{"c1", "c2", "deep", "train", ".git", ".ipynb_checkpoints", "__MACOSX", ".cache"}
		hidden := map[string]bool{}
		for i := range 8 {
			var path []string
			for range rnd.IntN(4) {
				path = append(path, parts[rnd.IntN(len(parts))])
			}
			name := fmt.Sprintf("._%d.png", i)
			if slices.ContainsFunc(path, func(p string) bool { return p[0] == '.' || p[0] == '_' }) && rnd.IntN(2) == 0 {
				name = fmt.Sprintf("%d.png", i)
			}
			p := strings.Join(append(path, name), "/")
			put(t, src, p, []byte("no image"))
			hidden[p] = true
		}
		put(t, src, ".DS_Store", nil)
		put(t, src, "c1/.gitignore", nil)
		said := notes(&o.Options)
		s := mustImages(t, src, out, o)
		if s.Errors != 0 || s.Samples != 12 || s.SkippedFiles != int64(len(hidden)+2) {
			t.Errorf("%v: summary %+v", slices.Sorted(maps.Keys(hidden)), s)
		}
		_, named, _ := strings.Cut(strings.Join(*said, "\n"), fmt.Sprintf("%d images skipped: hidden (the name begins with a dot) or in __MACOSX: ", len(hidden)))
		if first, _, _ := strings.Cut(named, ","); !hidden[first] {
			t.Errorf("notes %q", *said)
		}
		if s.Fingerprint != before.Fingerprint {
			t.Error("hidden files make another set")
		}
		sameSet(t, contents(t, out), contents(t, plain))
	}
}

func TestHiddenDirectoriesMayBeUnreadable(t *testing.T) {
	src := directories(t, 6)
	put(t, src, ".trash/1.png", pngOf(1))
	if err := os.Chmod(filepath.Join(src, ".trash"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(src, ".trash"), 0o755) })
	if s := mustImages(t, src, t.TempDir(), ImageOptions{}); s.Records != 6 {
		t.Errorf("%+v", s)
	}
	// A name in a table is as good as a listed one.
	put(t, src, ".kept/1.png", pngOf(1))
	file := filepath.Join(t.TempDir(), "l.csv")
	put(t, filepath.Dir(file), "l.csv", []byte("path,label\n.kept/1.png,a\nc0/000.png,b\n"))
	if s := mustImages(t, src, t.TempDir(), ImageOptions{Labels: LabelSpec{File: file}}); s.Records != 2 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
}

func TestMasksAreNoted(t *testing.T) {
	for _, c := range []struct {
		files string
		o     ImageOptions
		want  string
	}{
		{"images/1.png masks/1.png", ImageOptions{}, "images and masks are taken as classes: if masks holds masks of the images in images, leave it out with SelectSpec.Exclude '**/masks/**', and give LabelSpec.None"},
		{"train/images/1.png train/masks/1.png val/images/1.png val/masks/1.png", ImageOptions{}, "images and masks are taken as classes"},
		{"JPEGImages/1.png SegmentationClass/1.png Annotations/1.xml ImageSets/1.txt", ImageOptions{}, "leave it out with SelectSpec.Exclude '**/SegmentationClass/**'"},
		{"images/1.png annotations/1.xml", ImageOptions{}, "images is taken as a class, and annotations is not read: give AnnotationSpec.Files for what is on the images, LabelSpec.None"},
		{"train/images/1.png train/labels/1.txt val/images/2.png val/labels/2.txt", ImageOptions{}, "images is taken as a class, and labels is not read"},
		{"train/Images/1.png train/Masks/1.png", ImageOptions{}, "SelectSpec.Exclude '**/Masks/**'"},
		{"images/1.png masks/1.png", ImageOptions{Labels: LabelSpec{None: true}}, "the images in masks become samples, too"},
		{"images/1.png masks/1.png", ImageOptions{Labels: LabelSpec{None: true}, Select: SelectSpec{Exclude: []string{"**/masks/**"}}}, ""},
		{"images/1.png annotations/1.xml", ImageOptions{Labels: LabelSpec{None: true}}, ""},
		{"images/1.png masks/1.png cats/1.png", ImageOptions{}, ""},
		{"masks/1.png hats/1.png", ImageOptions{}, ""},
		{"a/images/1.png a/masks/1.png", ImageOptions{}, ""},
	} {
		src := filepath.Join(t.TempDir(), "s")
		for i, f := range strings.Fields(c.files) {
			put(t, src, f, pngOf(i))
		}
		said := notes(&c.o.Options)
		mustImages(t, src, t.TempDir(), c.o)
		if n := strings.Join(*said, "\n"); !strings.Contains(n, c.want) || c.want == "" && n != "" {
			t.Errorf("%s: notes %q, want %q", c.files, n, c.want)
		}
	}
}

// TestSplitsThatAreRenamed: a set made when validation was a separate split is updated, and nothing
// of the old split remains.
func TestSplitsThatAreRenamed(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "s"), t.TempDir()
	for i := range 12 {
		put(t, src, fmt.Sprintf("train/c%d/%d.png", i%2, i), pngOf(i))
		put(t, src, fmt.Sprintf("testing/c%d/%d.png", i%2, i), pngOf(100+i))
	}
	o := ImageOptions{Options: Options{Name: "n"}}
	mustImages(t, src, out, o)
	if err := os.Rename(filepath.Join(src, "testing"), filepath.Join(src, "valid")); err != nil {
		t.Fatal(err)
	}
	s := mustImages(t, src, out, o)
	if s.Status != Updated || s.ShardsKept != 1 || s.Splits["val"].Records != 12 {
		t.Errorf("%+v", s)
	}
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil || len(m.Splits) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	fresh := t.TempDir()
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
}

// A source that is the parent of the intended directory makes everything one class, which is noted.
// Classes with directories of their own are not suspicious.
func TestASingleClassOfDirectoriesIsNoted(t *testing.T) {
	for tree, want := range map[string]string{
		"flowers/train/cat flowers/val/dog":       "split directories (train, val): to use them, convert SRC/flowers",
		"flowers/Training flowers/test":           "split directories (Training, test): to use them, convert SRC/flowers",
		"flowers/train":                           "split directories (train): to use them, convert SRC/flowers",
		"flowers/cat flowers/dog":                 "if the directories in it (cat, dog) are the classes, convert SRC/flowers",
		"f/a f/b f/c f/d f/train":                 "(a, b, c and 2 more)",
		"flowers":                                 "",
		"flowers/2021":                            "",
		"flowers flowers/train flowers/val":       "",
		"flowers/train/cat flowers/val/dog other": "",
		"train/flowers/cat train/flowers/dog":     "",
		"flowers/images flowers/masks":            "",
	} {
		src := filepath.Join(t.TempDir(), "src")
		for i, dir := range strings.Fields(tree) {
			put(t, src, dir+"/x.png", pngOf(i))
		}
		var o ImageOptions
		said := notes(&o.Options)
		o.DryRun = true
		mustImages(t, src, filepath.Join(t.TempDir(), "out"), o)
		got := strings.Join(*said, "; ")
		if want == "" && strings.Contains(got, "only class") || !strings.Contains(got, strings.ReplaceAll(want, "SRC", src)) {
			t.Errorf("%s: notes %q, want %q", tree, got, want)
		}
		*said = nil
		o.Labels.None = true
		mustImages(t, src, filepath.Join(t.TempDir(), "out"), o)
		if strings.Contains(strings.Join(*said, ""), "only class") {
			t.Errorf("%s without labels: notes %q", tree, *said)
		}
	}
}

// TestImagesWithoutClassesAreHelped: the error for images in no class directory names the file or
// directory of the source that may label them, with the option that reads it. An archive gets no such
// hint: options do not name its members.
func TestImagesWithoutClassesAreHelped(t *testing.T) {
	for names, want := range map[string]string{
		"1.png train.csv":                                        "if SRC/train.csv says what is on the images, name it with LabelSpec.File",
		"1.png readme.csv":                                       "",
		"1.png sample_submission.csv":                            "",
		"1.png metadata.json":                                    "",
		"1.png instances_train2017.json":                         "if SRC/instances_train2017.json says what is on the images, name it with AnnotationSpec.Files",
		"train/1.png train/_annotations.coco.json":               "if SRC/train/_annotations.coco.json says",
		"train/1.png train/_annotations.csv":                     "if SRC/train/_annotations.csv says what is on the images, name it with AnnotationSpec.Files",
		"1.png labels/1.txt":                                     "if SRC/labels has what is on the images, name it with AnnotationSpec.Files",
		"1.png a/Annotations/1.xml":                              "if SRC/a/Annotations has what is on the images",
		"train/1.png train/labels/1.txt":                         "if SRC/train/labels has what is on the images",
		"images/train/1.png labels/train/1.txt images/val/2.png": "if SRC/labels has what is on the images",
		"train/1.png test/2.png classes.txt":                     "",
	} {
		src, files := t.TempDir(), map[string]string{}
		for i, name := range strings.Fields(names) {
			files[name] = "text"
			if strings.HasSuffix(name, ".png") {
				files[name] = string(pngOf(i))
			}
		}
		writeTree(t, src, files)
		want = strings.ReplaceAll(want, "SRC", src)
		err := errWithoutClasses(t, src)
		if !strings.Contains(err, want) || want == "" && strings.Contains(err, "; if ") {
			t.Errorf("%s: %s, want %q in it", names, err, want)
		}
		packed := filepath.Join(t.TempDir(), "packed.tar")
		packFiles(t, packed, 1, files)
		if err := errWithoutClasses(t, packed); strings.Contains(err, "; if ") {
			t.Errorf("%s in an archive: %s", names, err)
		}
	}
	rnd := torture.Rand(t)
	for range 20 {
		src := filepath.Join(t.TempDir(), "s p")
		put(t, src, "0.png", pngOf(0))
		helps := false
		for i := range rnd.IntN(4) {
			name := []string{"readme.md", "labels.csv", "instances_x.json", "metadata.json", "Labels/1.txt", "masks/1.txt"}[rnd.IntN(6)]
			helps = helps || slices.Contains([]string{"labels.csv", "instances_x.json", "Labels/1.txt"}, name)
			put(t, src, strings.Repeat(fmt.Sprintf("d%d/", i), rnd.IntN(3))+name, []byte("text"))
		}
		err := errWithoutClasses(t, src)
		_, hint, found := strings.Cut(err, "; if ")
		if found != helps {
			t.Errorf("%s: a hint is %t, want %t", err, found, helps)
		}
		if found { // a path that exists, as the options take it
			path, _, _ := strings.Cut(strings.Replace(hint, " says what", " has what", 1), " has what")
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", hint, err)
			}
		}
	}
}

// errWithoutClasses returns the error for a source with images in no class directory.
func errWithoutClasses(t *testing.T, src string) string {
	t.Helper()
	_, err := Images(t.Context(), src, t.TempDir(), ImageOptions{})
	if err == nil || !strings.Contains(err.Error(), "in no class directory") {
		t.Fatalf("%s: %v", src, err)
	}
	return err.Error()
}
