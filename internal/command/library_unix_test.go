//go:build unix

package command

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestLibraryAndCommandAgree makes sets by the library and by the command, with samples that are
// unusable for reasons that name options: each finds that of the other up to date.
func TestLibraryAndCommandAgree(t *testing.T) {
	if !inProgram(t) {
		return
	}
	dir := t.TempDir()
	src, table := filepath.Join(dir, "src"), filepath.Join(dir, "t.csv")
	if err := os.CopyFS(src, os.DirFS(filepath.Join(demo(), "photos"))); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(src, "*", "*.jpg"))
	if err != nil || len(images) < 3 {
		t.Fatal(images, err)
	}
	if err := os.Symlink(images[0], filepath.Join(src, "link.jpg")); err != nil {
		t.Fatal(err)
	}
	rows := "path,label\nlink.jpg,a\nnone.jpg,b\n"
	for _, image := range images {
		rel, err := filepath.Rel(src, image)
		if err != nil {
			t.Fatal(err)
		}
		rows += filepath.ToSlash(rel) + "," + filepath.Base(filepath.Dir(image)) + "\n"
	}
	if err := os.WriteFile(table, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	library := func(out string) *convert.Summary {
		s, err := convert.Images(t.Context(), src, out, convert.ImageOptions{
			Options: convert.Options{MaxErrors: convert.Tolerance{Count: 2}}, Labels: convert.LabelSpec{File: table},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	command := func(out string) string {
		said, err := tfrec(t, "convert", "images", src, out, "--table", table, "--max-errors", "2").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return string(said)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if s := library(a); s.Errors != 2 {
		t.Fatalf("%+v", s)
	}
	if said := command(a); !strings.Contains(said, "up to date") {
		t.Errorf("after the library: %s", said)
	}
	command(b)
	if s := library(b); s.Status != convert.UpToDate {
		t.Errorf("after the command: %s", s.Status)
	}
	ledger, err := os.ReadFile(filepath.Join(a, "errors.jsonl"))
	if err != nil || !strings.Contains(string(ledger), "reached by a symbolic link") {
		t.Errorf("%s, %v", ledger, err)
	}
	if same, err := os.ReadFile(filepath.Join(b, "errors.jsonl")); err != nil || string(same) != string(ledger) {
		t.Errorf("the library's ledger:\n%s\nthe command's:\n%s%v", ledger, same, err)
	}
}

// TestLibraryAndCommandAgreeOnTables is the same for tables, with a row that is no use.
func TestLibraryAndCommandAgreeOnTables(t *testing.T) {
	if !inProgram(t) {
		return
	}
	dir := t.TempDir()
	table, a, b := filepath.Join(dir, "t.csv"), filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(table, []byte("a,b\n1,x\n2\n3,\"z\n"+strings.Repeat("4,y\n", 5)+"5,\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	library := func(out string) *convert.Summary {
		s, err := convert.CSV(t.Context(), []string{table}, out, convert.CSVOptions{Options: convert.Options{MaxErrors: convert.Tolerance{Count: 5}}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := library(a); s.Errors == 0 {
		t.Errorf("%+v", s)
	}
	if said, err := tfrec(t, "convert", "csv", table, a, "--max-errors", "5").CombinedOutput(); err != nil || !strings.Contains(string(said), "up to date") {
		t.Errorf("after the library: %s, %v", said, err)
	}
	must(t, "convert", "csv", table, b, "--max-errors", "5")
	if s := library(b); s.Status != convert.UpToDate {
		t.Errorf("after the command: %s", s.Status)
	}
}

// explicit is a default value as a flag and as a field of the library's options.
type explicit struct {
	flag  string
	field func(*convert.ImageOptions, *convert.TableOptions)
}

// TestDefaultsOfLibraryAndCommandAgree makes sets with options left out or given their default values,
// as flags and as fields: each finds that of the other up to date.
func TestDefaultsOfLibraryAndCommandAgree(t *testing.T) {
	if !inProgram(t) {
		return
	}
	type images = convert.ImageOptions
	type tables = convert.TableOptions
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	src := filepath.Join(dir, "src")
	photos, err := filepath.Glob(filepath.Join(demo(), "photos", "*", "*.jpg"))
	if err != nil || len(photos) < 2 {
		t.Fatal(photos, err)
	}
	for i, photo := range photos[:2] {
		data, err := os.ReadFile(photo)
		if err != nil {
			t.Fatal(err)
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		write("masks/"+strconv.Itoa(i)+"/a.png", string(testpng.Encode(image.NewGray(image.Rect(0, 0, size.Width, size.Height)))))
		write("src/"+strconv.Itoa(i)+"/a.jpg", string(data))
		write("voc/"+strconv.Itoa(i)+"/a.xml", "<annotation><size><width>9</width><height>9</height></size></annotation>")
	}
	policy, err := augment.ParsePolicy("hflip")
	if err != nil {
		t.Fatal(err)
	}
	fill := uint8(255)
	shared := []explicit{
		{"--seed=0", func(i *images, c *tables) {}},
		{"--limit=0", func(i *images, c *tables) {}},
		{"--even=false", func(i *images, c *tables) {}},
		{"--compression=none", func(i *images, c *tables) {
			i.Compression, c.Compression = tfrecord.CompressionNone, tfrecord.CompressionNone
		}},
		{"--workers=1", func(i *images, c *tables) { i.Workers, c.Workers = 1, 1 }},
		{"--max-errors=0", func(i *images, c *tables) { i.SplitShards, c.SplitShards = map[string]int{}, map[string]int{} }},
	}
	ofImages := append([]explicit{
		{"--label-offset=0", func(i *images, _ *tables) { i.Rename = map[string]string{} }},
		{"--max-pixels=" + strconv.FormatInt(augment.DefaultMaxPixels, 10), func(i *images, _ *tables) { i.Codec.MaxPixels = augment.DefaultMaxPixels }},
		{"--archive-format=auto", func(i *images, _ *tables) { i.ArchiveFormat = convert.AutoFormat }},
		{"--min-size=0", func(i *images, _ *tables) { i.Select.Include = []string{} }},
		{"--max-aspect=0", func(i *images, _ *tables) { i.Select.Exclude = []string{} }},
		{"--allow-arithmetic=false", func(i *images, _ *tables) { i.Features = []convert.FeatureSpec{} }},
		{"--by-content=false", func(i *images, _ *tables) {
			i.Annotations.Files = append([]convert.AnnotationFile{}, i.Annotations.Files...)
		}},
	}, shared...)
	ofTables := append([]explicit{
		{"--na=drop-feature", func(_ *images, c *tables) { c.Missing = convert.MissingDrop }},
		{"--memory=512MiB", func(_ *images, c *tables) { c.Memory = 512 << 20 }},
		{"--max-row=64MiB", func(_ *images, c *tables) { c.MaxRow = 64 << 20 }},
		{"--label-offset=0", func(_ *images, c *tables) { c.Types = map[string]convert.ColumnType{} }},
		{"--shuffle=false", func(_ *images, c *tables) { c.Vectors = []convert.Vector{} }},
		{"--splits=train=1", func(_ *images, c *tables) { c.Splits = []convert.SplitShare{{Name: "train", Share: 1}} }},
		{"--key=", func(_ *images, c *tables) { c.Drop = []string{} }},
	}, shared...)
	ofCSV := append([]explicit{
		{"--delimiter=auto", func(_ *images, c *tables) { c.Columns = []string{} }},
		{"--na-values=,NA,N/A,NULL,null", func(_ *images, c *tables) { c.MissingValues = []string{"", "NA", "N/A", "NULL", "null"} }},
		{"--no-header=false", func(_ *images, c *tables) {}},
	}, ofTables...)
	csv := write("t.csv", "a,b\n1,x\n2,NA\n")
	for _, c := range []struct {
		verb, src string
		args      []string
		images    images
		defaults  []explicit
	}{
		{verb: "images", src: src, defaults: append(ofImages, []explicit{
			{"--encode=keep", func(i *images, _ *tables) { i.Encode.Format = convert.Keep }},
			{"--no-check=false", func(*images, *tables) {}},
		}...)},
		{verb: "images", src: src, args: []string{"--resize=8x8"}, images: images{Resize: augment.ResizeSpec{Width: 8, Height: 8}}, defaults: append(ofImages, []explicit{
			{"--encode=jpeg", func(i *images, _ *tables) { i.Encode.Format = convert.JPEG }},
			{"--quality=95", func(i *images, _ *tables) { i.Encode.Quality = 95 }},
			{"--subsampling=420", func(i *images, _ *tables) { i.Encode.Subsampling = "420" }},
			{"--filter=bilinear", func(i *images, _ *tables) { i.Resize.Filter = augment.Bilinear }},
			{"--fit=stretch", func(i *images, _ *tables) { i.Resize.Fit = augment.Stretch }},
			{"--antialias=true", func(*images, *tables) {}},
			{"--no-upscale=false", func(*images, *tables) {}},
			{"--exact-pixels=false", func(*images, *tables) {}},
		}...)},
		{verb: "images", src: src, args: []string{"--resize=8", "--encode=float32"}, images: images{
			Resize: augment.ResizeSpec{Square: 8}, Encode: convert.EncodeSpec{Format: convert.Float32},
		}, defaults: append(ofImages, []explicit{
			{"--mean=0", func(*images, *tables) {}},
			{"--std=1", func(i *images, _ *tables) { i.Encode.Normalize.Std = [3]float32{1, 1, 1} }},
			{"--channels=3", func(i *images, _ *tables) { i.Encode.Channels = 3 }},
		}...)},
		{verb: "images", src: src, args: []string{"--augment=hflip", "--encode=png"}, images: images{
			Augment: convert.AugmentSpec{Policy: policy}, Encode: convert.EncodeSpec{Format: convert.PNG},
		}, defaults: append(ofImages, []explicit{
			{"--copies=1", func(i *images, _ *tables) { i.Augment.Copies = 1 }},
			{"--augment-splits=train", func(i *images, _ *tables) { i.Augment.Splits = []string{"train"} }},
			{"--keep-original=false", func(*images, *tables) {}},
			{"--augment=hflip:0.5", func(*images, *tables) {}},
		}...)},
		{verb: "images", src: src, args: []string{"--annotations=" + filepath.Join(dir, "voc")}, images: images{
			Annotations: convert.AnnotationSpec{Files: []convert.AnnotationFile{{Path: filepath.Join(dir, "voc")}}},
		}, defaults: append(ofImages, []explicit{
			{"--annotation-format=voc", func(i *images, _ *tables) { i.Annotations.Format = "auto" }},
			{"--min-visibility=0", func(i *images, _ *tables) { i.Annotations.Format = "voc" }},
			{"--instance-masks=false", func(i *images, _ *tables) { i.Labels.None = true }},
			{"--drop-empty=false", func(*images, *tables) {}},
			{"--keep-unannotated=false", func(*images, *tables) {}},
		}...)},
		{verb: "images", src: src, args: []string{"--masks=" + filepath.Join(dir, "masks")}, images: images{
			Annotations: convert.AnnotationSpec{Masks: filepath.Join(dir, "masks")},
		}, defaults: append(ofImages, explicit{"--mask-fill=255", func(i *images, _ *tables) { i.Annotations.MaskFill = &fill }})},
		{verb: "csv", src: csv, defaults: ofCSV},
		{verb: "table", src: csv, defaults: append(ofCSV, explicit{"--format=csv", func(_ *images, c *tables) { c.Format = convert.TableCSV }})},
		{verb: "table", src: write("t.jsonl", `{"a":1,"b":"x"}`+"\n"), defaults: append(ofTables, explicit{"--format=jsonl", func(_ *images, c *tables) { c.Format = convert.TableJSONL }})},
	} {
		for seed := range uint64(2) {
			r := rand.New(rand.NewPCG(seed, uint64(len(c.defaults))))
			out := filepath.Join(t.TempDir(), "out")
			args := append([]string{"convert", c.verb, c.src, out}, c.args...)
			o, rows := c.images, tables{}
			var fields []string
			for _, d := range c.defaults {
				if r.IntN(2) == 0 {
					args = append(args, d.flag)
				}
				if r.IntN(2) == 0 {
					fields = append(fields, d.flag)
					d.field(&o, &rows)
				}
			}
			library := func() convert.Status {
				var s *convert.Summary
				var err error
				switch c.verb {
				case "images":
					s, err = convert.Images(t.Context(), c.src, out, o)
				case "csv":
					s, err = convert.CSV(t.Context(), []string{c.src}, out, rows.CSVOptions)
				default:
					s, err = convert.Table(t.Context(), []string{c.src}, out, rows)
				}
				if err != nil {
					t.Fatalf("%v: %v: %v", args, fields, err)
				}
				return s.Status
			}
			command := func() string {
				said, err := tfrec(t, args...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v: %s", args, err, said)
				}
				return string(said)
			}
			if seed == 0 {
				library()
				if said := command(); !strings.Contains(said, "up to date") {
					t.Errorf("%v, after the library with %v: %s", args, fields, said)
				}
				continue
			}
			command()
			if status := library(); status != convert.UpToDate {
				t.Errorf("the library with %v, after %v: %s", fields, args, status)
			}
		}
	}
}
