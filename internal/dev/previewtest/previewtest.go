package previewtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

// WriteFile writes records as a file of that compression.
func WriteFile(t testing.TB, path string, c tfrecord.Compression, records ...[]byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// WriteIndex writes the index of a file.
func WriteIndex(t testing.TB, path string) {
	t.Helper()
	if _, err := repair.Index(t.Context(), []string{path}, repair.IndexOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
}

// Noise returns an image of random samples.
func Noise(seed uint64, w, h, channels int) *augment.Image {
	var im augment.Image
	im.Reset(w, h, channels)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range im.Pix {
		im.Pix[i] = uint8(r.Uint32())
	}
	return &im
}

func EncodePNG(t testing.TB, im *augment.Image) []byte {
	t.Helper()
	data, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Example is an Example with the features of an image that convert writes.
func Example(img []byte, key, label string, more func(*tfrecord.Builder)) []byte {
	var b tfrecord.Builder
	b.Bytes(imagekey.Encoded, img)
	b.String(imagekey.Filename, key)
	b.String(imagekey.Text, label)
	if more != nil {
		more(&b)
	}
	return b.Append(nil)
}

// Variant is an example that is a variant, with what was done to it.
func Variant(img []byte, key, label string, copy int64, ops string) []byte {
	return Example(img, key, label, func(b *tfrecord.Builder) {
		b.Int64(imagekey.Copy, copy)
		b.String(imagekey.Ops, ops)
	})
}

// Numbered returns records that know their number.
func Numbered(n int) [][]byte {
	var records [][]byte
	for i := range n {
		var b tfrecord.Builder
		b.Int64("number", int64(i))
		b.String("key", fmt.Sprintf("k%d", i))
		records = append(records, b.Append(nil))
	}
	return records
}

// turnedPNG returns a PNG with EXIF's orientation.
func turnedPNG(t testing.TB, im *augment.Image, orientation int) []byte {
	data := EncodePNG(t, im)
	exif := []byte("eXIfMM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, exif...), crc32.ChecksumIEEE(exif))
	const header = 33 // the signature and IHDR
	return append(append(bytes.Clone(data[:header]), chunk...), data[header:]...)
}

// DrawnRecord has a white rectangle on gray as its object, with a mask of each kind.
func DrawnRecord(t testing.TB, w, h int, r image.Rectangle, orientation int) []byte {
	var im, mask augment.Image
	im.Reset(w, h, 3)
	mask.Reset(w, h, 1)
	for i := range im.Pix {
		im.Pix[i] = 90
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			copy(im.Row(y)[3*x:], "\xff\xff\xff")
			mask.Row(y)[x] = 1
		}
	}
	return Example(turnedPNG(t, &im, orientation), "a.png", "", func(b *tfrecord.Builder) {
		b.Float(objects.KeyXMin, float32(r.Min.X)/float32(w))
		b.Float(objects.KeyXMax, float32(r.Max.X)/float32(w))
		b.Float(objects.KeyYMin, float32(r.Min.Y)/float32(h))
		b.Float(objects.KeyYMax, float32(r.Max.Y)/float32(h))
		b.Int64(objects.KeyLabel, 7)
		b.String(objects.KeyText, "plate")
		b.Bytes(objects.KeyMask, EncodePNG(t, &mask))
	})
}

// TightBox returns the smallest rectangle around the pixels that is reports, in shares.
func TightBox(size image.Rectangle, is func(x, y int) bool) (xmin, ymin, xmax, ymax float64) {
	var r image.Rectangle
	for y := range size.Dy() {
		for x := range size.Dx() {
			if is(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	w, h := float64(size.Dx()), float64(size.Dy())
	return float64(r.Min.X) / w, float64(r.Min.Y) / h, float64(r.Max.X) / w, float64(r.Max.Y) / h
}

// NewCodec returns a codec with the defaults.
func NewCodec(t testing.TB) *augment.Codec {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return codec
}
