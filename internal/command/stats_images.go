package command

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/shard/stats"
)

// imageHeader returns what stats.Measure reads the headers of images with.
func imageHeader(codec *augment.Codec) func([]byte) (stats.ImageHeader, error) {
	return func(data []byte) (stats.ImageHeader, error) {
		info, err := codec.Stat(data)
		if err != nil {
			return stats.ImageHeader{}, err
		}
		w, h := info.Oriented()
		return stats.ImageHeader{Width: w, Height: h, Channels: info.Channels}, nil
	}
}

// pixelSums returns what stats.Measure sums the pixels of images up with.
func pixelSums(codec *augment.Codec) func([]byte) (stats.PixelSums, error) {
	gate := imageGate(statsBytes)
	images := sync.Pool{New: func() any { return new(augment.Image) }}
	return func(data []byte) (stats.PixelSums, error) {
		info, err := codec.Stat(data)
		if err != nil {
			return stats.PixelSums{}, err
		}
		if err := gate.Acquire(context.Background(), info.Memory()); err != nil {
			return stats.PixelSums{}, err
		}
		defer gate.Release(info.Memory())
		im := images.Get().(*augment.Image)
		defer func() {
			if cap(im.Pix) <= statsBytes/16 {
				images.Put(im)
			}
		}()
		// The record's checksum only proves that the image is as it was stored, not that it was
		// intact then.
		if _, err := codec.Decode(im, data, augment.DecodeOptions{Channels: 3}); err != nil {
			return stats.PixelSums{}, err
		}
		return sumPixels(im), nil
	}
}

// sumPixels sums up the samples of an RGB image, and their squares.
func sumPixels(im *augment.Image) stats.PixelSums {
	sums := stats.PixelSums{Pixels: int64(im.Width) * int64(im.Height)}
	for y := range im.Height {
		var sum, squares [3]uint64
		for row := im.Row(y); len(row) >= 3; row = row[3:] {
			r, g, b := uint64(row[0]), uint64(row[1]), uint64(row[2])
			sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			squares[0], squares[1], squares[2] = squares[0]+r*r, squares[1]+g*g, squares[2]+b*b
		}
		for c := range sum {
			sums.Sum[c] += sum[c]
			sums.Squares[c] += squares[c]
		}
	}
	return sums
}
