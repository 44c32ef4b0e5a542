package annotation

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

func setOf(format string, names ...string) *Set {
	s := &Set{Format: format}
	for _, name := range names {
		s.Images = append(s.Images, Image{Name: name, Source: name})
	}
	return s
}

func TestMatch(t *testing.T) {
	words := strings.Fields
	for _, c := range []struct {
		what, format, names, images string
		of                          []int
		missing                     []int
		err                         string
	}{
		{what: "nothing", of: []int{}},
		{what: "a path with its extension", format: "coco", names: "a/1.jpg", images: "a/1.jpg", of: []int{0}},
		{what: "without", format: "coco", names: "a/1", images: "a/1.jpg", of: []int{0}},
		{what: "with another", format: "voc", names: "a/1.xml", images: "a/1.png", of: []int{0}},
		{what: "dots in a name", format: "voc", names: "a.b.xml a.xml", images: "a.jpg a.b.jpg", of: []int{1, 0}},
		{what: "dots in a name without an extension", format: "coco", names: "a.b a", images: "a.jpg a.b.jpg", of: []int{1, 0}},
		{what: "dots in a directory", format: "voc", names: "v1.0/a.xml", images: "v1.0/a.jpg", of: []int{0}},
		{what: "an extension chooses", format: "coco", names: "1.png 1.jpg", images: "1.jpg 1.png 2.jpg", of: []int{1, 0, -1}},
		{what: "a base name", format: "voc", names: "1.xml 2.xml", images: "b/2.jpg a/1.jpg", of: []int{1, 0}},
		{what: "a directory that the source lacks", format: "coco", names: "train2017/1.jpg", images: "1.jpg", of: []int{0}},
		{what: "a path before a base name", format: "voc", names: "1.xml a/1.xml", images: "a/1.jpg 1.jpg", of: []int{1, 0}},
		{what: "another case", format: "coco", names: "A/IMG.JPG", images: "a/img.jpg", of: []int{0}},
		{what: "the case decides", format: "coco", names: "a.JPG A.JPG", images: "A.jpg a.jpg", of: []int{1, 0}},
		{what: "cases that do not decide", format: "coco", names: "aA.jpg", images: "AA.jpg aa.jpg", err: `"aA.jpg" are of: "AA.jpg" or "aa.jpg"`},
		{what: "no annotation, no image", format: "voc", names: "1.xml 2.xml", images: "2.jpg 3.jpg", of: []int{1, -1}, missing: []int{0}},
		{what: "an annotation too many", format: "voc", names: "1.xml sub/1.xml", images: "1.jpg", of: []int{0}, missing: []int{1}},
		{what: "an image too many", format: "voc", names: "1.xml", images: "1.jpg sub/1.jpg", of: []int{0, -1}},
		{what: "two annotations by base name", format: "voc", names: "a/1.xml b/1.xml", images: "1.jpg", err: `the image "1.jpg" has: "a/1.xml" or "b/1.xml"`},
		{what: "two images by base name", format: "voc", names: "1.xml", images: "a/1.jpg b/1.jpg", err: `"1.xml" are of: "a/1.jpg" or "b/1.jpg"`},
		{what: "two images by extension", format: "voc", names: "1.xml", images: "1.jpg 1.png", err: `"1.xml" are of: "1.jpg" or "1.png"`},
		{what: "one file twice", format: "coco", names: "1.jpg 1.jpg", images: "1.jpg", err: `"1.jpg" or "1.jpg"`},
		{what: "one file twice, without an image", format: "coco", names: "1.jpg 1.jpg", images: "2.jpg", of: []int{-1}, missing: []int{0, 1}},
		{what: "an image that was removed", format: "voc", names: "train/1.xml", images: "train/2.jpg val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "labels and images", format: "yolo", names: "labels/train/1.txt labels/val/1.txt", images: "images/val/1.jpg images/train/1.jpg", of: []int{1, 0}},
		{what: "labels below images", format: "yolo", names: "labels/train/1.txt labels/val/1.txt", images: "val/1.jpg train/1.jpg", of: []int{1, 0}},
		{what: "labels in each split", format: "yolo", names: "train/labels/1.txt val/labels/1.txt", images: "val/images/1.jpg train/images/1.jpg", of: []int{1, 0}},
		{what: "VOCdevkit", format: "voc", names: "VOC2007/Annotations/1.xml VOC2012/Annotations/1.xml", images: "VOC2007/JPEGImages/1.jpg VOC2012/JPEGImages/1.jpg", of: []int{0, 1}},
		{what: "another root", format: "coco", names: "../images/train/1.jpg ../images/val/1.jpg", images: "images/train/1.jpg images/val/1.jpg", of: []int{0, 1}},
		{what: "an absolute path", format: "coco", names: "/images/train/1.jpg /images/val/1.jpg", images: "images/train/1.jpg images/val/1.jpg", of: []int{0, 1}},
		{what: "a root that the source lacks", format: "coco", names: "data/val/1.jpg data/train/1.jpg", images: "images/train/1.jpg images/val/1.jpg", of: []int{1, 0}},
		{what: "a root that the annotations lack", format: "coco", names: "train/1.jpg val/1.jpg", images: "data/train/1.jpg data/val/1.jpg", of: []int{0, 1}},
		{what: "other roots", format: "labelme", names: "json/train/1.json json/val/1.json", images: "img/train/1.jpg img/val/1.jpg", of: []int{0, 1}},
		{what: "the longest tail", format: "coco", names: "x/b/train/1.jpg x/c/train/1.jpg", images: "b/train/1.jpg c/train/1.jpg", of: []int{0, 1}},
		{what: "a tail in another case", format: "coco", names: "x/Train/A.JPG", images: "train/a.jpg val/a.jpg", of: []int{0, -1}},
		{what: "a tail and an extension", format: "coco", names: "x/train/1.png x/train/1.jpg", images: "train/1.jpg train/1.png", of: []int{1, 0}},
		{what: "a format's directories in another case", format: "yolo", names: "train/Labels/1.txt val/Labels/1.txt", images: "train/Images/1.jpg val/Images/1.jpg", of: []int{0, 1}},
		{what: "these outside", format: "yolo", names: "Labels/train/1.txt Labels/val/1.txt", images: "Images/train/1.jpg Images/val/1.jpg", of: []int{0, 1}},
		{what: "removed, of a longer path", format: "coco", names: "images/train/1.jpg", images: "train/2.jpg val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, of a shorter path", format: "coco", names: "train/1.jpg", images: "data/train/2.jpg data/val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, beside the images", format: "labelme", names: "json/train/1.json", images: "train/2.jpg val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, below another root", format: "yolo", names: "ds/labels/train/1.txt", images: "train/2.jpg val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, in another case", format: "voc", names: "Train/1.xml", images: "train/2.jpg val/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, with a directory of the same name elsewhere", format: "voc", names: "train/1.xml", images: "train/2.jpg old/train/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "removed, with more directories of the same names elsewhere", format: "voc", names: "x/a/train/1.xml", images: "a/train/2.jpg b/train/1.jpg", of: []int{-1, -1}, missing: []int{0}},
		{what: "an image that is left over", format: "voc", names: "train/1.xml 1.xml", images: "train/1.jpg val/1.jpg", err: `cannot tell whether the annotations "1.xml" are of the image "val/1.jpg": they fit others`},
		{what: "two images that are left over", format: "voc", names: "train/1.xml 1.xml", images: "train/1.jpg val/1.jpg z/1.jpg", err: `"1.xml" are of: "val/1.jpg" or "z/1.jpg"; remove one`},
		{what: "a table's ids", format: "csv", names: "00a 00b", images: "train/00a.jpg train/00b.png", of: []int{0, 1}},
		{what: "a table's advice", format: "csv", names: "1.jpg", images: "a/1.jpg b/1.jpg", err: `the annotations "1.jpg" are of: "a/1.jpg" or "b/1.jpg"; correct the names in the table`},
		{what: "COCO's advice", format: "coco", names: "1.jpg", images: "a/1.jpg b/1.jpg", err: `"a/1.jpg" or "b/1.jpg"; correct file_name`},
		{what: "KITTI", format: "kitti", names: "training/label_2/1.txt", images: "testing/image_2/1.png training/image_2/1.png", of: []int{-1, 0}},
	} {
		m, err := setOf(c.format, words(c.names)...).Match(words(c.images))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", c.what, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.what, err)
		case !slices.Equal(m.Of, c.of) || !slices.Equal(m.Missing, c.missing):
			t.Errorf("%s: matched %v, missing %v; want %v and %v", c.what, m.Of, m.Missing, c.of, c.missing)
		}
	}
}

// match is a plain model of Match for YOLO: it compares all annotations with all images. It returns
// nil if two fit equally.
func match(names, images []string) []int {
	bare := func(s string) string { return s[:len(s)-len(path.Ext(s))] }
	apart := func(s, dir string) string {
		parts := strings.Split(s, "/")
		for i := len(parts) - 2; i >= 0; i-- {
			if parts[i] == dir {
				return path.Join(slices.Delete(parts, i, i+1)...)
			}
		}
		return s
	}
	dirs := func(s, layout string) []string {
		return strings.Split(strings.ToLower(path.Dir(apart(s, layout))), "/")
	}
	// common is how many directories two lists end in; none of those without directories.
	common := func(a, b []string) (n int) {
		for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] && a[0] != "." && b[0] != "." {
			n++
		}
		return n
	}
	home := func(n string) (most int) {
		in := dirs(n, "labels")
		for _, p := range images {
			at := dirs(p, "images")
			if most = max(most, common(in, at)); slices.Equal(in, at) && in[0] != "." {
				return -1
			}
		}
		return most
	}
	fits := []func(n, p string) bool{
		func(n, p string) bool { return n == p },
		func(n, p string) bool { return n == bare(p) },
		func(n, p string) bool { return bare(n) == bare(p) },
		func(n, p string) bool { return bare(apart(n, "labels")) == bare(apart(p, "images")) },
		func(n, p string) bool {
			return strings.EqualFold(bare(apart(n, "labels")), bare(apart(p, "images")))
		},
	}
	exact := len(fits)
	const most = 4
	for k := most; k >= 0; k-- {
		for _, same := range []func(n, p string) bool{
			func(n, p string) bool { return n == p },
			func(n, p string) bool { return n == bare(p) },
			func(n, p string) bool { return bare(n) == bare(p) },
			func(n, p string) bool { return strings.EqualFold(bare(n), bare(p)) },
		} {
			fits = append(fits, func(n, p string) bool {
				return common(dirs(n, "labels"), dirs(p, "images")) >= k && same(path.Base(n), path.Base(p))
			})
		}
	}
	of, used := slices.Repeat([]int{-1}, len(images)), map[int]bool{}
	for k, fit := range fits {
		for i, n := range names {
			if used[i] || k >= exact && most-(k-exact)/4 != home(n) {
				continue
			}
			var js []int
			free, rivals := false, 0
			for j, p := range images {
				if fit(n, p) {
					js, free = append(js, j), free || of[j] < 0
				}
			}
			if !free {
				continue
			}
			for _, other := range names {
				if fit(other, images[js[0]]) {
					rivals++
				}
			}
			if len(js) > 1 || rivals > 1 {
				return nil
			}
			of[js[0]], used[i] = i, true
		}
	}
	return of
}

