package export

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// jpegBytes look like a JPEG, and nothing here decodes them.
const jpegBytes = "\xff\xd8\xff\xe0 as it was"

// build adds the features of one record.
type build func(b *tfrecord.Builder)

// write makes a file of Examples in a directory of the test's.
func write(t testing.TB, name string, records ...build) string {
	t.Helper()
	var data []byte
	for _, add := range records {
		var b tfrecord.Builder
		add(&b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// photo is a record of an image of that name and label.
func photo(name, label string) build {
	return func(b *tfrecord.Builder) {
		b.String(imagekey.Encoded, jpegBytes+name)
		b.String(imagekey.Format, "jpeg")
		b.String(imagekey.Filename, name)
		b.String(imagekey.Text, label)
	}
}

// tree returns the files below dir, sorted.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// wantOnly fails when a directory holds anything but these names.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

func exportTo(t *testing.T, out string, o Options, paths ...string) (*Report, error) {
	t.Helper()
	if o.Format == "" {
		o.Format = Directories
	}
	return Export(context.Background(), paths, out, o)
}

func TestDirectoriesPaths(t *testing.T) {
	number := func(key string, n int64) build { return func(b *tfrecord.Builder) { b.Int64(key, n) } }
	both := func(list ...build) build {
		return func(b *tfrecord.Builder) {
			for _, add := range list {
				add(b)
			}
		}
	}
	bare := func(b *tfrecord.Builder) { b.String(imagekey.Encoded, jpegBytes) }
	for _, c := range []struct {
		name string
		rec  build
		want string
	}{
		{"below its class", photo("daisy/1.jpg", "daisy"), "daisy/1.jpg"},
		{"deeper", photo("daisy/old/1.JPEG", "daisy"), "daisy/old/1.JPEG"},
		{"below split and class", photo("train/daisy/1.jpg", "daisy"), "daisy/1.jpg"},
		{"labelled otherwise", photo("a/1.jpg", "daisy"), "daisy/a/1.jpg"},
		{"no label", photo("a/1.jpg", ""), "a/1.jpg"},
		{"an id without a name", both(bare, number(imagekey.Label, 3)), "3/0.jpg"},
		{"nothing but a picture", bare, "0.jpg"},
		{"another extension", photo("daisy/1.png", "daisy"), "daisy/1.png.jpg"},
		{"no extension", photo("daisy/1", "daisy"), "daisy/1.jpg"},
		{"unknown content", func(b *tfrecord.Builder) {
			b.String(imagekey.Encoded, "#!/bin/sh")
			b.String(imagekey.Filename, "run.sh")
		}, "run.sh.bin"},
		{"a variant", both(photo("daisy/1.jpg", "daisy"), number(imagekey.Copy, 2)), "daisy/1#2.jpg"},
		{"an original among variants", both(photo("daisy/1.jpg", "daisy"), number(imagekey.Copy, 0)), "daisy/1.jpg"},
		{"up", photo("../../evil.jpg", "../up"), "%2E.%2Fup/%2E%2E/%2E%2E/evil.jpg"},
		{"absolute", photo("/etc/evil.jpg", "/"), "%2F/%_/etc/evil.jpg"},
		{"backslashes", photo(`..\evil.jpg`, `C:\x`), `C%3A%5Cx/%2E.%5Cevil.jpg`},
		{"hidden", photo(".net/.a.jpg", ".NET"), "%2ENET/%2Enet/%2Ea.jpg"},
		{"a device", photo("aux.jpg", "con"), "%63on/%61ux.jpg"},
		{"NUL", photo("nul\x00l.jpg", "a"), "a/nul%00l.jpg"},
		{"a folder named like a picture", photo("x.jpg/y.jpg", ""), "x%2Ejpg/y.jpg"},
		{"a path of only slashes", photo("//", "a"), "a/%_/%_/%_.jpg"},
		{"too many folders", photo(strings.Repeat("a/", 40)+"b.jpg", "a"), "a/" + safename.Of(strings.Repeat("a/", 39)+"b.jpg")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			report, err := exportTo(t, filepath.Join(dir, "out"), Options{}, write(t, "x.tfrecord", c.rec))
			if err != nil {
				t.Fatal(err)
			}
			wantOnly(t, dir, "out")
			if got := tree(t, filepath.Join(dir, "out")); !slices.Equal(got, []string{c.want}) {
				t.Errorf("made %q, want %q", got, c.want)
			}
			if report.Records != 1 || report.Files != 1 || (report.Renamed == 1) != strings.Contains(c.want, "%") {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestDirectoriesKeepBytesAndSplits(t *testing.T) {
	train := write(t, "x-train.tfrecord-00000-of-00001", photo("train/a/1.jpg", "a"), photo("train/b/1.jpg", "b"))
	val := write(t, "x-val.tfrecord-00000-of-00001", photo("val/a/1.jpg", "a"))
	out := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out, 0o700); err != nil { // an empty directory makes way
		t.Fatal(err)
	}
	if _, err := exportTo(t, out, Options{}, train, val); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train/a/1.jpg", "train/b/1.jpg", "val/a/1.jpg"} {
		if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(got) != jpegBytes+name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if st, err := os.Stat(out); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestDirectoriesRawBecomesPNG(t *testing.T) {
	raw := func(h, w, channels int64) build {
		return func(b *tfrecord.Builder) {
			b.Bytes(imagekey.Encoded, []byte{1, 2, 3, 4, 5, 6})
			b.String(imagekey.Format, "raw")
			b.String(imagekey.Filename, "1.jpg")
			b.Int64(imagekey.Height, h)
			b.Int64(imagekey.Width, w)
			b.Int64(imagekey.Channels, channels)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	if report, err := exportTo(t, out, Options{}, write(t, "x", raw(1, 2, 3))); err != nil || report.Encoded != 1 {
		t.Fatal(report, err)
	}
	data, err := os.ReadFile(filepath.Join(out, "1.jpg.png"))
	if err != nil {
		t.Fatal(err)
	}
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := im.At(1, 0).RGBA(); im.Bounds().Dx() != 2 || r>>8 != 4 || g>>8 != 5 || b>>8 != 6 {
		t.Errorf("%v: %d %d %d", im.Bounds(), r>>8, g>>8, b>>8)
	}
	for _, sides := range [][3]int64{{2, 2, 3}, {1, 3, 2}, {0, 2, 3}, {-1, -2, 3}, {1 << 62, 4, 1}} {
		if _, err := exportTo(t, out+"x", Options{}, write(t, "x", raw(sides[0], sides[1], sides[2]))); err == nil {
			t.Errorf("6 bytes as %v pixels: no error", sides)
		}
	}
}

func TestDirectoriesCollisions(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []build
		want    []string // with numbers
	}{
		{"the same", []build{photo("1.jpg", "a"), photo("1.jpg", "a"), photo("1~2.jpg", "a"), photo("1.jpg", "a")},
			[]string{"a/1.jpg", "a/1~2.jpg", "a/1~2~2.jpg", "a/1~3.jpg"}},
		{"files by case", []build{photo("a.jpg", "x"), photo("A.JPG", "x")}, []string{"x/A~2.JPG", "x/a.jpg"}},
		{"folders by case", []build{photo("1.jpg", "a"), photo("2.jpg", "A"), photo("3.jpg", "A"), photo("3.jpg", "a")},
			[]string{"A~2/2.jpg", "A~2/3.jpg", "a/1.jpg", "a/3.jpg"}},
		{"by way of an extension", []build{photo("1", "a"), photo("1.jpg", "a")}, []string{"a/1.jpg", "a/1~2.jpg"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := write(t, "x", c.records...), filepath.Join(dir, "out")
			_, err := exportTo(t, out, Options{}, in)
			var collision *CollisionError
			if !errors.As(err, &collision) || !strings.Contains(err.Error(), "--on-collision") {
				t.Errorf("error %v, want a collision", err)
			}
			wantOnly(t, dir)
			if _, err := exportTo(t, out, Options{OnCollision: Number}, in); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, out); !slices.Equal(got, c.want) {
				t.Errorf("made %q, want %q", got, c.want)
			}
		})
	}
}

func TestDirectoriesFailuresLeaveNothing(t *testing.T) {
	good := photo("1.jpg", "a")
	broken := write(t, "broken", good, good)
	data, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(broken, data, 0o644); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, tfrecord.AppendFrame(nil, []byte("no Example at all")), 0o644); err != nil {
		t.Fatal(err)
	}
	var b tfrecord.SequenceBuilder
	b.Context.Int64("id", 1)
	b.Int64("steps", 1)
	sequence := filepath.Join(t.TempDir(), "sequence")
	if err := os.WriteFile(sequence, tfrecord.AppendFrame(nil, b.Append(nil)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in, says string
		located        bool
	}{
		{"damage", broken, "data_crc", true},
		{"no Example", text, "record 0", true},
		{"a sequence", sequence, "SequenceExample", true},
		{"no picture", write(t, "x", good, func(b *tfrecord.Builder) { b.Int64("id", 1) }), "record 1: it has no feature image/encoded", false},
		{"two pictures", write(t, "x", func(b *tfrecord.Builder) { b.String(imagekey.Encoded, "a", "b") }), "holds 2 of kind bytes", false},
		{"a number for a name", write(t, "x", func(b *tfrecord.Builder) { good(b); b.Int64(imagekey.Filename, 1) }), "image/filename", false},
		{"float32", write(t, "x", func(b *tfrecord.Builder) { good(b); b.String(imagekey.Format, "float32") }), "npz", false},
		{"no record", write(t, "x"), "no TFRecord files", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := exportTo(t, filepath.Join(dir, "out"), Options{}, c.in)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			var at *tfrecord.Error
			if errors.As(err, &at) != c.located {
				t.Errorf("%v: located %v", err, !c.located)
			}
			wantOnly(t, dir)
		})
	}
	if _, err := exportTo(t, filepath.Join(t.TempDir(), "out"), Options{}, write(t, "x")); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("no record: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	if _, err := Export(ctx, []string{write(t, "x", good)}, filepath.Join(dir, "out"), Options{Format: Directories}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	wantOnly(t, dir)
}

func TestOutIsNotWrittenInto(t *testing.T) {
	in := write(t, "x", photo("1.jpg", "a"))
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Skip(err)
	}
	for _, out := range []string{full, file, link, filepath.Join(dir, "no", "out"), filepath.Join(file, "out")} {
		if _, err := exportTo(t, out, Options{}, in); err == nil {
			t.Errorf("%s: no error", out)
		}
	}
	wantOnly(t, dir, "file", "full", "link")
	wantOnly(t, full, "x")
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// TestRootKeepsWritesInside replaces a directory by a link that leads outside
// while images are written: the system refuses to follow it.
func TestRootKeepsWritesInside(t *testing.T) {
	outside, temp := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(temp)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Symlink(outside, filepath.Join(temp, "a")); err != nil {
		t.Skip(err)
	}
	f := &outFiles{tree: &localTree{root: root}, report: new(Report)}
	if err := f.put("a/1.jpg", []byte("x")); err == nil {
		t.Error("written through a link")
	}
	wantOnly(t, outside)
}
