package images

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// FuzzDirectories exports two images with names and labels of any bytes: there
// are two files with their bytes, under safe names, and nothing outside.
func FuzzDirectories(f *testing.F) {
	for _, name := range []string{"", "/", "//x", "../../x.jpg", "/etc/x", `..\x`, "a/b.jpg", "a/b.jpg/c", "A/B.JPG", "nul", "\xff/\x00", "train/a/b.jpg", strings.Repeat("../", 99)} {
		f.Add(name, "a", "a/b.jpg", "A", "\xff\xd8\xff", int64(0), true)
		f.Add(name, name, name, name, "", int64(-1), false)
		f.Add("x", name, name+".jpg", "", "#!", int64(7), true)
	}
	f.Fuzz(func(t *testing.T, name1, label1, name2, label2, data string, copies int64, several bool) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "out")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		report := new(spec.Report)
		out := NewDirectoryWriter(filetree.Below(root, false, report), &spec.Options{ImageKey: imagekey.Encoded, Filename: imagekey.Filename, OnCollision: spec.Number})
		out.bySplit = several
		for _, c := range [][2]string{{name1, label1}, {name2, label2}} {
			var b tfrecord.Builder
			b.String(imagekey.Encoded, data)
			b.String(imagekey.Filename, c[0])
			b.String(imagekey.Text, c[1])
			b.Int64(imagekey.Copy, copies)
			r := input.Row{Split: "train", Number: report.Files}
			if err := r.Parse(b.Append(nil)); err != nil {
				t.Fatal(err)
			}
			if err := out.add(&r); err != nil {
				t.Fatal(err)
			}
		}
		exporttest.WantOnly(t, parent, "out")
		files := exporttest.Tree(t, dir)
		if len(files) != 2 {
			t.Fatalf("made %q", files)
		}
		if strings.EqualFold(files[0], files[1]) {
			t.Errorf("%q are the same where case does not count", files)
		}
		for _, file := range files {
			for _, part := range strings.Split(file, "/") {
				if strings.HasPrefix(safename.Of(part), "%") && part[0] != '%' || strings.ContainsAny(part, `\:`+"\x00") || len(part) > 255 {
					t.Errorf("made %q", file)
				}
			}
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != data {
				t.Errorf("%s holds %q, %v", file, got, err)
			}
		}
	})
}
