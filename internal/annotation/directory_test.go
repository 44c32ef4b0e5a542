package annotation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// write is annotationtest.Write with names and texts in turns.
func write(t testing.TB, files ...string) string {
	t.Helper()
	texts := map[string]string{}
	for i := 0; i < len(files); i += 2 {
		texts[files[i]] = files[i+1]
	}
	return annotationtest.Write(t, texts)
}

// words has an object for each line.
var words = Format{Name: "kitti", Ext: ".txt", Limit: 100, Memory: 1, Parse: func(im *Image, data []byte) error {
	if bytes.Contains(data, []byte("!")) {
		im.Objects = append(im.Objects, Object{Name: "lost"})
		return errors.New("it has a !")
	}
	for n, line := range Lines(data) {
		im.Objects = append(im.Objects, Object{Name: fmt.Sprint(n, " ", string(line))})
	}
	return nil
}}

// tree says what is in a set.
func tree(s *Set) []string {
	var all []string
	for _, im := range s.Images {
		line := im.Source + ":" + im.Unreadable
		for _, o := range im.Objects {
			line += " " + o.Name
		}
		all = append(all, line)
	}
	for _, f := range s.Faults {
		all = append(all, f.Source+": "+f.Reason)
	}
	return all
}

func TestRead(t *testing.T) {
	files := []string{
		"b.txt", "x\ny", "a/c.TXT", "z", "a.txt", "", "notes.md", "no", ".hidden/1.txt", "no", "a/.2.txt", "no", "__MACOSX/1.txt", "no",
		"bad.txt", "!", "large.txt", strings.Repeat("x", 101), "most.txt", strings.Repeat("x", 100), "a/b/c/d.txt", "deep",
	}
	want := []string{"a.txt:", "a/b/c/d.txt: 1 deep", "a/c.TXT: 1 z", "b.txt: 1 x 2 y", "bad.txt:it has a !", "large.txt:it has more than 100 bytes", "most.txt: 1 " + strings.Repeat("x", 100)}
	dir := write(t, files...)
	objects := storagetest.New()
	for i := 0; i < len(files); i += 2 {
		objects.Put("d/"+files[i], []byte(files[i+1]))
	}
	objects.Put("d/a/", nil) // what consoles make
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return objects, nil })
	for _, at := range []string{dir, "mem://annotation/d"} {
		for _, workers := range []int{0, 1, 7} {
			s, err := words.Read(t.Context(), at, Options{Workers: workers})
			if err != nil {
				t.Fatal(at, err)
			}
			if got := tree(s); !slices.Equal(got, want) {
				t.Errorf("%s, %d workers:\n got %q\nwant %q", at, workers, got, want)
			}
		}
	}
}

