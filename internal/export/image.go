package export

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Formats of images that are stored without encoding.
const (
	formatRaw     = "raw"
	formatFloat32 = "float32"
)

// storedImage is the image of a record, as the bytes of a file.
type storedImage struct {
	data    []byte // aliases the record, or scratch
	format  augment.Format
	encoded bool // was raw
}

// imageReader returns the images of records, and reuses its memory.
type imageReader struct {
	key     string
	scratch []byte
}

// take returns the image of a record, valid until the next one is taken.
func (p *imageReader) take(r *row) (storedImage, error) {
	f, ok := r.Get(p.key)
	if !ok || f.Len() == 0 {
		return storedImage{}, fmt.Errorf("it has no feature %s with an image: --picture KEY names another, and the formats of tables take any records", p.key)
	}
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return storedImage{}, wrongFeature(p.key, f, "one encoded image")
	}
	data, _ := f.Bytes()
	format, err := text(r, imagekey.Format)
	switch {
	case err != nil:
		return storedImage{}, err
	case format == formatFloat32:
		return storedImage{}, fmt.Errorf("its image is stored as float32, which no image file holds without loss: export it as npz or parquet, or convert the images again without --encode float32")
	case format == formatRaw:
		return p.encode(r, data)
	}
	return storedImage{data: data, format: augment.Sniff(data)}, nil
}

// encode makes a PNG of raw samples.
func (p *imageReader) encode(r *row, data []byte) (storedImage, error) {
	var sides [3]int64
	for i, key := range []string{imagekey.Height, imagekey.Width, imagekey.Channels} {
		f, _ := r.Get(key)
		n, ok := f.Int64()
		if !ok || n < 1 || n > int64(len(data)) {
			return storedImage{}, fmt.Errorf("its image is stored raw, in %s, and %s is %v: want a number that fits", plural.Of(len(data), "byte"), key, f.Value())
		}
		sides[i] = n
	}
	h, w, channels := sides[0], sides[1], sides[2]
	// Each is at most len(data), which is below 2³⁰: w*channels does not overflow.
	if (channels != 1 && channels != 3) || int64(len(data))%(w*channels) != 0 || int64(len(data))/(w*channels) != h {
		return storedImage{}, fmt.Errorf("its image is stored raw, in %s, which %d x %d pixels of %d channels do not take", plural.Of(len(data), "byte"), w, h, channels)
	}
	im := augment.Image{Pix: data, Width: int(w), Height: int(h), Channels: int(channels), Stride: int(w * channels)}
	out, err := augment.AppendPNG(p.scratch[:0], &im)
	if err != nil {
		return storedImage{}, fmt.Errorf("make a PNG of it: %w", err)
	}
	p.scratch = out
	return storedImage{data: out, format: augment.PNG, encoded: true}, nil
}

// wrongFeature says that a feature holds something else than is wanted.
func wrongFeature(key string, f tfrecord.Feature, want string) error {
	return fmt.Errorf("its feature %s holds %d of kind %s: want %s", key, f.Len(), f.Kind(), want)
}
