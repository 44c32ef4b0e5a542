package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/manifest"
)

// notRecorded are the options that manifests do not have under their own keys, with the reason.
var notRecorded = map[string]string{
	"name":              "the manifest's name",
	"decoder":           "the manifest's decoder",
	"max-errors":        "the manifest's errors",
	"shards":            "shards_given, if it is given",
	"expect":            "a check of the input",
	"strict":            "a check of the input",
	"depfile":           "another output",
	"workers":           "how the work is done",
	"retries":           "how the work is done",
	"memory":            "how the work is done",
	"max-row":           "a check of the input",
	"trust-times":       "how changes are found",
	"hash-inputs":       "how changes are found",
	"annotation-format": "annotations",
	"unlabelled":        "labels",
	"path-column":       "how a table is read, which the caller gives again",
	"image-suffix":      "how a table is read, which the caller gives again",
}

// drawn is a conversion with random options.
type drawn struct {
	rng    *rand.Rand
	source string
	args   []string // flags
	inputs []string // flags that name files, which --from-manifest needs, too
}

// pick returns one of several alternatives.
func (d *drawn) pick(alternatives ...string) string {
	return alternatives[d.rng.IntN(len(alternatives))]
}

// maybe adds one of several alternatives, which are flags with spaces between them, or none.
func (d *drawn) maybe(alternatives ...string) (added string) {
	if d.rng.IntN(2) == 0 {
		return ""
	}
	added = d.pick(alternatives...)
	d.args = append(d.args, strings.Fields(added)...)
	return added
}

// from adds one of several alternatives that name files.
func (d *drawn) from(alternatives ...string) (added string) {
	added = d.pick(alternatives...)
	d.inputs = append(d.inputs, added)
	return added
}

// shared draws options of all kinds of input.
func (d *drawn) shared() {
	d.maybe("--seed=7", "--seed=18446744073709551615")
	d.maybe("--shards=2", "--shards=train=2")
	d.maybe("--even")
	d.maybe("--compression=gzip", "--compression=zstd")
	d.maybe("--limit=5", "--limit=4")
}

// images draws options for images in class directories, described by files, or stored in other sets.
func (d *drawn) images() {
	d.source = d.pick("photos", "photos", "photos", "flat", "objects", "set", "rows.parquet", "web/*.tar")
	d.shared()
	splits := ""
	switch d.source {
	case "photos":
		splits = d.maybe("--splits=train=0.5,val=0.5")
		if d.maybe("--unlabelled") == "" {
			d.maybe("--label-offset=1")
			if d.rng.IntN(2) == 0 {
				d.from("--classes=names.txt", "--classes=pairs.txt")
			}
		}
		d.maybe("--include=a/*", "--include=a/* --include=b/*")
		d.maybe("--exclude=*/2.jpg", "--exclude=*/1.jpg --exclude=x*")
		d.maybe("--by-content")
		d.maybe("--follow-symlinks")
		if d.rng.IntN(4) == 0 {
			d.from("--masks=masks")
			d.maybe("--mask-fill=0", "--mask-fill=7", "--mask-fill=255")
		}
	case "flat":
		if d.from("--table=rows.csv", "--labels=rows.csv") == "--table=rows.csv" {
			d.maybe("--features=score:float,who", "--features=who")
		}
		d.maybe("--split-column=part")
		d.maybe("--multi-label=|")
	case "objects":
		if d.from("--annotations=coco.json", "--annotations=voc") == "--annotations=coco.json" {
			d.maybe("--instance-masks")
		}
		d.maybe("--min-visibility=0.25")
		d.maybe("--drop-empty", "--keep-unannotated")
	case "rows.parquet":
		d.args = append(d.args, "--image-key=image/encoded", "--label-column=image/class/text")
		d.maybe("--features=score,who:bytes")
	case "web/*.tar":
		d.maybe("--archive-format=webdataset")
		d.maybe("--features=score")
	}
	augments := d.maybe("--augment=hflip", "--augment=rotate:20|hflip:0.3") != ""
	if augments {
		d.maybe("--copies=2", "--copies=3")
		d.maybe("--keep-original")
		if splits != "" {
			d.maybe("--augment-splits=val", "--augment-splits=train,val")
		}
	}
	d.pixels(augments)
	d.maybe("--min-size=3")
	d.maybe("--max-aspect=9.5")
	d.maybe("--max-pixels=1000000")
	d.maybe("--float-range=-1,0.5", "--float-range=0,10000000")
	d.maybe("--allow-arithmetic")
	d.maybe("--rename=image/encoded=image", "--rename=image/format=f,image/height=h")
}

