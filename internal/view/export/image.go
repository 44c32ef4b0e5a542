package export

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
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
	case format == rawpixels.Float32:
		return storedImage{}, fmt.Errorf("its image is stored as float32, which no image file holds without loss: export it as npz or parquet, or convert the images again without --encode float32")
	case format == rawpixels.Uint8:
		return p.encode(r, data)
	}
	return storedImage{data: data, format: augment.Sniff(data)}, nil
}

// encode makes a PNG of raw samples.
func (p *imageReader) encode(r *row, data []byte) (storedImage, error) {
	size, err := rawpixels.Of(&r.Features, rawpixels.Uint8, len(data))
	if err != nil {
		return storedImage{}, fmt.Errorf("its image: %w", err)
	}
	im := augment.Image{Pix: data, Width: size.Width, Height: size.Height, Channels: size.Channels, Stride: size.Width * size.Channels}
	out, err := augment.AppendPNG(p.scratch[:0], &im)
	if err != nil {
		return storedImage{}, fmt.Errorf("make a PNG of it: %w", err)
	}
	p.scratch = out
	return storedImage{data: out, format: augment.PNG, encoded: true}, nil
}

// wrongFeature returns the error for a feature with unexpected values.
func wrongFeature(key string, f tfrecord.Feature, want string) error {
	return fmt.Errorf("its feature %s holds %d of kind %s: want %s", key, f.Len(), f.Kind(), want)
}
