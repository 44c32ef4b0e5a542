package maskcolors

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	cat, dog := Class{"cat", Color{128, 0, 0}}, Class{"dög 2", Color{0, 128, 255}}
	for text, want := range map[string]*List{
		"# label:color_rgb:parts:actions\ncat:128,0,0::\ndög 2:0,128,255::\n": {Classes: []Class{cat, dog}},
		"cat:128,0,0::\r\n\r\n  # x\r\n dög 2 : 0, 128 ,255 :: ":              {Classes: []Class{cat, dog}},
		"\ufeffcat:128,0,0": {Classes: []Class{cat}},
		"cat:128,0,0:\ndög 2:0,128,255:head,hand:run\n#cat:1,2,3::": {Classes: []Class{cat, dog}, Unused: annotation.Fields{"parts": 1, "actions": 1}},
		"#\xff\ncat:128,000,0::":                                    {Classes: []Class{cat}},
	} {
		path := filepath.Join(t.TempDir(), File)
		write(t, path, text)
		if want.Unused == nil {
			want.Unused = annotation.Fields{}
		}
		if got, err := Read(t.Context(), storage.Parse(path)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// many lists n classes of different colors.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "c%d:%d,%d,7::\n", i, i%256, i/256)
	}
	return b.String()
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       ": it lists no class: want lines",
		"# only\n\n":                             ": it lists no class",
		"cat":                                    ":1: it is not a list of colours: want lines NAME:R,G,B",
		"a:1,2,3::\ncat":                         ":2: want lines",
		"a:1,2,3:::\n":                           ":1: want lines",
		"#\n\ncat:::":                            `:3: the colour is "": want three numbers`,
		"cat:1,2::":                              ":1: the colour is",
		"cat:1,2,3,4::":                          ":1: the colour is",
		"cat:1,2,256::":                          ":1: the colour is",
		"cat:1,-2,3::":                           ":1: the colour is",
		"cat:1,+2,3::":                           ":1: the colour is",
		"cat:1,2.0,3::":                          ":1: the colour is",
		"cat:#010203::":                          ":1: the colour is",
		"a:b:1,2,3:":                             ":1: the colour is",
		"a:" + strings.Repeat("\x00", 1e5) + ":": ":1: the colour is",
		" :1,2,3::":                              ":1: the class has no name",
		strings.Repeat("n", annotation.MaxName+1) + ":1,2,3::": ":1: the name of the class has 1025 bytes",
		"a:1,2,3::\n#\nb:1,2,3::":                              ":3: the class b has the colour 1,2,3 of the class on line 1",
		"a:1,2,3::\na:1,2,4::":                                 ":2: the class a is on line 1, too",
		"a:1,2,3::\n\xe4:1,2,4::":                              ":2: it is not UTF-8",
		"\xff\xfea\x00":                                        ": it is UTF-16",
		many(MaxClasses + 1):                                   ":257: more than 256 classes",
		strings.Repeat("#", 1<<20+1):                           "larger than the limit",
	} {
		path := filepath.Join(t.TempDir(), File)
		write(t, path, text)
		_, err := Read(t.Context(), storage.Parse(path))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || len(err.Error()) > 500 {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), File)
	write(t, path, many(MaxClasses))
	if l, err := Read(t.Context(), storage.Parse(path)); err != nil || len(l.Classes) != MaxClasses {
		t.Error(err)
	}
}

// TestParseDamaged changes bytes of a list: parsing never panics, and what it accepts is as List says.
func TestParseDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	accepted := 0
	for range 20_000 {
		text := []byte("# label:color_rgb:parts:actions\nbackground:0,0,0::\ncat:128,0,0:a,b:c\ndog:0,128,0::\n")
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] = "\x00\n:,#12 \xff\r"[r.IntN(10)]
		}
		l, _, err := parse(text[:r.IntN(len(text)+1)])
		if err != nil {
			continue
		}
		accepted++
		names, colors := map[string]bool{}, map[Color]bool{}
		for _, c := range l.Classes {
			if c.Name == "" || names[c.Name] || colors[c.Color] {
				t.Fatalf("%q: %+v", text, l)
			}
			names[c.Name], colors[c.Color] = true, true
		}
	}
	if accepted == 0 {
		t.Error("no list is accepted")
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	masks := filepath.Join(dir, "a", "SegmentationClass")
	if err := os.MkdirAll(masks, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, File), "too far:1,2,3::")
	find := func(from, want string) {
		t.Helper()
		at, found, err := Find(t.Context(), storage.Parse(from))
		if err != nil || found != (want != "") || found && at.Path() != want {
			t.Errorf("%s: %s, %v, %v; want %s", from, at.Path(), found, err, want)
		}
	}
	find(masks, "")
	find(filepath.Join(dir, "none", "none"), "")
	write(t, filepath.Join(dir, "a", File), "a:1,2,3::")
	find(masks+"/", filepath.Join(dir, "a", File))
	t.Chdir(masks)
	find(".", filepath.Join("..", File))
	write(t, filepath.Join(masks, File), "a:1,2,3::")
	find(".", File)
	find(masks, filepath.Join(masks, File))
}
