package imagefile

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// TakesPlanes reports whether [Codec.DecodePlanes] reads an image. This depends only on its header
// and the codec's options: it must be an upright JPEG in YCbCr with Huffman coding and subsampling
// 420, 422, 440 or 444. info must be from [Codec.Stat] of the same codec.
func (c *Codec) TakesPlanes(info Info) bool {
	return info.planar && info.Orientation == 1
}

// DecodePlanes is [Codec.Decode] for images that TakesPlanes, without conversion to RGB. It
// has the same verdicts on damage and the same rule for decoding at a part of the size. The
// memory of dst is reused or replaced by the decoder's own. o.Channels must be 0 or 3.
func (c *Codec) DecodePlanes(dst *bitmap.Planes, data []byte, o DecodeOptions) (Info, error) {
	if o.Channels != 0 && o.Channels != 3 {
		return Info{}, fmt.Errorf("decoding planes to %d channels: give 0 or 3", o.Channels)
	}
	h, err := c.header(data)
	if err != nil {
		return h.Info, err
	}
	if !c.TakesPlanes(h.Info) {
		return h.Info, sniff.Unsupported(h.Format, "it has no planes of use")
	}
	r := jpeg.Request{Denom: c.reduction(&h.jpeg, jpeg.RGB, o), Trusted: o.Trusted, Part: o.Part, Spare: o.Spare}
	p := bitmap.Planar(dst, 0)
	if err := c.jpeg.DecodePlanes(&p, data, &h.jpeg, r); err != nil {
		return h.Info, err
	}
	cw, ch := p.Sampling.ChromaSize(p.Width, p.Height)
	*dst = bitmap.Planes{
		Y:           bitmap.Image{Pix: p.Pix[0], Width: p.Width, Height: p.Height, Channels: 1, Stride: p.Stride[0]},
		Cb:          bitmap.Image{Pix: p.Pix[1], Width: cw, Height: ch, Channels: 1, Stride: p.Stride[1]},
		Cr:          bitmap.Image{Pix: p.Pix[2], Width: cw, Height: ch, Channels: 1, Stride: p.Stride[2]},
		Subsampling: p.Sampling.String(), Width: h.Width, Height: h.Height, Denom: r.Denom,
	}
	return h.Info, nil
}

// AppendJPEGPlanes appends the image to dst as a JPEG with the subsampling of its planes. Quality
// is 1 to 100.
func (c *Codec) AppendJPEGPlanes(dst []byte, p *bitmap.Planes, quality int) ([]byte, error) {
	if err := bitmap.CheckPlanes(p); err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	sub, err := bitmap.SamplingOf(p)
	if err != nil {
		return dst, err
	}
	planar := bitmap.Planar(p, sub)
	return c.jpeg.AppendPlanes(dst, &planar, quality)
}
