package command

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/shard"
)

// pictureHeader returns what shard.Measure reads the headers of pictures with.
func pictureHeader(codec *augment.Codec) func([]byte) (shard.PictureHeader, error) {
	return func(data []byte) (shard.PictureHeader, error) {
		info, err := codec.Stat(data)
		if err != nil {
			return shard.PictureHeader{}, err
		}
		w, h := info.Oriented()
		return shard.PictureHeader{Width: w, Height: h, Channels: info.Channels}, nil
	}
}

// pixelSums returns what shard.Measure sums the pixels of pictures up with.
func pixelSums(codec *augment.Codec) func([]byte) (shard.PixelSums, error) {
	gate := imageGate(statsBytes)
	images := sync.Pool{New: func() any { return new(augment.Image) }}
	return func(data []byte) (shard.PixelSums, error) {
		info, err := codec.Stat(data)
		if err != nil {
			return shard.PixelSums{}, err
		}
		if err := gate.Acquire(context.Background(), info.Memory()); err != nil {
			return shard.PixelSums{}, err
		}
		defer gate.Release(info.Memory())
		im := images.Get().(*augment.Image)
		defer func() {
			if cap(im.Pix) <= statsBytes/16 {
				images.Put(im)
			}
		}()
		// The record's checksum says that the picture is as it was stored, not
		// that it was whole then.
		if _, err := codec.Decode(im, data, augment.DecodeOptions{Channels: 3}); err != nil {
			return shard.PixelSums{}, err
		}
		return sumPixels(im), nil
	}
}

// sumPixels sums up the samples of an RGB picture, and their squares.
func sumPixels(im *augment.Image) shard.PixelSums {
	sums := shard.PixelSums{Pixels: int64(im.Width) * int64(im.Height)}
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
