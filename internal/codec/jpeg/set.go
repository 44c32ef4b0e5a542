package jpeg

import (
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/optname"
)

// Choice selects the backends.
type Choice uint8

// The choices. Auto uses the decoder of this package where all of its assembly runs, on amd64 with
// AVX2 and BMI2, and libjpeg-turbo elsewhere; each falls back to the other for images that it
// doesn't read. libjpeg-turbo is used if it can be loaded and TFREC_NO_TURBO is not 1. Turbo
// requires it and tries it first; Go never uses it. The encoder is this package's, which writes the
// same bytes faster, unless libjpeg-turbo is in use and not all assembly runs.
const (
	Auto Choice = iota
	Turbo
	Go
)

// Set holds the opened backends, in the order in which they are tried. It is safe for concurrent
// use.
type Set struct {
	// Arithmetic allows arithmetic coding if libjpeg-turbo is available. By default such images are
	// unsupported, since damage in them cannot be found.
	Arithmetic bool

	decoders []decoder
	encoder  encoder
}

// Open finds the backends. It fails only for Turbo, when there is none.
func Open(choice Choice) (*Set, error) {
	s := &Set{decoders: []decoder{own{}}, encoder: ownEncoder{}}
	if choice == Go || choice == Auto && os.Getenv("TFREC_NO_TURBO") == "1" {
		return s, nil
	}
	t, err := loadTurbo()
	if err == nil {
		if !encodesFaster() {
			s.encoder = t
		}
		if choice == Auto && assembled() {
			s.decoders = []decoder{own{}, t}
		} else {
			s.decoders = []decoder{t, own{}}
		}
		return s, nil
	}
	if choice == Turbo {
		return nil, fmt.Errorf("libjpeg-turbo can't be loaded (%w); %s", err, getTurbo)
	}
	return s, nil
}

// Decoder names the first backend and its version: "libjpeg-turbo 2.1.5".
func (s *Set) Decoder() string { return s.decoders[0].name() }

// Encoder names the encoder and its version.
func (s *Set) Encoder() string { return s.encoder.name() }

// Append encodes p after dst. Quality is 1 to 100.
func (s *Set) Append(dst []byte, p Pixels, quality int, sub Subsampling) ([]byte, error) {
	if p.Width < 1 || p.Height < 1 || p.Width > 65500 || p.Height > 65500 {
		return dst, fmt.Errorf("encoding JPEG: an image of %dx%d: sides must be 1 to 65500", p.Width, p.Height)
	}
	if quality < 1 || quality > 100 {
		return dst, fmt.Errorf("encoding JPEG: quality %d is not in 1 to 100", quality)
	}
	n := p.Width * p.Format.Bytes()
	if p.Stride < n || len(p.Pix) < p.Stride*(p.Height-1)+n {
		return dst, fmt.Errorf("encoding JPEG: %d bytes are too few for %dx%d", len(p.Pix), p.Width, p.Height)
	}
	out, err := s.encoder.append(dst, p, quality, sub)
	if err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	return out, nil
}

// Supports says, from the header alone, whether any backend reads the image's coding. The
// error wraps [ErrUnsupported].
func (s *Set) Supports(h *Header) error {
	if h.Arithmetic() && !s.Arithmetic {
		return unsupportedf("arithmetic coding is read only when allowed, because its damage goes unnoticed (%s)", optname.ConvertImages.With(optname.CodecOptionsAllowArithmetic))
	}
	if s.first(h, native(h, Request{Format: RGB, Denom: 1})) == nil {
		return s.unread(h)
	}
	return nil
}

// unread returns the error for an image that no backend reads. Its text does not name the backends, so
// that it is the same on all machines.
func (s *Set) unread(h *Header) error {
	other := ""
	if h.Arithmetic() {
		other = "; libjpeg-turbo does"
	}
	return unsupportedf("no decoder here reads %s%s", h.coding(), other)
}

// Reduces reports whether the backend for the image can decode it at 1/denom.
func (s *Set) Reduces(h *Header, format Format, denom int) bool {
	r := native(h, Request{Format: format, Denom: 1})
	d := s.first(h, r)
	r.Denom = denom
	return d != nil && d.supports(h, r)
}

