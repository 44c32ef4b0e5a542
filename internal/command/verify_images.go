package command

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/shard/verify"
)

// Memory of the images that are decoded at the same time, over all workers: at most this, and a
// quarter of the memory available. An image that needs more is decoded alone.
const (
	verifyBytes = 96 << 20
	statsBytes  = 1 << 30
)

// imageGate bounds the memory of all images being decoded.
func imageGate(bytes int64) *par.Budget { return par.NewBudget(min(bytes, memory.Limit()/4)) }

// thumbFrom is the minimum side at which a JPEG is decoded to make a thumb of it: twice the side of
// the thumb.
const thumbFrom = 2 * verify.ThumbSide

// imageDecoder returns what verify.Files decodes images with.
func imageDecoder(codec *augment.Codec) func([]byte, *verify.Thumb) (verify.ImageFacts, error) {
	gate := imageGate(verifyBytes)
	images := sync.Pool{New: func() any { return new([2]augment.Image) }}
	return func(data []byte, thumb *verify.Thumb) (verify.ImageFacts, error) {
		info, err := codec.Stat(data)
		if err != nil {
			return verify.ImageFacts{}, imageError(err)
		}
		facts := verify.ImageFacts{Format: string(info.Format), Width: info.Width, Height: info.Height, Channels: info.Channels, Foreign: !info.TensorFlow()}
		facts.UprightWidth, facts.UprightHeight = info.Oriented()
		if err := gate.Acquire(context.Background(), info.Memory()); err != nil {
			return facts, err
		}
		defer gate.Release(info.Memory())
		if info.Memory() >= verifyBytes {
			defer runtime.GC() // free the memory of a large image before the next one
		}
		if thumb == nil {
			_, err = codec.Check(data)
			return facts, imageError(err)
		}
		pair := images.Get().(*[2]augment.Image)
		defer func() {
			if cap(pair[0].Pix) <= verifyBytes/8 {
				images.Put(pair)
			}
		}()
		if _, err := codec.Decode(&pair[0], data, augment.DecodeOptions{Channels: 1, MinWidth: thumbFrom, MinHeight: thumbFrom}); err != nil {
			return facts, imageError(err)
		}
		if err := augment.Resize(&pair[1], &pair[0], verify.ThumbSide, verify.ThumbSide, augment.Area, true); err != nil {
			return facts, fmt.Errorf("%w: %w", verify.ErrImageTooLarge, err)
		}
		for y := range verify.ThumbSide {
			copy(thumb[y*verify.ThumbSide:], pair[1].Row(y))
		}
		return facts, nil
	}
}

// imageError makes a decoding error match the error of package verify for its reason. Other errors
// are returned unchanged, and mean damage.
func imageError(err error) error {
	for from, to := range map[error]error{
		augment.ErrNotImage:      verify.ErrNotImage,
		augment.ErrUnsupported:   verify.ErrUnsupportedImage,
		augment.ErrTooManyPixels: verify.ErrImageTooLarge,
	} {
		if errors.Is(err, from) {
			return reworded{err, to}
		}
	}
	return err
}

// reworded is an error that is another package's, too.
type reworded struct {
	error
	as error
}

func (e reworded) Unwrap() []error { return []error{e.error, e.as} }