func TestReadOnlyWhereTheFormatKeepsAnnotations(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{[]string{"a.txt", "", "s/label_2/b.txt", "", "label_2/c/d.txt", "", "label_20/e.txt", ""}, []string{"label_2/c/d.txt:", "s/label_2/b.txt:"}},
		{[]string{"a.txt", "", "label_20/e.txt", "", "f/label_2.txt", ""}, []string{"a.txt:", "f/label_2.txt:", "label_20/e.txt:"}},
	} {
		s, err := words.Read(t.Context(), write(t, c.files...), Options{})
		if err != nil || !slices.Equal(tree(s), c.want) {
			t.Errorf("%q: %v, %v, want %q", c.files, tree(s), err, c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	dir, other := write(t, "a.txt", "x", "is.txt/inside.txt", "z"), write(t, "b.txt", "y", "label_2/c.txt", "z")
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	link(filepath.Join(other, "b.txt"), "b.txt")
	link(other, "dir.txt")
	link(other, "linked")
	link(dir, "loop")
	s, err := words.Read(t.Context(), dir, Options{})
	const reason = ": a symbolic link to a directory, which is not followed: give that directory"
	want := []string{"a.txt: 1 x", "b.txt: 1 y", "dir.txt:it is not a regular file", "is.txt/inside.txt: 1 z", "linked" + reason, "loop" + reason}
	if err != nil || !slices.Equal(tree(s), want) {
		t.Errorf("%q, %v, want %q", tree(s), err, want)
	}
	link(write(t, "1.jpg", "", "sub/2.jpg", "", ".hidden/3.txt", ""), "images")
	link(write(t, "1.jpg", "", "sub/a/3.txt", ""), "deep")
	want = slices.Insert(want, 4, "deep"+reason)
	if s, err = words.Read(t.Context(), dir, Options{}); err != nil || !slices.Equal(tree(s), want) {
		t.Errorf("%q, %v", tree(s), err)
	}
	link(filepath.Join(other, "label_2"), "label_2")
	if s, err = words.Read(t.Context(), dir, Options{}); err != nil || !slices.Equal(tree(s), []string{"label_2" + reason}) {
		t.Errorf("%q, %v", tree(s), err)
	}
	if err := os.Symlink("nothing", filepath.Join(other, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := words.Read(t.Context(), other, Options{}); err != nil {
		t.Error("only label_2 counts:", err)
	}
	if err := os.RemoveAll(filepath.Join(other, "label_2")); err != nil {
		t.Fatal(err)
	}
	s, err = words.Read(t.Context(), other, Options{})
	if want := []string{"b.txt: 1 y", "gone.txt:it is a symbolic link to a file that does not exist"}; err != nil || !slices.Equal(tree(s), want) {
		t.Errorf("a link to nothing: %q, %v", tree(s), err)
	}
}

func TestReadFails(t *testing.T) {
	if _, err := words.Read(t.Context(), write(t, "a.md", ""), Options{}); err == nil || !strings.Contains(err.Error(), "it has no .txt files") {
		t.Error("no files:", err)
	}
	if _, err := words.Read(t.Context(), filepath.Join(t.TempDir(), "none"), Options{}); !storage.Missing(err) {
		t.Error("no directory:", err)
	}
	if _, err := words.Read(t.Context(), filepath.Join(write(t, "a.txt", ""), "a.txt"), Options{}); err == nil {
		t.Error("a file was read as a directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var parsed atomic.Int32
	stop := Format{Name: "kitti", Ext: ".txt", Limit: 100, Memory: 1, Parse: func(*Image, []byte) error { parsed.Add(1); cancel(); return nil }}
	var files []string
	for i := range 100 {
		files = append(files, fmt.Sprint(i, ".txt"), "")
	}
	dir := write(t, files...)
	if _, err := stop.Read(ctx, dir, Options{Workers: 2}); !errors.Is(err, context.Canceled) || parsed.Load() > 2 {
		t.Errorf("canceled: %v after %d files", err, parsed.Load())
	}
	if _, err := words.Read(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Error("canceled before:", err)
	}
}

func TestRefuse(t *testing.T) {
	im := Image{Source: "a.xml"}
	for i := range maxFaults {
		if err := im.Refuse(fmt.Sprint("object ", i+1), int64(i), strings.Repeat("é", 1000)); err != nil {
			t.Fatal(i, err)
		}
	}
	if f := im.Faults[1]; f.Name != "object 2" || f.Line != 1 || f.Source != "a.xml" || f.Reason != strings.Repeat("é", 150)+"..." {
		t.Errorf("%+v", f)
	}
	if err := im.Refuse("x", 0, "y"); err == nil || len(im.Faults) != maxFaults {
		t.Errorf("%v, %d faults", err, len(im.Faults))
	}
}

func TestLines(t *testing.T) {
	var got []string
	for n, line := range Lines([]byte("\r\na \r\n\n b\tc\n\td")) {
		got = append(got, fmt.Sprint(n, ":", string(line)))
	}
	if want := []string{"2:a", "4:b\tc", "5:d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range Lines([]byte("a\nb")) {
		break
	}
}

func TestNames(t *testing.T) {
	var n Names
	index := func(name string) int32 {
		i, err := n.Index([]byte(name))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	s := &Set{Images: []Image{{Objects: []Object{{Name: "b", Class: index("b")}, {Name: "Z", Class: index("Z")}}}, {Objects: []Object{{Name: "b", Class: index("b")}}}}}
	index("unused")
	n.Assign(s)
	if want := []Class{{1, "Z"}, {2, "b"}}; !reflect.DeepEqual(s.Classes, want) {
		t.Errorf("classes %v, want %v", s.Classes, want)
	}
	for _, im := range s.Images {
		for _, o := range im.Objects {
			if s.Classes[o.Class].Name != o.Name {
				t.Errorf("%s became %s", o.Name, s.Classes[o.Class].Name)
			}
		}
	}
	for _, name := range []string{"", strings.Repeat("x", 1025)} {
		if _, err := n.Index([]byte(name)); err == nil {
			t.Errorf("a name of %d bytes is accepted", len(name))
		}
	}
}

// Images are in the order of the names that their files give them.
func TestReadSortsByName(t *testing.T) {
	f := Format{Name: "voc", Ext: ".xml", Limit: 100, Memory: 1, Parse: func(im *Image, _ []byte) error {
		im.Name = strings.TrimSuffix(im.Name, ".xml") + ".jpg"
		return nil
	}}
	s, err := f.Read(t.Context(), write(t, "a.xml", "", "a.k.xml", "", "a-.xml", ""), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, im := range s.Images {
		names = append(names, im.Name)
	}
	if want := []string{"a-.jpg", "a.jpg", "a.k.jpg"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
