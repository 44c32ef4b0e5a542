package verify

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// sampleRecord is a record of a set as convert writes it, before it is damaged.
type sampleRecord struct {
	ints   map[string][]int64
	floats map[string][]float32
	texts  map[string][][]byte
	raw    []byte // replaces all of the above
}

func (r *sampleRecord) encode() []byte {
	if r.raw != nil {
		return r.raw
	}
	var b tfrecord.Builder
	for key, v := range r.ints {
		b.Int64(key, v...)
	}
	for key, v := range r.floats {
		b.Float(key, v...)
	}
	for key, v := range r.texts {
		b.Bytes(key, v...)
	}
	return b.Append(nil)
}

// drop removes a feature.
func (r *sampleRecord) drop(key string) {
	delete(r.ints, key)
	delete(r.texts, key)
}

var deepLabels = []string{"ant", "bee", "cat"}

// noisePNG returns an image of random pixels.
func noisePNG(t testing.TB, seed uint64, w, h int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	im := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range im.Pix {
		im.Pix[i] = uint8(rng.Uint32()) | uint8(255*(i%4/3))
	}
	return testpng.Encode(im)
}

// deepSet writes a set of two splits, train and test, of 12 records each, after applying harm.
func deepSet(t testing.TB, harm func(records []*sampleRecord)) string {
	t.Helper()
	var records []*sampleRecord
	for i := range 24 {
		w, h := 9+i%3, 12
		id := i % 3
		records = append(records, &sampleRecord{
			ints: map[string][]int64{"image/height": {int64(h)}, "image/width": {int64(w)}, "image/channels": {3}, "image/class/label": {int64(id)}},
			texts: map[string][][]byte{
				"image/encoded": {noisePNG(t, uint64(i), w, h)}, "image/format": {[]byte("png")},
				"image/filename": {fmt.Appendf(nil, "%s/%02d.png", deepLabels[id], i)}, "image/class/text": {[]byte(deepLabels[id])},
			},
		})
	}
	harm(records)
	path := filepath.Join(t.TempDir(), "set")
	dir, err := setdir.Open(context.Background(), path, setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Name: "t", Compression: "none", Records: manifest.RecordExample, Labels: deepLabels}
	m.Features = []manifest.Feature{
		{Key: "image/channels", Kind: "int64", Class: manifest.ClassScalar}, {Key: "image/class/label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "image/class/text", Kind: "bytes", Class: manifest.ClassText},
		{Key: "image/encoded", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{-1, -1, 3}, DType: "uint8", Encoding: "png"},
		{Key: "image/filename", Kind: "bytes", Class: manifest.ClassText}, {Key: "image/format", Kind: "bytes", Class: manifest.ClassText},
		{Key: "image/height", Kind: "int64", Class: manifest.ClassScalar}, {Key: "image/width", Kind: "int64", Class: manifest.ClassScalar},
	}
	for s, split := range []string{"train", "test"} {
		w, err := dir.Create(shard.Name{Dataset: m.Name, Split: split, Index: 0, Count: 1}.String(), setdir.WriterOptions{})
		settest.Check(t, err)
		for _, r := range records[12*s : 12*s+12] {
			settest.Check(t, w.WriteRecord(r.encode()))
		}
		info, err := w.Commit()
		settest.Check(t, err)
		m.Splits = append(m.Splits, manifest.Split{Name: split, Records: info.Records, Shards: []manifest.Shard{info}})
	}
	settest.Check(t, dir.PutSet(m))
	return path
}

// undescribe removes all metadata from a set.
func undescribe(t testing.TB, dir string) {
	t.Helper()
	for _, file := range []string{manifest.File, manifest.TFDSInfoFile, manifest.TFDSFeaturesFile, "image.class.label.labels.txt"} {
		settest.Check(t, os.Remove(filepath.Join(dir, file)))
	}
}

// decodePNG decodes with the standard library, and fills thumb by averaging.
func decodePNG(data []byte, thumb *Thumb) (ImageFacts, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err == image.ErrFormat {
		return ImageFacts{}, ErrNotImage
	}
	if err == nil && c.Width*c.Height > 1<<20 {
		return ImageFacts{}, fmt.Errorf("%w: %dx%d", ErrImageTooLarge, c.Width, c.Height)
	}
	var im image.Image
	if err == nil {
		im, _, err = image.Decode(bytes.NewReader(data))
	}
	if err != nil {
		return ImageFacts{}, err
	}
	if thumb != nil {
		averageTo(thumb, im)
	}
	facts := ImageFacts{Format: format, Width: c.Width, Height: c.Height, UprightWidth: c.Width, UprightHeight: c.Height, Channels: 3}
	if c.ColorModel == color.GrayModel {
		facts.Channels = 1
	}
	return facts, nil
}

// averageTo resizes the luminance of an image by averaging, or by repeating pixels if the image is
// smaller.
func averageTo(thumb *Thumb, im image.Image) {
	r := im.Bounds()
	for y := range ThumbSide {
		y0 := r.Min.Y + y*r.Dy()/ThumbSide
		y1 := max(r.Min.Y+(y+1)*r.Dy()/ThumbSide, y0+1)
		for x := range ThumbSide {
			x0 := r.Min.X + x*r.Dx()/ThumbSide
			x1 := max(r.Min.X+(x+1)*r.Dx()/ThumbSide, x0+1)
			sum := 0
			for j := y0; j < y1; j++ {
				for i := x0; i < x1; i++ {
					sum += int(color.GrayModel.Convert(im.At(i, j)).(color.Gray).Y)
				}
			}
			thumb[y*ThumbSide+x] = uint8(sum / ((y1 - y0) * (x1 - x0)))
		}
	}
}

func verifyDeep(t testing.TB, o Options, paths ...string) *Report {
	t.Helper()
	if o.Deep == nil {
		o.Deep = &DeepOptions{Decode: decodePNG}
	}
	report, err := Files(context.Background(), paths, o)
	settest.Check(t, err)
	return report
}

// brief returns findings in a short form for tests.
func brief(r *Report) []string {
	list := []string{}
	for _, f := range r.Deep.Findings {
		s := fmt.Sprintf("%s %s %s %d", f.Severity[:1], f.Kind, f.Split, f.Record)
		if f.Feature != "" {
			s += " " + f.Feature
		}
		if f.Records > 1 {
			s += fmt.Sprintf(" x%d", f.Records)
		}
		if f.Other != nil {
			s += fmt.Sprintf(" %s %d %s", f.Other.Split, f.Other.Record, f.Other.Key)
		}
		list = append(list, s)
	}
	return list
}