// pixels draws options about the size and form of images.
func (d *drawn) pixels(augments bool) {
	resizes := d.maybe("--resize=8", "--resize=9x7", "--resize=9x7")
	if strings.Contains(resizes, "x") {
		if d.maybe("--fit=crop", "--fit=pad", "--fit=shorter") == "--fit=pad" {
			d.maybe("--pad-color=102030", "--pad-color=000000")
		}
	}
	if resizes != "" {
		d.maybe("--filter=nearest", "--filter=lanczos3")
		d.maybe("--antialias=false")
		d.maybe("--no-upscale")
	}
	if resizes != "" || augments {
		d.maybe("--exact-pixels")
	}
	switch d.maybe("--encode=jpeg", "--encode=png", "--encode=raw", "--encode=float32") {
	case "":
		if resizes == "" && !augments {
			d.maybe("--no-check")
			return
		}
	case "--encode=jpeg":
		d.maybe("--quality=80")
		d.maybe("--subsampling=444")
	case "--encode=float32":
		d.maybe("--mean=0.485,0.456,0.406", "--mean=0.5")
		d.maybe("--std=0.229,0.224,0.225")
	}
	d.maybe("--channels=1", "--channels=3")
	d.maybe("--background=ff0080", "--background=000000")
}

// tables draws options for rows of a table.
func (d *drawn) tables(verb string) {
	d.source = d.pick("rows.csv", "bare.csv")
	if verb == "table" {
		d.source = d.pick("rows.csv", "rows.jsonl")
		d.maybe("--format=" + strings.TrimPrefix(filepath.Ext(d.source), "."))
	}
	d.shared()
	d.maybe("--splits=train=0.5,val=0.5")
	d.maybe("--column=score=bytes", "--column=score=bytes --column=who=bytes", "--column=score=number")
	d.maybe("--drop=part", "--drop=part,path")
	d.maybe("--na=default", "--na=error")
	d.maybe("--vector=v=size,n", "--vector=v=size..n", "--vector=v=size --vector=w=n")
	d.maybe("--shuffle")
	d.maybe("--key=who")
	if d.maybe("--label=label") != "" && d.maybe("--vocab", "--vocab=names.txt") != "" {
		d.maybe("--label-offset=2")
	}
	if d.source == "bare.csv" {
		d.args = append(d.args, "--no-header", "--columns=path,label,part,score,who,size,n")
	}
	if d.source != "rows.jsonl" {
		d.maybe("--delimiter=,")
		d.maybe("--encoding=cp1252", "--encoding=utf-8")
		d.maybe("--na-values=,-", "--na-values=none")
	}
}

// unrecorded are flags of all kinds of input that no bytes depend on.
var unrecorded = []string{"--workers=1", "--retries=1", "--trust-times", "--hash-inputs", "--memory=64MiB", "--max-errors=3"}

// tryRestoring converts with the options drawn, and twice with --from-manifest: the set must be up to
// date, and a set made with other options that are not recorded has the same bytes. It returns the
// recorded options.
func tryRestoring(t *testing.T, verb string, d *drawn) map[string]json.RawMessage {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	again := out + "-again"
	convert := func(out string, args ...string) (status string) {
		var s struct{ Status string }
		var stdout, stderr bytes.Buffer
		args = append([]string{"convert", verb, d.source, out, "--json", "--quiet"}, args...)
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
			t.Errorf("%s (%s): exit code %d: %s", strings.Join(args, " "), strings.Join(d.args, " "), code, stderr.Bytes())
		} else if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
			t.Error(err)
		}
		return s.Status
	}
	if convert(out, slices.Concat(d.inputs, d.args)...) == "" {
		return nil
	}
	restore := append(d.inputs, "--from-manifest="+out)
	if status := convert(out, restore...); status != "up_to_date" {
		t.Errorf("%s %s: with --from-manifest it is %q", verb, strings.Join(d.args, " "), status)
	}
	convert(again, slices.Concat(restore, unrecorded)...)
	shards, others, err := digestSet(out)
	if err != nil {
		t.Fatal(err)
	}
	if s, o, err := digestSet(again); s != shards || o != others || err != nil {
		t.Errorf("%s %s: with --from-manifest other bytes are written (%v)", verb, strings.Join(d.args, " "), err)
	}
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Error(err)
		return nil
	}
	return m.Options
}

