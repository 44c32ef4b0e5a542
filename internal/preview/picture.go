package preview

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/tfrecord"
)

// How images are encoded for the page.
const (
	maxSide    = 640 // of an image on the page, in pixels
	minSide    = 48  // below which the quality goes down instead
	losslessly = 64  // the longest side of images that become PNG
	quality    = 82
	lowQuality = 40
)

// Memory of images that are decoded at a time, over all workers: at most so much, and a quarter of
// what there is. An image that takes more is decoded alone.
const (
	decodedBytes = 1 << 30
	keptBytes    = 64 << 20 // of an image, from one to the next
)

// newGate returns what the images share.
func newGate() *par.Budget { return par.NewBudget(min(decodedBytes, memory.Limit()/4)) }

// Values of image/format of images that are stored without encoding.
const (
	formatRaw     = "raw"
	formatFloat32 = "float32"
)

// image is an image on the page.
type picture struct {
	uri           string // data: with our own encoding
	width, height int    // of what is stored
	shownWidth    int    // of what is on the page
	shownHeight   int
	format        string
	bytes         int // of what is stored
	// pixels is what takes the place of uri in an image file: RGB.
	pixels *augment.Image
}

// images makes images small, for one goroutine at a time.
type pictures struct {
	codec        *augment.Codec
	gate         *par.Budget // of all goroutines
	held         int64       // of it, until release
	full, shrunk augment.Image
	scratch      augment.Scratch
	data         []byte
}

// reserve waits until there are so many bytes for an image.
func (p *pictures) reserve(bytes int64) error {
	if err := p.gate.Acquire(context.Background(), bytes); err != nil {
		return err
	}
	p.held = bytes
	return nil
}

// release ends what load began.
func (p *pictures) release() {
	for _, im := range []*augment.Image{&p.full, &p.shrunk} {
		if cap(im.Pix) > keptBytes {
			*im = augment.Image{}
		}
	}
	p.scratch.Trim()
	p.gate.Release(p.held)
	p.held = 0
}

// load decodes the image of a record to full: where the decoder can, at not
// much more than the size that is wanted. release is to follow, whatever it returns.
func (p *pictures) load(features *tfrecord.Features, data []byte, side int) (*picture, error) {
	info := &picture{bytes: len(data), format: textOf(features, keyFormat)}
	if info.format == formatRaw || info.format == formatFloat32 {
		return info, p.loadSamples(features, data, info)
	}
	stat, err := p.codec.Stat(data)
	if err != nil {
		return nil, err
	}
	info.format = strings.ToUpper(string(stat.Format))
	info.width, info.height = stat.Oriented()
	if err := p.reserve(stat.Memory()); err != nil {
		return nil, err
	}
	fit := augment.ResizeSpec{Width: side, Height: side, Fit: augment.Longer, NoUpscale: true}
	var o augment.DecodeOptions
	o.MinWidth, o.MinHeight = fit.MinDecode(info.width, info.height)
	_, err = p.codec.Decode(&p.full, data, o)
	return info, err
}

// loadSamples takes an image that is stored as samples.
func (p *pictures) loadSamples(features *tfrecord.Features, data []byte, info *picture) error {
	each := 1
	if info.format == formatFloat32 {
		each = 4
	}
	var sides [3]int64
	for i, key := range []string{keyHeight, keyWidth, keyChannels} {
		f, _ := features.Get(key)
		n, ok := f.Int64()
		if !ok || n < 1 || n > int64(len(data)) {
			return fmt.Errorf("%s, but %s is missing or does not fit", info.format, key)
		}
		sides[i] = n
	}
	h, w, channels := sides[0], sides[1], sides[2]
	// Each is at most len(data), which is below 2³⁰: w*channels does not overflow.
	row := w * channels * int64(each)
	if (channels != 1 && channels != 3) || int64(len(data))%row != 0 || int64(len(data))/row != h {
		return fmt.Errorf("%s in %s, which %d x %d pixels of %d channels do not take", info.format, size.Format(int64(len(data))), w, h, channels)
	}
	info.width, info.height = int(w), int(h)
	if err := p.reserve(w * h * channels); err != nil {
		return err
	}
	p.full.Reset(int(w), int(h), int(channels))
	if each == 1 {
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

// small makes an image of at most so many bytes, as base64, of what a record
// holds.
func (p *pictures) small(features *tfrecord.Features, data []byte, budget int) (*picture, error) {
	defer p.release()
	info, err := p.load(features, data, maxSide)
	if err != nil {
		return nil, fmt.Errorf("cannot be decoded: %w", err)
	}
	budget = budget / 4 * 3
	longer := max(p.full.Width, p.full.Height)
	if longer <= losslessly {
		if p.data, err = augment.AppendPNG(p.data[:0], &p.full); err != nil {
			return nil, fmt.Errorf("cannot be encoded: %w", err)
		}
		if len(p.data) <= budget {
			return p.finish(info, "image/png", &p.full), nil
		}
	}
	if longer > maxSide { // once, for what follows is tried several times
		if err := p.shrink(maxSide); err != nil {
			return nil, fmt.Errorf("cannot be made smaller: %w", err)
		}
		p.full, p.shrunk = p.shrunk, p.full
	}
	side, q := min(longer, maxSide), quality
	for {
		if err := p.encode(side, q); err != nil {
			return nil, fmt.Errorf("cannot be encoded: %w", err)
		}
		over := float64(len(p.data)) / float64(budget)
		switch {
		case over <= 1 || q == lowQuality:
			return p.finish(info, "image/jpeg", &p.shrunk), nil
		case side > minSide:
			side = max(minSide, min(side*7/8, int(float64(side)/math.Sqrt(over))))
		default:
			q = lowQuality
		}
	}
}

// pixels makes an image whose longer side is that long at most.
func (p *pictures) pixels(features *tfrecord.Features, data []byte, side int) (*picture, error) {
	defer p.release()
	info, err := p.load(features, data, side)
	if err != nil {
		return nil, fmt.Errorf("cannot be decoded: %w", err)
	}
	info.pixels = new(augment.Image)
	if err = p.shrink(side); err == nil {
		err = augment.ToRGB(info.pixels, &p.shrunk)
	}
	return info, err
}

// shrink makes shrunk the image, its longer side that long at most.
func (p *pictures) shrink(side int) error {
	spec := augment.ResizeSpec{Width: side, Height: side, Fit: augment.Longer, NoUpscale: true, Antialias: true}
	return spec.Apply(&p.shrunk, &p.full, &p.scratch)
}

// encode makes data a JPEG of the image, its longer side that long.
func (p *pictures) encode(side, quality int) error {
	err := p.shrink(side)
	if err == nil {
		p.data, err = p.codec.AppendJPEG(p.data[:0], &p.shrunk, quality, "420")
	}
	return err
}

func (p *pictures) finish(info *picture, mime string, im *augment.Image) *picture {
	info.shownWidth, info.shownHeight = im.Width, im.Height
	info.uri = "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(p.data)
	return info
}
