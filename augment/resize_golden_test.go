package augment

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// array is what a .npy file holds: height, width, channels.
type array struct {
	shape  [3]int
	bytes  []uint8
	floats []float32
}

var npyHeader = regexp.MustCompile(`^\{'descr': '(\|u1|<f4)', 'fortran_order': False, 'shape': \((\d+), (\d+), (\d+)\), \} *\n$`)

func readArray(t *testing.T, file string) array {
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
	var a array
	for i := range a.shape {
		a.shape[i], _ = strconv.Atoi(m[i+2])
	}
	data = data[10+n:]
	if m[1] == "|u1" {
		a.bytes = data
		return a
	}
	for ; len(data) > 0; data = data[4:] {
		a.floats = append(a.floats, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return a
}

// part is the top left h by w pixels; of one channel, the green one.
func (a array) part(h, w, channels int) *Image {
	im := &Image{Pix: a.bytes, Width: w, Height: h, Channels: 3, Stride: a.shape[1] * 3}
	if channels == 3 {
		return im
	}
	gray := new(Image)
	gray.Reset(w, h, 1)
	for y := range h {
		for x := range w {
			gray.Pix[y*w+x] = im.Row(y)[3*x+1]
		}
	}
	return gray
}

// off are the images' samples that differ, by how many levels.
func (a array) off(im *Image) map[int]int {
	levels := map[int]int{}
	for i, got := range im.Pix {
		want := 0
		if a.bytes != nil {
			want = int(a.bytes[i])
		} else {
			want = int(math.RoundToEven(min(max(float64(a.floats[i]), 0), 255)))
		}
		if d := int(got) - want; d != 0 {
			levels[max(d, -d)]++
		}
	}
	return levels
}

func TestResizeGoldens(t *testing.T) {
	const dir = "../testdata/resize"
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Judge     string
		From      [3]int
		Method    string
		Antialias bool
		File      string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	noise := readArray(t, filepath.Join(dir, "resize_noise_in.npy"))
	references := map[string]int{}
	for _, c := range cases {
		references[c.Judge]++
		t.Run(strings.TrimSuffix(c.File, ".npy"), func(t *testing.T) {
			want := readArray(t, filepath.Join(dir, c.File))
			tolerance := 0
			if c.Judge == "tensorflow" {
				tolerance = tensorflowTolerance(c.Method, c.Antialias)
			}
			checkGolden(t, noise.part(c.From[0], c.From[1], c.From[2]), want, c.Method, c.Antialias, tolerance)
		})
	}
	if references["pillow"] < 60 || references["tensorflow"] < 11 {
		t.Errorf("only so many goldens: %v", references)
	}
}

// TestResizeAllGoldens compares with all goldens if they are next to the checkout.
func TestResizeAllGoldens(t *testing.T) {
	const dir = "../../shared/goldens"
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip("no goldens beside the checkout")
	}
	var manifest struct {
		Resize []struct {
			Input, Method, File string
			Antialias           bool
		}
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Resize) == 0 {
		t.Error("no goldens in the manifest")
	}
	for _, c := range manifest.Resize {
		t.Run(strings.TrimSuffix(c.File, ".npy"), func(t *testing.T) {
			in := readArray(t, filepath.Join(dir, c.Input))
			checkGolden(t, in.part(in.shape[0], in.shape[1], 3), readArray(t, filepath.Join(dir, c.File)),
				c.Method, c.Antialias, tensorflowTolerance(c.Method, c.Antialias))
		})
	}
}

// tensorflowTolerance is how many levels a sample may differ from TensorFlow's
// float, rounded.
func tensorflowTolerance(method string, antialias bool) int {
	switch {
	case method == "nearest":
		return 0
	case antialias && method == "bicubic":
		return 24 // Pillow clips the overshoot between its passes
	case antialias && method == "lanczos3":
		return 40
	}
	return 1
}

func checkGolden(t *testing.T, src *Image, want array, method string, antialias bool, tolerance int) {
	t.Helper()
	f, err := ParseFilter(method)
	if err != nil {
		t.Fatal(err)
	}
	var got Image
	if err := Resize(&got, src, want.shape[1], want.shape[0], f, antialias); err != nil {
		t.Fatal(err)
	}
	over := 0
	for levels, n := range want.off(&got) {
		if levels > tolerance {
			t.Errorf("%d of %d samples are off by %d levels, of %d allowed", n, len(got.Pix), levels, tolerance)
		}
		if levels > 1 {
			over += n
		}
	}
	if over > len(got.Pix)/20 {
		t.Errorf("%d of %d samples are off by more than one level", over, len(got.Pix))
	}
}
