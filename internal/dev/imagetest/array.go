package imagetest

import (
	"encoding/binary"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Array is what a .npy file holds: height, width, channels.
type Array struct {
	Shape  [3]int
	Bytes  []uint8
	floats []float32
}

var npyHeader = regexp.MustCompile(`^\{'descr': '(\|u1|<f4)', 'fortran_order': False, 'shape': \((\d+), (\d+), (\d+)\), \} *\n$`)

// ReadArray reads a .npy file of bytes or of float32.
func ReadArray(t *testing.T, file string) Array {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint16(data[8:]))
	m := npyHeader.FindStringSubmatch(string(data[10:][:n]))
	if m == nil {
		t.Fatalf("%s: unexpected header %q", file, data[10:][:n])
	}
	var a Array
	for i := range a.Shape {
		a.Shape[i], _ = strconv.Atoi(m[i+2])
	}
	data = data[10+n:]
	if m[1] == "|u1" {
		a.Bytes = data
		return a
	}
	for ; len(data) > 0; data = data[4:] {
		a.floats = append(a.floats, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return a
}

// Part is the top left h by w pixels; of one channel, the green one.
func (a Array) Part(h, w, channels int) *bitmap.Image {
	im := &bitmap.Image{Pix: a.Bytes, Width: w, Height: h, Channels: 3, Stride: a.Shape[1] * 3}
	if channels == 3 {
		return im
	}
	gray := new(bitmap.Image)
	gray.Reset(w, h, 1)
	for y := range h {
		for x := range w {
			gray.Pix[y*w+x] = im.Row(y)[3*x+1]
		}
	}
	return gray
}

// Off are the images' samples that differ, by how many levels.
func (a Array) Off(im *bitmap.Image) map[int]int {
	levels := map[int]int{}
	for i, got := range im.Pix {
		want := 0
		if a.Bytes != nil {
			want = int(a.Bytes[i])
		} else {
			want = int(math.RoundToEven(min(max(float64(a.floats[i]), 0), 255)))
		}
		if d := int(got) - want; d != 0 {
			levels[max(d, -d)]++
		}
	}
	return levels
}