func TestMatchLikeTheModel(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func(dirs, exts []string) string {
		return path.Join(pick(dirs...), pick(dirs...), pick(dirs...), pick("1", "2", "3", "4", "a", "A", "1.2")+pick(exts...))
	}
	matched, errs := 0, 0
	for range 20000 {
		var names, images []string
		for range r.IntN(5) {
			names = append(names, name([]string{"", "", "labels", "train", "Train", "x"}, []string{".txt", ".txt", "", ".jpg"}))
		}
		for range r.IntN(5) {
			images = append(images, name([]string{"", "", "images", "train", "val"}, []string{".jpg", ".jpg", ".png"}))
		}
		slices.Sort(images)
		images = slices.Compact(images)
		m, err := setOf("yolo", names...).Match(images)
		want := match(names, images)
		if (err != nil) != (want == nil && len(images) > 0) {
			t.Fatalf("%q in %q: error %v, want %v", names, images, err, want)
		}
		if err != nil {
			errs++
			continue
		}
		if !slices.Equal(m.Of, want) {
			t.Fatalf("%q in %q: %v, want %v", names, images, m.Of, want)
		}
		for i := range names {
			if slices.Contains(m.Of, i) == slices.Contains(m.Missing, i) {
				t.Fatalf("%q in %q: annotation %d is matched %v, missing %v", names, images, i, m.Of, m.Missing)
			}
			matched++
		}
	}
	if matched < 10000 || errs < 500 {
		t.Errorf("only %d matches and %d errors: the cases are too easy", matched, errs)
	}
}

// BenchmarkMatch is of a million images in 1,000 directories. Names match as they are, without
// extensions, or, if annotations are flat, by base name, which is one of the last comparisons.
func BenchmarkMatch(b *testing.B) {
	for how, change := range map[string]func(string) string{
		"equal": func(name string) string { return name },
		"stem":  func(name string) string { return strings.TrimSuffix(name, "jpg") + "xml" },
		"flat":  path.Base,
	} {
		b.Run(how, func(b *testing.B) {
			s, images := &Set{Format: "voc"}, make([]string, 0, 1e6)
			for i := range cap(images) {
				images = append(images, fmt.Sprintf("%03d/image%07d.jpg", i%1000, i))
				name := change(images[i])
				s.Images = append(s.Images, Image{Name: name, Source: name})
			}
			b.ReportAllocs()
			for b.Loop() {
				if m, err := s.Match(images); err != nil || len(m.Missing) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
