package images

import (
	"github.com/tfrec/tfrec/internal/codec/mixing"
	"github.com/tfrec/tfrec/reader/internal/flows"
)

// sides returns the height, the width and the number of channels of the images.
func (b *ImageBatch) sides(nchw bool) (height, width, channels int) {
	s := b.Shape[len(b.Shape)-3:]
	if nchw {
		return s[1], s[2], s[0]
	}
	return s[0], s[1], s[2]
}

// imageMixer keeps the last image of a batch, by type, while the others are mixed in place.
type imageMixer struct {
	floats []float32
	bytes  []uint8
	halves []uint16
}

// mix mixes each image of a batch with the one before it, the first with the last, by b.Mix.
func (m *imageMixer) mix(b *ImageBatch, nchw bool) {
	switch {
	case b.Mix.Lambda == 1:
	case b.DType == Uint8:
		m.bytes = mixRows(b, b.Bytes, m.bytes, nchw, mixing.Bytes)
	case b.DType == Float32:
		m.floats = mixRows(b, b.Pixels, m.floats, nchw, blendFloats)
	case b.DType == Float16:
		m.halves = mixRows(b, b.Halves, m.halves, nchw, blendFloat16s)
	default:
		m.halves = mixRows(b, b.Halves, m.halves, nchw, blendBFloat16s)
	}
}

// mixRows mixes the images in s. last is memory for the last one, which it returns for reuse.
func mixRows[T any](b *ImageBatch, s, last []T, nchw bool, blend func(dst, src []T, own, other float32)) []T {
	n := b.Shape[0]
	size := len(s) / n
	last = append(last[:0], s[len(s)-size:]...)
	own, other := float32(b.Mix.Lambda), float32(1-b.Mix.Lambda)
	for i := n - 1; i >= 0; i-- {
		dst, src := s[i*size:][:size], last
		if i > 0 {
			src = s[(i-1)*size:][:size] // not mixed yet
		}
		if b.Mix.Box.Empty() {
			blend(dst, src, own, other)
		} else {
			pasteBox(b, dst, src, nchw)
		}
	}
	return last
}

// pasteBox copies the box of a batch's draw from one of its images to another.
func pasteBox[T any](b *ImageBatch, dst, src []T, nchw bool) {
	height, width, samples := b.sides(nchw) // samples of a pixel next to each other
	if nchw {
		samples = 1
	}
	box := b.Mix.Box
	for p := range len(dst) / (height * width * samples) {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			row := (p*height + y) * width
			from, to := (row+box.Min.X)*samples, (row+box.Max.X)*samples
			copy(dst[from:to], src[from:to])
		}
	}
}

func blendFloats(dst, src []float32, own, other float32) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = float32(own*x) + float32(other*src[i])
	}
}

func blendFloat16s(dst, src []uint16, own, other float32) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = Float16Of(float32(own*Float16Value(x)) + float32(other*Float16Value(src[i])))
	}
}

func blendBFloat16s(dst, src []uint16, own, other float32) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = BFloat16Of(float32(own*BFloat16Value(x)) + float32(other*BFloat16Value(src[i])))
	}
}

// softLabels makes the soft labels of a batch by its labels and b.Mix.
func (b *ImageBatch) softLabels(classes int) {
	n := len(b.Labels)
	b.SoftLabels = flows.Resized(b.SoftLabels, n*classes)
	clear(b.SoftLabels)
	for i, label := range b.Labels {
		row := b.SoftLabels[i*classes:][:classes]
		row[label] += float32(b.Mix.Lambda)
		row[b.Labels[(i+n-1)%n]] += float32(1 - b.Mix.Lambda)
	}
}
