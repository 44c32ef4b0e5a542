//go:build linux || darwin

package convert

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// replaceUnseen replaces a file by another one of its size, and sets its time back.
func replaceUnseen(t *testing.T, path string, data []byte) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil || st.Size() != int64(len(data)) {
		t.Fatalf("%v, %d bytes for %d", err, len(data), st.Size())
	}
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path+".new", st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// replaceable is a kind of source: one of its files is replaced.
type replaceable struct {
	name string
	file string // below the directory of the source
	// data returns the content of the file, of which there are many.
	data func(t *testing.T, n int) []byte
	// again reports that each run reads the whole file, also with Options.TrustTimes.
	again bool
	// run makes the set of the source in dir.
	run func(t *testing.T, dir, out string, o Options) *Summary
}

// ofImages makes a set of images from what is at a path below dir.
func ofImages(src string, more func(dir string, o *ImageOptions)) func(t *testing.T, dir, out string, o Options) *Summary {
	return func(t *testing.T, dir, out string, o Options) *Summary {
		options := ImageOptions{Options: o}
		if more != nil {
			more(dir, &options)
		}
		return mustImages(t, filepath.Join(dir, src), out, options)
	}
}

// ofTable makes a set of the table at a path below dir.
func ofTable(src string) func(t *testing.T, dir, out string, o Options) *Summary {
	return func(t *testing.T, dir, out string, o Options) *Summary {
		return mustTable(t, []string{filepath.Join(dir, src)}, out, TableOptions{CSVOptions: CSVOptions{Options: o}})
	}
}

// written returns what write writes to a file.
func written(t *testing.T, name string, write func(path string)) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// noisePNG returns one of many images of one size, whatever compresses them.
func noisePNG(n int) []byte {
	im := image.NewGray(image.Rect(0, 0, 16, 12))
	for i, r := 0, rand.New(rand.NewPCG(uint64(n), 2)); i < len(im.Pix); i++ {
		im.Pix[i] = uint8(r.Uint32())
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, im); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// replaceables are the kinds of sources.
func replaceables() []replaceable {
	mask := func(t *testing.T, n int) []byte {
		return randomClasses(rand.New(rand.NewPCG(uint64(n), 1)), 16, 12, 3).gray(t)
	}
	all := []replaceable{
		{name: "images", file: "images/c0/a.png", data: func(_ *testing.T, n int) []byte { return noisePNG(n) }, run: ofImages("images", nil)},
		{
			name: "masks", file: "masks/c0/a.png", data: mask,
			run: ofImages("images", func(dir string, o *ImageOptions) { o.Annotations.Masks = filepath.Join(dir, "masks") }),
		},
		{
			name: "labels", file: "labels.csv", again: true,
			data: func(_ *testing.T, n int) []byte {
				return fmt.Appendf(nil, "path,label\nc0/a.png,x%d\nc1/b.png,y\n", n%10)
			},
			run: ofImages("images", func(dir string, o *ImageOptions) { o.Labels.File = filepath.Join(dir, "labels.csv") }),
		},
		{
			name: "annotations", file: "coco.json", again: true,
			data: func(_ *testing.T, n int) []byte {
				return fmt.Appendf(nil, `{"images": [{"id": 1, "file_name": "c0/a.png", "width": 16, "height": 12}], "categories": [{"id": 1, "name": "x"}],
					"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [%d, 1, 3, 4], "area": 12, "iscrowd": 0}]}`, n%10)
			},
			run: ofImages("images", func(dir string, o *ImageOptions) {
				o.Annotations.Files = []AnnotationFile{{Path: filepath.Join(dir, "coco.json")}}
			}),
		},
		{
			name: "records", file: "a.tfrecord", again: true,
			data: func(t *testing.T, n int) []byte {
				return written(t, "a.tfrecord", func(path string) {
					writeRecords(t, path, tfrecord.CompressionNone, exampleOf(map[string]any{imagekey.Encoded: [][]byte{noisePNG(n)}}), exampleOf(map[string]any{imagekey.Encoded: [][]byte{pngOf(1)}}))
				})
			},
			run: ofImages("a.tfrecord", nil),
		},
		{
			name: "rows", file: "a.parquet", again: true,
			data: func(t *testing.T, n int) []byte {
				return written(t, "a.parquet", func(path string) {
					writeParquet(t, path, []nameSample{{imageCell{Bytes: noisePNG(n)}, "x"}, {imageCell{Bytes: pngOf(1)}, "y"}})
				})
			},
			run: ofImages("a.parquet", func(_ string, o *ImageOptions) { o.ImageKey, o.Labels.Column = "image", "class" }),
		},
		{
			name: "parquet", file: "t.parquet", run: ofTable("t.parquet"),
			data: func(t *testing.T, n int) []byte {
				return written(t, "t.parquet", func(path string) {
					writeParquet(t, path, []nameSample{{Class: fmt.Sprintf("x%d", n%10)}, {Class: "y"}})
				})
			},
		},
	}
	for name, row := range map[string]string{"t.csv": "a,b\n1,x%d\n2,y\n", "t.jsonl": "{\"a\": %d}\n{\"a\": 2}\n"} {
		all = append(all, replaceable{
			name: name, file: name, run: ofTable(name),
			data: func(_ *testing.T, n int) []byte { return fmt.Appendf(nil, row, n%10) },
		})
	}
	for _, ext := range []string{".tar", ".tar.gz", ".zip"} {
		again := ext == ".tar.gz"
		all = append(all, replaceable{
			name: "files in " + ext, file: "a" + ext, again: again, run: ofImages("a"+ext, nil),
			data: func(t *testing.T, n int) []byte {
				return written(t, "a"+ext, func(path string) {
					packFiles(t, path, 1, map[string]string{"c0/a.png": string(noisePNG(n)), "c1/b.png": string(pngOf(1))})
				})
			},
		}, replaceable{
			name: "WebDataset in " + ext, file: "w" + ext, again: again, run: ofImages("w"+ext, nil),
			data: func(t *testing.T, n int) []byte {
				return written(t, "w"+ext, func(path string) {
					files := samples(4)
					files["000001.txt"] = fmt.Sprintf("caption %d", 1000+n)
					packFiles(t, path, 1, files)
				})
			},
		})
	}
	return all
}

// TestReplacedWithItsOldTime replaces a file of each kind of source by another one of the same size and
// time: the set follows, unless Options.TrustTimes is set and the run reads no file that it knows. A
// file of which only inode and change time differ redoes nothing.
func TestReplacedWithItsOldTime(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, kind := range replaceables() {
		for _, trust := range []bool{false, true} {
			dir, out := t.TempDir(), t.TempDir()
			put(t, dir, "images/c0/a.png", noisePNG(0))
			put(t, dir, "images/c1/b.png", pngOf(5))
			for _, name := range []string{"masks/c0/a.png", "masks/c1/b.png"} {
				put(t, dir, name, randomClasses(rand.New(rand.NewPCG(0, 1)), 16, 12, 3).gray(t))
			}
			path, data := filepath.Join(dir, kind.file), kind.data(t, 0)
			put(t, dir, kind.file, data)
			filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error { return os.Chtimes(p, old, old) })
			run := func() *Summary { return kind.run(t, dir, out, Options{Shards: 2, TrustTimes: trust}) }
			run()
			if s := run(); s.Status != UpToDate {
				t.Errorf("%s: again it is %s", kind.name, s.Status)
			}
			before := contents(t, out)
			replaceUnseen(t, path, data)
			for range 2 {
				if s := run(); s.Status != UpToDate {
					t.Errorf("%s, the same in another file: it is %s", kind.name, s.Status)
				}
			}
			sameSet(t, contents(t, out), before)
			other := data
			for n := 1; len(other) != len(data) || string(other) == string(data); n++ {
				other = kind.data(t, n)
			}
			replaceUnseen(t, path, other)
			stale := trust && !kind.again
			if s := run(); (s.Status == UpToDate) != stale {
				t.Errorf("%s, TrustTimes %v: %s", kind.name, trust, s.Status)
			}
			if got := contents(t, out); stale != (strings.Join(shardsOf(got), "") == strings.Join(shardsOf(before), "")) {
				t.Errorf("%s, TrustTimes %v: the shards are wrong", kind.name, trust)
			}
		}
	}
}

