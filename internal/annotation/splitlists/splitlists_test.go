package splitlists

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

func TestMayState(t *testing.T) {
	for file, want := range map[string]bool{
		"data.yaml": true, "Data.YML": true, "obj.data": true, "train.txt": true, "Valid.TXT": true, "test2017.txt": true,
		"ImageSets/Main/train.txt": true, "ImageSets/x.txt": true, "a/b/ImageSets/Layout/x.txt": true,
		"a/train.txt": true, "a/data.yaml": true, "ImageSets/a/b/train.txt": true,
		"classes.txt": false, "a/obj.data": false, "ImageSets/a/b/x.txt": false, "ImageSets/Main/train.xml": false, "": false,
	} {
		if MayState(file) != want {
			t.Errorf("%q: %v", file, !want)
		}
	}
}

// TestAssign compares Assign with a judge that tries all images for each name.
func TestAssign(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	dirs, extensions := []string{"a/", "b/", "ab/", "ba/"}, []string{".png", ".jpeg"}
	random := func() (p string) { // names that others end in, or begin with
		for range rng.IntN(4) {
			p += dirs[rng.IntN(len(dirs))]
		}
		return p + []string{"0", "10", "a0"}[rng.IntN(3)] + extensions[rng.IntN(2)]
	}
	for range 10000 {
		seen := map[string]bool{}
		for range 1 + rng.IntN(12) {
			seen[random()] = true
		}
		var images []string
		for p := range seen {
			images = append(images, p)
		}
		slices.Sort(images)
		l := List{Split: "train", Source: "list", Below: []string{"", "", "a", "b/a"}[rng.IntN(4)]}
		name := images[rng.IntN(len(images))]
		switch rng.IntN(5) {
		case 0:
			name = "x/" + name
		case 1:
			name = path.Base(name)
		case 2:
			name = "..\\b\\" + path.Base(name)
		case 3:
			name = random()
		}
		order := []bool{false, true}
		if rng.IntN(2) == 0 {
			name, order = strings.TrimSuffix(name, path.Ext(name)), []bool{true, false}
		}
		line := name + []string{"", "", " 1", " -1", "  0 12", "\t3"}[rng.IntN(6)]
		l.Names = []string{line}
		want, twice := -1, -1
		for _, bare := range order {
			most := 0
			for i, image := range images {
				if l.Below != "" && !strings.HasPrefix(image, l.Below+"/") {
					continue
				}
				if bare {
					image = strings.TrimSuffix(image, path.Ext(image))
				}
				a, b := strings.Split(image, "/"), names(name)
				n := 0
				for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
					n++
				}
				if n > most {
					want, most, twice = i, n, -1
				} else if n == most && n > 0 {
					twice = i
				}
			}
			if want >= 0 {
				break
			}
		}
		a, err := Assign([]List{l}, images)
		if twice >= 0 && (err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(" may be %s and %s", images[want], images[twice]))) || twice < 0 && err != nil {
			t.Fatalf("%q below %q in %q: %v", line, l.Below, images, err)
		}
		switch {
		case err != nil:
		case want < 0 && (a.Images[0] != 0 || a.Unmatched[0] != 1 || a.FirstUnmatched[0] != line), want >= 0 && (a.Of[want] != 0 || a.Images[0] != 1):
			t.Fatalf("%q below %q in %q: %+v, want %d", line, l.Below, images, a, want)
		}
		l.Tentative = true
		if a, err := Assign([]List{l}, images); err != nil || (a.Roles[0] == Used) != (want >= 0 && twice < 0) {
			t.Fatalf("%q, tentative: %+v, %v", line, a, err)
		}
	}
}

