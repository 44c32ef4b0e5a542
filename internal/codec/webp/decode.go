package webp

import (
	"fmt"
	"image"
	"slices"
)

// Decoder decodes one image after the other in the same memory. Its zero value is ready to use. It
// is not safe for concurrent use.
type Decoder struct {
	lossy    vp8
	lossless vp8l
	alpha    []byte
	withA    image.NYCbCrA
}

// container is the state of reading chunks.
type container struct {
	extended      bool // a VP8X chunk has been read
	width, height int  // the size in it
	wantAlpha     bool // and an ALPH chunk must follow before VP8 data
	alpha         bool // it has been read
}

// firstChunks are the chunks that a file may begin with.
var firstChunks = []string{"VP8X", "VP8 ", "VP8L"}

// Decode decodes the first image in a WebP file: an *image.YCbCr with the subsampling 420, an
// *image.NYCbCrA or an *image.NRGBA, valid until the next call. Its memory belongs to d. The caller
// must have limited the size that the file announces: memory is allocated for it.
func (d *Decoder) Decode(data []byte) (image.Image, error) {
	list, err := Content(data)
	if err != nil {
		return nil, err
	}
	var c container
	first := true
	for name, body := range Chunks(list) {
		if first && !slices.Contains(firstChunks, string(name)) {
			return nil, fmt.Errorf("%w: the first chunk is %.4q", errStrict, name)
		}
		first = false
		if m, err := d.chunk(&c, name, body); m != nil || err != nil {
			return m, err
		}
	}
	return nil, errFormat
}

// chunk reads a chunk. It returns an image if the chunk completes one.
func (d *Decoder) chunk(c *container, name, body []byte) (image.Image, error) {
	switch string(name) {
	case "VP8X":
		if c.extended || len(body) != 10 {
			return nil, errFormat
		}
		c.extended = true
		c.wantAlpha = body[0]&0x10 != 0
		c.width = 1 + (int(body[4]) | int(body[5])<<8 | int(body[6])<<16)
		c.height = 1 + (int(body[7]) | int(body[8])<<8 | int(body[9])<<16)
		if int64(c.width)*int64(c.height) > 1<<31-1 {
			return nil, errFormat
		}
	case "ALPH":
		if !c.wantAlpha || len(body) == 0 {
			return nil, errFormat
		}
		c.wantAlpha, c.alpha = false, true
		return nil, d.readAlpha(body, c.width, c.height)
	case "VP8 ":
		if c.wantAlpha || len(body) > 1<<31-1 {
			return nil, errFormat
		}
		if err := d.lossy.header(body); err != nil {
			return nil, err
		}
		if c.extended && (d.lossy.width != c.width || d.lossy.height != c.height) {
			return nil, errFormat
		}
		if err := d.lossy.decode(body); err != nil {
			return nil, err
		}
		if !c.alpha {
			return &d.lossy.img, nil
		}
		d.withA = image.NYCbCrA{YCbCr: d.lossy.img, A: d.alpha, AStride: c.width}
		return &d.withA, nil
	case "VP8L":
		if c.alpha {
			return nil, errFormat
		}
		w, h, err := losslessSize(body)
		if err != nil {
			return nil, err
		}
		if c.extended && (w != c.width || h != c.height) {
			return nil, errFormat
		}
		return d.lossless.decode(body[losslessHeader:], w, h)
	}
	return nil, nil
}

// Held returns the number of bytes of memory that the decoder keeps for the next image.
func (d *Decoder) Held() int { return d.lossy.held() + d.lossless.held() + cap(d.alpha) }