// TestRecordedOptionsAreRestored: --from-manifest restores the options of a set, except for files. Each
// option is recorded in a set that was made with it, or is in notRecorded.
func TestRecordedOptionsAreRestored(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSources(t)
	recorded := map[string]map[string]bool{}
	for _, kind := range []string{"images", "csv", "table"} {
		recorded[kind] = map[string]bool{}
		for _, seed := range torture.Seeds(48, 1000) {
			d := &drawn{rng: rand.New(rand.NewPCG(seed, uint64(len(kind))))}
			if kind == "images" {
				d.images()
			} else {
				d.tables(kind)
			}
			for key := range tryRestoring(t, kind, d) {
				recorded[kind][key] = true
			}
		}
	}
	if testing.Short() {
		return
	}
	for kind, table := range map[string]option.Table{
		"images": new(convert.ImageOptions).Table(), "csv": new(convert.CSVOptions).Table(), "table": new(convert.TableOptions).Table(),
	} {
		for _, o := range table {
			_, exempt := notRecorded[o.Flag]
			switch {
			case o.Once:
			case exempt && recorded[kind][o.RecordedKey()] && o.Flag != "shards":
				t.Errorf("%s: manifests have --%s", kind, o.Flag)
			case !exempt && !recorded[kind][o.RecordedKey()]:
				t.Errorf("%s: no manifest has --%s: draw a set on which it depends, or add it to notRecorded", kind, o.Flag)
			}
		}
	}
}

// writeSources writes small inputs of all kinds into the working directory.
func writeSources(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	write := func(path string, data []byte) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var rows, lines bytes.Buffer
	var images, objects []string
	for i := range 6 {
		class, name := string(rune('a'+i%2)), strconv.Itoa(i/2)
		img := image.NewGray(image.Rect(0, 0, 12, 10))
		for p := range img.Pix {
			img.Pix[p] = uint8(rng.IntN(256))
		}
		var photo bytes.Buffer
		if err := jpeg.Encode(&photo, img, nil); err != nil {
			t.Fatal(err)
		}
		write("photos/"+class+"/"+name+".jpg", photo.Bytes())
		write("masks/"+class+"/"+name+".png", testpng.Encode(img))
		write("flat/"+class+name+".jpg", photo.Bytes())
		write("objects/"+class+name+".jpg", photo.Bytes())
		part := []string{"train", "val"}[i%3/2]
		fmt.Fprintf(&rows, "%s%s.jpg,%s,%s,%d.5,person %d,%d,%d\n", class, name, class, part, i, i, 2*i, 3*i)
		fmt.Fprintf(&lines, `{"path":"%s%s.jpg","label":%q,"part":%q,"score":%d.5,"who":"person %d","size":%d,"n":%d}`+"\n", class, name, class, part, i, i, 2*i, 3*i)
		images = append(images, fmt.Sprintf(`{"id":%d,"file_name":"%s%s.jpg","width":12,"height":10}`, i, class, name))
		objects = append(objects, fmt.Sprintf(`{"id":%d,"image_id":%d,"category_id":1,"bbox":[1,2,5,6],"area":30,"iscrowd":0,"segmentation":[[1,2,6,2,6,8]]}`, i, i))
		write("voc/"+class+name+".xml", fmt.Appendf(nil, "<annotation><size><width>12</width><height>10</height></size><object><name>%s</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox></object></annotation>", class))
	}
	const header = "path,label,part,score,who,size,n\n"
	write("bare.csv", rows.Bytes())
	write("rows.csv", append([]byte(header), rows.Bytes()...))
	write("rows.jsonl", lines.Bytes())
	write("names.txt", []byte("a\nb\n"))
	write("pairs.txt", []byte("a first\nb second\n"))
	write("coco.json", fmt.Appendf(nil, `{"images":[%s],"categories":[{"id":1,"name":"x"}],"annotations":[%s]}`, strings.Join(images, ","), strings.Join(objects, ",")))
	for _, args := range []string{"convert images flat set --table rows.csv --features score:float,who", "export set rows.parquet --format parquet", "export set web --format webdataset"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != 0 {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr.Bytes())
		}
	}
}