// TestForms gives several forms of lists for the same images.
func TestForms(t *testing.T) {
	images := []string{"JPEGImages/0.jpg", "JPEGImages/1.jpg", "JPEGImages/2.jpg", "set/a/7.png", "set/fold1/8.png"}
	for _, c := range []struct{ files, want string }{
		{"ImageSets/Main/train.txt=0 ImageSets/Main/val.txt=1.jpg", "train val"},
		{"ImageSets/Main/train.txt=0 ImageSets/Segmentation/val.txt=1", "train"},
		{"ImageSets/Main/train.txt=0 ImageSets/Segmentation/val.txt=0", "JPEGImages/0.jpg is in the split train by ImageSets/Main/train.txt, and in val by ImageSets/Segmentation/val.txt"},
		{"ImageSets/Main/val.txt=0 ImageSets/Segmentation/trainval.txt=0,1", "val"},
		{"ImageSets/Layout/train.txt=0_1,0_2 ImageSets/Layout/val.txt=1_1", "train val"},
		{"ImageSets/Main/train.txt=0 ImageSets/Main/dog_train.txt=0_1,1_-1", "train"},
		{"ImageSets/Main/trainval.txt=0 ImageSets/Main/train.txt=1 ImageSets/Main/test.txt=2", "trainval train test"},
		{"ImageSets/Main/trainval.txt=0,1 ImageSets/Main/train.txt=1 ImageSets/Main/val.txt=0", "val train"},
		{"train.txt=JPEGImages/0,JPEGImages/1 val.txt=JPEGImages/2", "train train val"},
		{"train.txt=JPEGImages/0.jpg_0,JPEGImages/2.jpg_7", "train  train"},
		{"train.txt=0,9", ""},
		{"test.txt=0,9 train.txt=1 val.txt=some_words", "test train"},
		{"test.txt=0,9 train.txt=1.jpg", "test train"},
		{"train.txt=0.jpg,9.jpg", "train"},
		{"train.txt=of_words val.txt=0_1", "val"},
		{"data.yaml=val:none train.txt=0.jpg", "train"},
		{"data.yaml=val:set/a train.txt=7.png", "set/a/7.png is in the split val by data.yaml, and in train by train.txt"},
		{"data.yaml=fold1:set/fold1,train:set/a", "   train fold1"},
		{"data.yaml=a:a,path:set/a", ""},
	} {
		dir := t.TempDir()
		var files []string
		for _, f := range strings.Fields(c.files) {
			name, text, _ := strings.Cut(f, "=")
			put(t, dir, name, strings.NewReplacer(",", "\n", ":", ": ", "_", " ").Replace(text))
			files = append(files, name)
		}
		lists, err := Read(t.Context(), Directory(storage.Parse(dir)), files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var splits []string
		a, err := Assign(lists, images)
		if err == nil {
			for i := range images {
				split, _ := a.Split(lists, i)
				splits = append(splits, split)
			}
		} else {
			splits = append(splits, err.Error())
		}
		if got := strings.TrimRight(strings.Join(splits, " "), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.files, got, c.want)
		}
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestAssignFrames gives the images of many directories the same names, as the frames of videos have:
// trying all images of a name would take minutes.
func TestAssignFrames(t *testing.T) {
	const videos = 1 << 16
	var images []string
	lists := []List{{Split: "train"}, {Split: "val"}}
	for v := range videos {
		for frame := range 2 {
			images = append(images, fmt.Sprintf("videos/%06d/%d.png", v, frame))
			lists[frame].Names = append(lists[frame].Names, strings.TrimSuffix("/home/me/"+images[len(images)-1], []string{"", ".png"}[frame]))
		}
	}
	a, err := Assign(lists, images)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range a.Of {
		if int(k) != i%2 {
			t.Fatalf("%s is in list %d", images[i], k)
		}
	}
}

// FuzzRead reads files of any content: none is an error without its name, and none panics.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"train: images/train\nval: [a, b.txt]\n", "train = train.txt\n", "a/1.png\n", "000001\n", "path: &a [*a]\ntrain: *a\n", "\xff\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		var files []string
		for _, name := range []string{"data.yaml", "x.data", "train.txt", "ImageSets/Main/val.txt"} {
			put(t, dir, name, text)
			files = append(files, name)
		}
		for i := range files {
			lists, err := Read(t.Context(), Directory(storage.Parse(dir)), files[i:i+1], Options{})
			if err != nil && !strings.Contains(err.Error(), path.Base(files[i])) {
				t.Errorf("%s: %v", files[i], err)
			}
			if _, err := Assign(lists, []string{"a/1.png", "b/1.png"}); err != nil && !strings.Contains(err.Error(), files[i]) {
				t.Errorf("%s: %v", files[i], err)
			}
		}
	})
}
