package input

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// Image is the image of a record, as the bytes of a file.
type Image struct {
	Data    []byte // aliases the record, or scratch
	Format  augment.Format
	Encoded bool // was raw
}

// ImageReader returns the images of records, and reuses its memory.
type ImageReader struct {
	Key     string
	scratch []byte
}

// Take returns the image of a record, valid until the next one is taken.
func (p *ImageReader) Take(r *Row) (Image, error) {
	f, ok := r.Get(p.Key)
	if !ok || f.Len() == 0 {
		return Image{}, fmt.Errorf("it has no feature %s with an image: --picture KEY names another, and the formats of tables take any records", p.Key)
	}
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return Image{}, WrongFeature(p.Key, f, "one encoded image")
	}
	data, _ := f.Bytes()
	format, err := Text(r, imagekey.Format)
	switch {
	case err != nil:
		return Image{}, err
	case format == rawpixels.Float32:
		return Image{}, fmt.Errorf("its image is stored as float32, which no image file holds without loss: export it as npz or parquet, or convert the images again without --encode float32")
	case format == rawpixels.Uint8:
		return p.encode(r, data)
	}
	return Image{Data: data, Format: augment.Sniff(data)}, nil
}

// encode makes a PNG of raw samples.
func (p *ImageReader) encode(r *Row, data []byte) (Image, error) {
	size, err := rawpixels.Of(&r.Features, rawpixels.Uint8, len(data))
	if err != nil {
		return Image{}, fmt.Errorf("its image: %w", err)
	}
	im := augment.Image{Pix: data, Width: size.Width, Height: size.Height, Channels: size.Channels, Stride: size.Width * size.Channels}
	out, err := augment.AppendPNG(p.scratch[:0], &im)
	if err != nil {
		return Image{}, fmt.Errorf("make a PNG of it: %w", err)
	}
	p.scratch = out
	return Image{Data: out, Format: augment.PNG, Encoded: true}, nil
}
