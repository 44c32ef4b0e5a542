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
	for range 2000 {
		seen := map[string]bool{}
		for range 1 + rng.IntN(8) {
			p := ""
			for range rng.IntN(3) {
				p += string(rune('a'+rng.IntN(2))) + "/"
			}
			seen[p+fmt.Sprint(rng.IntN(3))+".png"] = true
		}
		var images []string
		for p := range seen {
			images = append(images, p)
		}
		slices.Sort(images)
		l := List{Split: "train", Source: "list", Bare: rng.IntN(2) == 0}
		name := images[rng.IntN(len(images))]
		switch rng.IntN(4) {
		case 0:
			name = "x/" + name
		case 1:
			name = path.Base(name)
		case 2:
			name = "..\\b\\" + path.Base(name)
		}
		if l.Bare {
			name = strings.TrimSuffix(name, ".png")
		}
		l.Names = []string{name}
		want, most, twice := -1, -1, false
		for i, image := range images {
			if l.Bare {
				image = strings.TrimSuffix(image, ".png")
			}
			a, b := strings.Split(image, "/"), names(name)
			n := 0
			for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
				n++
			}
			if n > most && n > 0 {
				want, most, twice = i, n, false
			} else if n == most {
				twice = true
			}
		}
		a, err := Assign([]List{l}, images)
		if twice != (err != nil) {
			t.Fatalf("%q in %q: %v", name, images, err)
		}
		if err == nil && (want < 0 || a.Of[want] != 0 || a.Images[0] != 1) {
			t.Fatalf("%q in %q: %+v, want %d", name, images, a, want)
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