// TestOtherTrustOfTimes converts an archive that was replaced by the same bytes, or by others, in runs
// with and without Options.TrustTimes by turns: what is known of it stays known.
func TestOtherTrustOfTimes(t *testing.T) {
	for _, ext := range []string{".tar", ".zip"} {
		src, out := filepath.Join(t.TempDir(), "a"+ext), t.TempDir()
		pack := func(n int) []byte {
			return written(t, "a"+ext, func(path string) {
				packFiles(t, path, 1, map[string]string{"c0/a.txt": "-", "c0/a.png": string(noisePNG(n)), "c1/b.png": string(pngOf(1))})
			})
		}
		data := pack(0)
		put(t, filepath.Dir(src), filepath.Base(src), data)
		run := func(trust bool) Status {
			o := ImageOptions{Options: Options{Shards: 1, TrustTimes: trust}, Encode: EncodeSpec{Format: Keep, NoCheck: true}}
			return mustImages(t, src, out, o).Status
		}
		run(false)
		other := data
		for n := 1; len(other) != len(data) || string(other) == string(data); n++ {
			other = pack(n)
		}
		replaceUnseen(t, src, other)
		for i, want := range []Status{UpToDate, Updated, UpToDate, UpToDate} {
			if got := run(i%2 == 0); got != want {
				t.Errorf("%s: run %d: %s, want %s", ext, i, got, want)
			}
		}
	}
}

// shardsOf returns the contents of shards, by name.
func shardsOf(files map[string]string) (shards []string) {
	for name, data := range files {
		if strings.Contains(name, ".tfrecord-") && !strings.HasPrefix(name, "index") {
			shards = append(shards, name+data)
		}
	}
	slices.Sort(shards)
	return shards
}

// TestScansThatAreWrong makes a set of a table again with other options, after the table was replaced
// with its old time: the scan of the first run is of other rows, and is done again.
func TestScansThatAreWrong(t *testing.T) {
	for _, name := range []string{"t.csv", "t.jsonl"} {
		text := map[string][2]string{"t.csv": {"a\n1\n2\n", "a\n3\n4\n"}, "t.jsonl": {"{\"a\":1}\n{\"a\":2}\n", "{\"a\":3}\n{\"a\":4}\n"}}[name]
		src, out, fresh := t.TempDir(), t.TempDir(), t.TempDir()
		put(t, src, name, []byte(text[0]))
		path, old := filepath.Join(src, name), time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		o := TableOptions{CSVOptions: CSVOptions{Options: Options{Shards: 1, TrustTimes: true}}}
		mustTable(t, []string{path}, out, o)
		replaceUnseen(t, path, []byte(text[1]))
		o.Shards, o.Overwrite = 2, true
		said := notes(&o.Options)
		mustTable(t, []string{path}, out, o)
		if n := strings.Join(*said, "\n"); !strings.Contains(n, "all tables are scanned again: ") {
			t.Errorf("%s: notes %q", name, n)
		}
		o.Note = nil
		mustTable(t, []string{path}, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
}
