// Package testpng encodes the small images of tests.
package testpng

import (
	"bytes"
	"image"
	"image/png"
)

// Encode encodes an image as a PNG. It keeps the encoder's memory for later calls: 800 KB, which under the race
// detector cost more than what a test does with a small image.
func Encode(im image.Image) []byte {
	var b bytes.Buffer
	encoder := png.Encoder{BufferPool: buffers}
	if err := encoder.Encode(&b, im); err != nil {
		panic(err) // an image without pixels
	}
	return b.Bytes()
}

// pngBuffers keeps what sync.Pool, which the race detector makes forget at random, would not.
type pngBuffers chan *png.EncoderBuffer

var buffers = make(pngBuffers, 8)

func (b pngBuffers) Get() *png.EncoderBuffer {
	select {
	case buffer := <-b:
		return buffer
	default:
		return nil
	}
}

func (b pngBuffers) Put(buffer *png.EncoderBuffer) {
	select {
	case b <- buffer:
	default:
	}
}
