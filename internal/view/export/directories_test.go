package export

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func exportTo(t *testing.T, out string, o spec.Options, paths ...string) (*spec.Report, error) {
	t.Helper()
	if o.Format == "" {
		o.Format = spec.Directories
	}
	return Export(context.Background(), paths, out, o)
}

func TestDirectoriesPaths(t *testing.T) {
	number := func(key string, n int64) exporttest.Build { return func(b *tfrecord.Builder) { b.Int64(key, n) } }
	both := func(list ...exporttest.Build) exporttest.Build {
		return func(b *tfrecord.Builder) {
			for _, add := range list {
				add(b)
			}
		}
	}
	bare := func(b *tfrecord.Builder) { b.String(imagekey.Encoded, exporttest.JPEGBytes) }
	for _, c := range []struct {
		name string
		rec  exporttest.Build
		want string
	}{
		{"below its class", exporttest.Photo("daisy/1.jpg", "daisy"), "daisy/1.jpg"},
		{"deeper", exporttest.Photo("daisy/old/1.JPEG", "daisy"), "daisy/old/1.JPEG"},
		{"below split and class", exporttest.Photo("train/daisy/1.jpg", "daisy"), "daisy/1.jpg"},
		{"labelled otherwise", exporttest.Photo("a/1.jpg", "daisy"), "daisy/a/1.jpg"},
		{"no label", exporttest.Photo("a/1.jpg", ""), "a/1.jpg"},
		{"an id without a name", both(bare, number(imagekey.Label, 3)), "3/0.jpg"},
		{"nothing but a picture", bare, "0.jpg"},
		{"another extension", exporttest.Photo("daisy/1.png", "daisy"), "daisy/1.png.jpg"},
		{"no extension", exporttest.Photo("daisy/1", "daisy"), "daisy/1.jpg"},
		{"unknown content", func(b *tfrecord.Builder) {
			b.String(imagekey.Encoded, "#!/bin/sh")
			b.String(imagekey.Filename, "run.sh")
		}, "run.sh.bin"},
		{"a variant", both(exporttest.Photo("daisy/1.jpg", "daisy"), number(imagekey.Copy, 2)), "daisy/1#2.jpg"},
		{"an original among variants", both(exporttest.Photo("daisy/1.jpg", "daisy"), number(imagekey.Copy, 0)), "daisy/1.jpg"},
		{"up", exporttest.Photo("../../evil.jpg", "../up"), "%2E.%2Fup/%2E%2E/%2E%2E/evil.jpg"},
		{"absolute", exporttest.Photo("/etc/evil.jpg", "/"), "%2F/%_/etc/evil.jpg"},
		{"backslashes", exporttest.Photo(`..\evil.jpg`, `C:\x`), `C%3A%5Cx/%2E.%5Cevil.jpg`},
		{"hidden", exporttest.Photo(".net/.a.jpg", ".NET"), "%2ENET/%2Enet/%2Ea.jpg"},
		{"a device", exporttest.Photo("aux.jpg", "con"), "%63on/%61ux.jpg"},
		{"NUL", exporttest.Photo("nul\x00l.jpg", "a"), "a/nul%00l.jpg"},
		{"a folder named like a picture", exporttest.Photo("x.jpg/y.jpg", ""), "x%2Ejpg/y.jpg"},
		{"a path of only slashes", exporttest.Photo("//", "a"), "a/%_/%_/%_.jpg"},
		{"too many folders", exporttest.Photo(strings.Repeat("a/", 40)+"b.jpg", "a"), "a/" + safename.Of(strings.Repeat("a/", 39)+"b.jpg")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			report, err := exportTo(t, filepath.Join(dir, "out"), spec.Options{}, exporttest.WriteRecords(t, "x.tfrecord", c.rec))
			if err != nil {
				t.Fatal(err)
			}
			exporttest.WantOnly(t, dir, "out")
			if got := exporttest.Tree(t, filepath.Join(dir, "out")); !slices.Equal(got, []string{c.want}) {
				t.Errorf("made %q, want %q", got, c.want)
			}
			if report.Records != 1 || report.Files != 1 || (report.Renamed == 1) != strings.Contains(c.want, "%") {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestDirectoriesKeepBytesAndSplits(t *testing.T) {
	train := exporttest.WriteRecords(t, "x-train.tfrecord-00000-of-00001", exporttest.Photo("train/a/1.jpg", "a"), exporttest.Photo("train/b/1.jpg", "b"))
	val := exporttest.WriteRecords(t, "x-val.tfrecord-00000-of-00001", exporttest.Photo("val/a/1.jpg", "a"))
	out := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out, 0o700); err != nil { // an empty directory makes way
		t.Fatal(err)
	}
	if _, err := exportTo(t, out, spec.Options{}, train, val); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train/a/1.jpg", "train/b/1.jpg", "val/a/1.jpg"} {
		if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(got) != exporttest.JPEGBytes+name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if st, err := os.Stat(out); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestDirectoriesRawBecomesPNG(t *testing.T) {
	raw := func(h, w, channels int64) exporttest.Build {
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
	if report, err := exportTo(t, out, spec.Options{}, exporttest.WriteRecords(t, "x", raw(1, 2, 3))); err != nil || report.Encoded != 1 {
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
		if _, err := exportTo(t, out+"x", spec.Options{}, exporttest.WriteRecords(t, "x", raw(sides[0], sides[1], sides[2]))); err == nil {
			t.Errorf("6 bytes as %v pixels: no error", sides)
		}
	}
}

func TestDirectoriesCollisions(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []exporttest.Build
		want    []string // with numbers
	}{
		{"the same", []exporttest.Build{exporttest.Photo("1.jpg", "a"), exporttest.Photo("1.jpg", "a"), exporttest.Photo("1~2.jpg", "a"), exporttest.Photo("1.jpg", "a")},
			[]string{"a/1.jpg", "a/1~2.jpg", "a/1~2~2.jpg", "a/1~3.jpg"}},
		{"files by case", []exporttest.Build{exporttest.Photo("a.jpg", "x"), exporttest.Photo("A.JPG", "x")}, []string{"x/A~2.JPG", "x/a.jpg"}},
		{"folders by case", []exporttest.Build{exporttest.Photo("1.jpg", "a"), exporttest.Photo("2.jpg", "A"), exporttest.Photo("3.jpg", "A"), exporttest.Photo("3.jpg", "a")},
			[]string{"A~2/2.jpg", "A~2/3.jpg", "a/1.jpg", "a/3.jpg"}},
		{"by way of an extension", []exporttest.Build{exporttest.Photo("1", "a"), exporttest.Photo("1.jpg", "a")}, []string{"a/1.jpg", "a/1~2.jpg"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := exporttest.WriteRecords(t, "x", c.records...), filepath.Join(dir, "out")
			_, err := exportTo(t, out, spec.Options{}, in)
			var collision *spec.CollisionError
			if !errors.As(err, &collision) || !strings.Contains(err.Error(), "--on-collision") {
				t.Errorf("error %v, want a collision", err)
			}
			exporttest.WantOnly(t, dir)
			if _, err := exportTo(t, out, spec.Options{OnCollision: spec.Number}, in); err != nil {
				t.Fatal(err)
			}
			if got := exporttest.Tree(t, out); !slices.Equal(got, c.want) {
				t.Errorf("made %q, want %q", got, c.want)
			}
		})
	}
}

func TestDirectoriesFailuresLeaveNothing(t *testing.T) {
	good := exporttest.Photo("1.jpg", "a")
	broken := exporttest.WriteRecords(t, "broken", good, good)
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
		{"no picture", exporttest.WriteRecords(t, "x", good, func(b *tfrecord.Builder) { b.Int64("id", 1) }), "record 1: it has no feature image/encoded", false},
		{"two pictures", exporttest.WriteRecords(t, "x", func(b *tfrecord.Builder) { b.String(imagekey.Encoded, "a", "b") }), "holds 2 of kind bytes", false},
		{"a number for a name", exporttest.WriteRecords(t, "x", func(b *tfrecord.Builder) { good(b); b.Int64(imagekey.Filename, 1) }), "image/filename", false},
		{"float32", exporttest.WriteRecords(t, "x", func(b *tfrecord.Builder) { good(b); b.String(imagekey.Format, "float32") }), "npz", false},
		{"no record", exporttest.WriteRecords(t, "x"), "no TFRecord files", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := exportTo(t, filepath.Join(dir, "out"), spec.Options{}, c.in)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			var at *tfrecord.Error
			if errors.As(err, &at) != c.located {
				t.Errorf("%v: located %v", err, !c.located)
			}
			exporttest.WantOnly(t, dir)
		})
	}
	if _, err := exportTo(t, filepath.Join(t.TempDir(), "out"), spec.Options{}, exporttest.WriteRecords(t, "x")); !errors.Is(err, shard.ErrNoRecords) {
		t.Errorf("no record: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	if _, err := Export(ctx, []string{exporttest.WriteRecords(t, "x", good)}, filepath.Join(dir, "out"), spec.Options{Format: spec.Directories}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	exporttest.WantOnly(t, dir)
}

func TestOutIsNotWrittenInto(t *testing.T) {
	in := exporttest.WriteRecords(t, "x", exporttest.Photo("1.jpg", "a"))
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
		if _, err := exportTo(t, out, spec.Options{}, in); err == nil {
			t.Errorf("%s: no error", out)
		}
	}
	exporttest.WantOnly(t, dir, "file", "full", "link")
	exporttest.WantOnly(t, full, "x")
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
