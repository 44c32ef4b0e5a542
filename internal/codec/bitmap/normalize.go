package bitmap

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Normalize maps samples to numbers, (x/255 - Mean) / Std for each channel. The zero value maps
// them to x/255, from 0 to 1: a Std of 0 counts as 1. Grayscale images use the first value of each.
type Normalize struct {
	Mean, Std [3]float32
}

// Validate returns an error for NaNs and infinities, and for deviations below 0.
func (n Normalize) Validate() error {
	for c := range 3 {
		if m := float64(n.Mean[c]); math.IsNaN(m) || math.IsInf(m, 0) {
			return fmt.Errorf("normalize: mean %v of channel %d", m, c)
		}
		if s := float64(n.Std[c]); math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
			return fmt.Errorf("normalize: standard deviation %v of channel %d: want a number over 0, or 0 for 1", s, c)
		}
	}
	return nil
}

// Of returns the number for a sample of a channel: x/255 rounded to float32, minus the mean,
// rounded, divided by the deviation, rounded, as NumPy and torchvision compute it.
func (n Normalize) Of(x uint8, channel int) float32 {
	v := float32(float32(x)/255) - n.Mean[channel]
	if n.Std[channel] == 0 {
		return v
	}
	return float32(v) / n.Std[channel]
}

// AppendFloat32 appends the image's samples to dst as float32 in little-endian
// order, row by row, pixel by pixel, channel by channel (HWC), with nothing
// between rows.
func AppendFloat32(dst []byte, im *Image, n Normalize) []byte {
	var table [3][256]uint32
	for c := range im.Channels {
		for x := range table[c] {
			table[c][x] = math.Float32bits(n.Of(uint8(x), c))
		}
	}
	at := len(dst)
	dst = slices.Grow(dst, 4*im.Width*im.Height*im.Channels)
	dst = dst[:at+4*im.Width*im.Height*im.Channels]
	for y := range im.Height {
		row := im.Row(y)
		out := dst[at:][:4*len(row)]
		at += len(out)
		if im.Channels == 1 {
			for i, x := range row {
				binary.LittleEndian.PutUint32(out[4*i:], table[0][x])
			}
			continue
		}
		for ; len(row) >= 3 && len(out) >= 12; row, out = row[3:], out[12:] {
			binary.LittleEndian.PutUint32(out, table[0][row[0]])
			binary.LittleEndian.PutUint32(out[4:], table[1][row[1]])
			binary.LittleEndian.PutUint32(out[8:], table[2][row[2]])
		}
	}
	return dst
}

// Floats writes normalised samples to dst, which has their number.
func Floats(im *Image, dst []float32, n *Normalize, channelsFirst bool) []float32 {
	table := LevelNumbers(n)
	size := im.Width * im.Height
	for y := range im.Height {
		row := im.Row(y)
		for c := range im.Channels {
			to, step := dst[y*len(row)+c:], im.Channels
			if channelsFirst {
				to, step = dst[c*size+y*im.Width:], 1
			}
			for x := range im.Width {
				to[x*step] = table[c][row[x*im.Channels+c]]
			}
		}
	}
	return dst
}

// LevelNumbers returns the normalised value of each level of each channel.
func LevelNumbers(n *Normalize) *[3][256]float32 {
	t := new([3][256]float32)
	for c := range t {
		for x := range t[c] {
			t[c][x] = n.Of(uint8(x), c)
		}
	}
	return t
}
