package sample

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/codec/thumbnail"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/tfrecord"
)

// How images are encoded for the page.
const (
	maxSide    = 640 // of an image on the page, in pixels
	minSide    = 48  // below which the quality is reduced instead
	Losslessly = 64  // the longest side of images that become PNG
	quality    = 82
	lowQuality = 40

	// CellSide is the side of an image that is kept as pixels, for a contact sheet.
	CellSide = 176
)

// Memory of the images that are decoded at the same time, over all workers: at most decodedBytes,
// and a quarter of the memory available. An image that needs more is decoded alone.
const (
	decodedBytes = 1 << 30
	keptBytes    = 64 << 20 // of an image, from one to the next
)

// NewGate returns the memory budget shared by all images.
func NewGate() *par.Budget { return par.NewBudget(min(decodedBytes, memory.Limit()/4)) }

// ShownImage is an image on the page.
type ShownImage struct {
	Uri           string // data: with our own encoding
	Width, Height int    // of the stored image
	ShownWidth    int    // of the image on the page
	ShownHeight   int
	Format        string
	Bytes         int // of the stored image
	Orientation   int // EXIF's, from the stored image to the shown one
	// pixels is used instead of uri on a contact sheet.
	Pixels *image.NRGBA
}

// Thumbnails makes images small, for one goroutine at a time.
type Thumbnails struct {
	Codec   *augment.Codec
	Gate    *par.Budget // of all goroutines
	held    int64       // of it, until release
	full    augment.Image
	scratch augment.Scratch
}

// reserve waits until bytes are available for an image.
func (p *Thumbnails) reserve(bytes int64) error {
	if err := p.Gate.Acquire(context.Background(), bytes); err != nil {
		return err
	}
	p.held = bytes
	return nil
}

// release ends what decode began.
func (p *Thumbnails) release() {
	if cap(p.full.Pix) > keptBytes {
		p.full = augment.Image{}
	}
	p.scratch.Trim()
	p.Gate.Release(p.held)
	p.held = 0
}

// decode decodes the image of a record to full, at not much more than the wanted size if the
// decoder can. The caller must call release, whatever decode returns.
func (p *Thumbnails) decode(features *tfrecord.Features, data []byte, side int) (*ShownImage, error) {
	info := &ShownImage{Bytes: len(data), Format: textOf(features, imagekey.Format)}
	info.Orientation = 1
	if rawpixels.SampleBytes(info.Format) > 0 {
		return info, p.loadSamples(features, data, info)
	}
	stat, err := p.Codec.Stat(data)
	if err != nil {
		return nil, err
	}
	info.Format = strings.ToUpper(string(stat.Format))
	info.Width, info.Height = stat.Oriented()
	info.Orientation = stat.Orientation
	if err := p.reserve(stat.Memory()); err != nil {
		return nil, err
	}
	fit := augment.ResizeSpec{Width: side, Height: side, Fit: augment.Longer, NoUpscale: true, NoAntialias: true}
	var o augment.DecodeOptions
	o.MinWidth, o.MinHeight = fit.MinDecode(info.Width, info.Height)
	_, err = p.Codec.Decode(&p.full, data, o)
	return info, err
}

// loadSamples takes an image that is stored as samples.
func (p *Thumbnails) loadSamples(features *tfrecord.Features, data []byte, info *ShownImage) error {
	stored, err := rawpixels.Of(features, info.Format, len(data))
	if err != nil {
		return err
	}
	info.Width, info.Height = stored.Width, stored.Height
	if err := p.reserve(int64(len(data) / rawpixels.SampleBytes(info.Format))); err != nil {
		return err
	}
	p.full.Reset(stored.Width, stored.Height, stored.Channels)
	if info.Format == rawpixels.Uint8 {
		copy(p.full.Pix, data)
		return nil
	}
	return stretch(p.full.Pix, data)
}

// stretch makes floats bytes, the least 0 and the largest 255: what mean and
// deviation they were normalized by is not known.
func stretch(dst []uint8, data []byte) error {
	at := func(i int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range dst {
		if x := at(i); !math.IsInf(x, 0) {
			low, high = min(low, x), max(high, x)
		}
	}
	if math.IsNaN(low) || math.IsNaN(high) {
		return errors.New("float32 with NaNs")
	}
	for i := range dst {
		if high > low {
			dst[i] = uint8(math.Round(255 * max(0, min(1, (at(i)-low)/(high-low)))))
		} else {
			dst[i] = 128
		}
	}
	return nil
}

// load makes an image whose longer side is at most side pixels.
func (p *Thumbnails) load(features *tfrecord.Features, data []byte, side int) (*ShownImage, error) {
	defer p.release()
	info, err := p.decode(features, data, side)
	if err != nil {
		return nil, fmt.Errorf("cannot be decoded: %w", err)
	}
	if info.Pixels, err = thumbnail.New(&p.full, side, false, &p.scratch); err != nil {
		return nil, fmt.Errorf("cannot be made smaller: %w", err)
	}
	info.ShownWidth, info.ShownHeight = info.Pixels.Rect.Dx(), info.Pixels.Rect.Dy()
	return info, nil
}

// small makes an image of at most budget bytes as base64.
func (p *Thumbnails) small(features *tfrecord.Features, data []byte, budget int) (*ShownImage, error) {
	info, err := p.load(features, data, maxSide)
	if err != nil {
		return nil, err
	}
	im := info.Pixels
	info.Pixels = nil
	budget = budget / 4 * 3
	side, q := max(im.Rect.Dx(), im.Rect.Dy()), quality
	if side <= Losslessly {
		png, err := thumbnail.PNG(im)
		if err != nil {
			return nil, fmt.Errorf("cannot be encoded: %w", err)
		}
		if len(png) <= budget {
			return info.show("image/png", png, im.Rect), nil
		}
	}
	for {
		jpeg, bounds, err := thumbnail.JPEG(im, side, q)
		if err != nil {
			return nil, fmt.Errorf("cannot be encoded: %w", err)
		}
		over := float64(len(jpeg)) / float64(budget)
		switch {
		case over <= 1 || q == lowQuality:
			return info.show("image/jpeg", jpeg, bounds), nil
		case side > minSide:
			side = max(minSide, min(side*7/8, int(float64(side)/math.Sqrt(over))))
		default:
			q = lowQuality
		}
	}
}

func (p *ShownImage) show(mime string, data []byte, bounds image.Rectangle) *ShownImage {
	p.ShownWidth, p.ShownHeight = bounds.Dx(), bounds.Dy()
	p.Uri = "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	return p
}
