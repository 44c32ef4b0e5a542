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

	"github.com/tfrec/tfrec/internal/storage"
)

func TestMayState(t *testing.T) {
	for file, want := range map[string]bool{
		"data.yaml": true, "Data.YML": true, "obj.data": true, "train.txt": true, "Valid.TXT": true, "test2017.txt": true,
		"ImageSets/Main/train.txt": true, "ImageSets/x.txt": true, "a/b/ImageSets/Layout/x.txt": true,
		"classes.txt": false, "a/train.txt": false, "a/data.yaml": false, "ImageSets/a/b/train.txt": false, "ImageSets/Main/train.xml": false, "": false,
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
		l := List{Split: "train", Source: "list", Bare: rng.IntN(2) == 0, Below: []string{"", "", "a", "b/a"}[rng.IntN(4)]}
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
		if l.Bare {
			name = strings.TrimSuffix(name, path.Ext(name))
		}
		l.Names = []string{name}
		want, most, twice := -1, 0, -1
		for i, image := range images {
			if l.Below != "" && !strings.HasPrefix(image, l.Below+"/") {
				continue
			}
			if l.Bare {
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
		a, err := Assign([]List{l}, images)
		if twice >= 0 && (err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(" may be %s and %s", images[want], images[twice]))) || twice < 0 && err != nil {
			t.Fatalf("%q below %q in %q: %v", name, l.Below, images, err)
		}
		switch {
		case err != nil:
		case want < 0 && (a.Images[0] != 0 || a.Unmatched[0] != 1 || a.FirstUnmatched[0] != name), want >= 0 && (a.Of[want] != 0 || a.Images[0] != 1):
			t.Fatalf("%q below %q in %q: %+v, want %d", name, l.Below, images, a, want)
		}
	}
}

// TestAssignFrames gives the images of many directories the same names, as the frames of videos have:
// trying all images of a name would take minutes.
func TestAssignFrames(t *testing.T) {
	const videos = 1 << 16
	var images []string
	lists := []List{{Split: "train"}, {Split: "val", Bare: true}}
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
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
		for i := range files {
			lists, err := Read(t.Context(), storage.Parse(dir), files[i:i+1])
			if err != nil && !strings.Contains(err.Error(), path.Base(files[i])) {
				t.Errorf("%s: %v", files[i], err)
			}
			if _, err := Assign(lists, []string{"a/1.png", "b/1.png"}); err != nil && !strings.Contains(err.Error(), files[i]) {
				t.Errorf("%s: %v", files[i], err)
			}
		}
	})
}