// Decode decodes an image into dst, rows stride bytes apart, at the size that h.Scaled(r.Denom)
// returns. Damage is an error, the same for all backends ([Check]); in arithmetic coding, warnings
// of libjpeg-turbo are errors as well. The luminance of an image stored as RGB or CMYK is computed
// from the colours; for a YCbCr image it is the stored luma. Errors wrap [ErrDamaged] or
// [ErrUnsupported].
func (s *Set) Decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	w, ht := h.Scaled(r.Denom)
	if stride < w*r.Format.Bytes() || len(dst) < stride*(ht-1)+w*r.Format.Bytes() {
		return fmt.Errorf("decoding JPEG: %d bytes are too few for %dx%d", len(dst), w, ht)
	}
	n := native(h, r)
	if n.Format == r.Format {
		return s.decode(dst, stride, data, h, n)
	}
	b := n.Format.Bytes()
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxKept {
			buffers.Put(buf)
		}
	}()
	if cap(*buf) < w*ht*b {
		*buf = make([]byte, w*ht*b)
	}
	tmp := (*buf)[:w*ht*b]
	if err := s.decode(tmp, w*b, data, h, n); err != nil {
		return err
	}
	for y := range ht {
		row, out := tmp[y*w*b:][:w*b], dst[y*stride:]
		switch {
		case n.Format == Gray:
			for x, v := range row {
				out[3*x], out[3*x+1], out[3*x+2] = v, v, v
			}
			continue
		case n.Format == cmyk:
			row = cmykToRGB(row)
		}
		if r.Format == RGB {
			copy(out, row)
			continue
		}
		for x := range w {
			out[x] = luminance(row[3*x : 3*x+3 : 3*x+3])
		}
	}
	return nil
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// native is the request that backends get: grayscale gives Gray, untransformed RGB gives RGB,
// and four components give CMYK.
func native(h *Header, r Request) Request {
	switch h.ColorSpace {
	case ColorGray:
		r.Format = Gray
	case ColorCMYK, ColorYCCK:
		r.Format = cmyk
	case ColorRGB:
		r.Format = RGB
	}
	return r
}

// first is the backend that takes the image.
func (s *Set) first(h *Header, r Request) decoder {
	for _, d := range s.decoders {
		if d.supports(h, r) {
			return d
		}
	}
	return nil
}

// decode decodes the pixels of the whole image with one of the backends.
func (s *Set) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	r.Part = image.Rectangle{}
	return s.ask(data, h, r, func(d decoder, data []byte) error { return d.decode(dst, stride, data, h, r) })
}

// ask tries the backends that support the image, one after the other, until one succeeds, and makes
// sure that damage is found.
func (s *Set) ask(data []byte, h *Header, r Request, decode func(decoder, []byte) error) error {
	if err := s.Supports(h); err != nil {
		return err
	}
	var refusals []error
	checked := false
	for _, d := range s.decoders {
		if !d.supports(h, r) {
			continue
		}
		_, finds := d.(damageChecker)
		if !checked && !finds {
			if err := checkPart(data, h, r); err != nil {
				return err
			}
			checked = true
		}
		err := guarded(d, data, h, decode)
		switch _, warned := err.(warning); {
		case err == nil, warned && h.Huffman(): // the check knows better
			return nil
		case warned:
			return damagef("%v", err)
		case finds && (errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported)):
			return err
		}
		refusals = append(refusals, fmt.Errorf("%s: %w", d.name(), err))
	}
	switch {
	case len(refusals) == 0:
		return s.unread(h)
	case h.Arithmetic(): // the check has not seen the data: assume that the coding is not to blame
		return damagef("%v", errors.Join(refusals...))
	}
	return unsupportedf("%v", errors.Join(refusals...))
}

// guarded makes a decoder's panic an error.
func guarded(d decoder, data []byte, h *Header, decode func(decoder, []byte) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it crashed: %v", p)
		}
	}()
	if _, finds := d.(damageChecker); h.NoTables && !finds {
		data = slices.Concat(data[:2], standardDHT, data[2:])
	}
	return decode(d, data)
}

// cmykToRGB converts a row of inverted CMYK in place, by Pillow's formula: each colour is reduced
// by its ink, of the level that black leaves.
func cmykToRGB(row []byte) []byte {
	n := len(row) / 4
	for x := range n {
		k := uint32(row[4*x+3])
		for i := range 3 {
			ink := (255-uint32(row[4*x+i]))*k + 128
			row[3*x+i] = byte(k - (ink>>8+ink)>>8)
		}
	}
	return row[:3*n]
}
