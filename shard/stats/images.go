package stats

import (
	"fmt"
	"strconv"
)

// ImageHeader is the header of an image.
type ImageHeader struct {
	Width, Height int // upright, in pixels
	Channels      int
}

// Images describes the images in one feature, as seen by Measure: values that begin like JPEG, PNG,
// GIF, WebP, BMP or TIFF.
type Images struct {
	Count int64 `json:"count"`
	// Formats counts them by format.
	Formats map[string]int64 `json:"formats"`
	// Unreadable counts images whose header cannot be read. These images, and without
	// Options.Header all images, are not in any of the figures below.
	Unreadable int64 `json:"unreadable"`
	// Channels counts images by number of channels.
	Channels map[string]int64 `json:"channels,omitempty"`
	Width    *Numbers         `json:"width,omitempty"`
	Height   *Numbers         `json:"height,omitempty"`
	// Sizes are the most frequent sizes, as "WIDTHxHEIGHT", with counts as in Numbers.Top.
	Sizes      []Top[string] `json:"sizes,omitempty"`
	SizesError int64         `json:"sizes_error,omitempty"`
	// Pixels is nil if no image was decoded.
	Pixels *Pixels `json:"pixels,omitempty"`
}

// imageStat is Images under construction.
type imageStat struct {
	count, unreadable int64
	formats, channels map[string]int64
	width, height     spread
	sizes             tally[uint64] // width<<32 | height
	pixels            pixelTotals   // if all are decoded
	sample            *pixelSample  // if some are; shared by all files
}

// imageScan is the state of a goroutine that examines images.
type imageScan struct {
	o       *Options
	samples *pixelSamples
	group   string // of the samples, "" for all records
	isList  bool   // whether the feature is a feature list
	// The image decoded last, which several groups may need.
	last     []byte
	lastSums PixelSums
	lastErr  error
}

func newImageStat(p *imageScan, key string) *imageStat {
	s := &imageStat{formats: map[string]int64{}, channels: map[string]int64{}}
	if p.o.Pixels != nil && p.o.SamplePixels > 0 {
		s.sample = p.samples.of(sampleName{p.group, key, p.isList})
	}
	return s
}

func (s *imageStat) add(x []byte, format string, p *imageScan) {
	s.count++
	s.formats[format]++
	if p.o.Header == nil {
		return
	}
	h, err := p.o.Header(x)
	if err != nil || h.Width <= 0 || h.Height <= 0 {
		s.unreadable++
		return
	}
	s.channels[strconv.Itoa(h.Channels)]++
	s.width.addInt(int64(h.Width))
	s.height.addInt(int64(h.Height))
	s.addSize(uint64(h.Width)<<32 | uint64(uint32(h.Height)))
	switch {
	case p.o.Pixels == nil:
	case s.sample != nil:
		s.sample.offer(x, p)
	default:
		s.pixels.add(p.pixels(x))
	}
}

func (s *imageStat) addSize(size uint64) {
	if i, known := s.sizes.index[size]; known {
		s.sizes.counts[i].n++
		return
	}
	if s.sizes.full() {
		s.sizes.purge()
	}
	s.sizes.insert(size, 1)
}

func (s *imageStat) merge(t *imageStat) {
	s.count += t.count
	s.unreadable += t.unreadable
	addCounts(s.formats, t.formats)
	addCounts(s.channels, t.channels)
	s.width.merge(&t.width)
	s.height.merge(&t.height)
	s.sizes.merge(&t.sizes)
	s.pixels.merge(&t.pixels)
	if s.sample == nil {
		s.sample = t.sample
	}
}

// forget drops the sample, if any, of images that are not in any figure.
func (s *imageStat) forget() {
	if s != nil && s.sample != nil {
		s.sample.forget()
	}
}

func (s *imageStat) stats(top int) *Images {
	if s == nil {
		return nil
	}
	p := &Images{Count: s.count, Formats: s.formats, Unreadable: s.unreadable}
	if s.width.moments.n > 0 {
		p.Channels = s.channels
		p.Width, p.Height = s.width.numbers(top), s.height.numbers(top)
		for _, c := range s.sizes.most(top) {
			p.Sizes = append(p.Sizes, Top[string]{fmt.Sprintf("%dx%d", c.key>>32, uint32(c.key)), c.n})
		}
		p.SizesError = s.sizes.taken
	}
	if s.sample != nil {
		s.pixels = s.sample.totals()
	}
	p.Pixels = s.pixels.stats()
	return p
}
