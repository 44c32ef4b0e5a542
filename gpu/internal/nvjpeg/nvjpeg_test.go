//go:build cuda && linux && amd64 && cgo

package nvjpeg_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
	ours "github.com/tfrec/tfrec/internal/codec/jpeg"
)

// open makes a decoder on the fake driver, until the test ends.
func open(t *testing.T) (*cuda.Device, *cuda.Stream, *nvjpeg.Decoder) {
	t.Helper()
	d := gputest.Device(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := nvjpeg.Open(s)
	if err != nil {
		gputest.Missing(t, err)
	}
	decoder, err := l.NewDecoder(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decoder.Close)
	return d, s, decoder
}

// image is a JPEG of a size, 420 or gray.
func makeJPEG(t *testing.T, w, h int, gray bool) []byte {
	t.Helper()
	var im image.Image
	if gray {
		im = image.NewGray(image.Rect(0, 0, w, h))
	} else {
		rgba := image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range w {
			rgba.Set(i, i%h, color.RGBA{uint8(i), uint8(7 * i), 99, 255})
		}
		im = rgba
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, im, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file is one of the images that all packages test with.
func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/pictures", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// arithmetic makes an image's frame header say that its coding is arithmetic.
func arithmetic(data []byte) []byte {
	data = bytes.Clone(data)
	data[bytes.Index(data, []byte{0xFF, 0xC0})+1] = 0xC9
	return data
}

// fourComponents makes an image's frame header say that it has four, as CMYK has.
func fourComponents(data []byte) []byte {
	at := bytes.Index(data, []byte{0xFF, 0xC0})
	length := int(data[at+3])
	frame := bytes.Clone(data[at : at+2+length])
	frame[3] += 3
	frame[9] = 4
	frame = append(frame, 4, 0x11, 0)
	return slices.Concat(data[:at], frame, data[at+2+length:])
}

// wanted are the planes of an image as our own decoder has them.
func wanted(t *testing.T, data []byte) (planes [][]byte, strides []int) {
	t.Helper()
	set, err := ours.Open(ours.Go)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ours.ParseHeader(data)
	if err != nil {
		t.Fatal(err)
	}
	if h.N == 1 {
		planes = [][]byte{make([]byte, h.Width*h.Height)}
		err = set.Decode(planes[0], h.Width, data, &h, ours.Request{Format: ours.Gray, Denom: 1})
		strides = []int{h.Width}
	} else {
		var p ours.Planar
		err = set.DecodePlanes(&p, data, &h, ours.Request{Denom: 1})
		planes, strides = p.Pix[:], p.Stride[:]
	}
	if err != nil {
		t.Fatal(err)
	}
	return planes, strides
}

// compare compares the planes of an image that was decoded with our own decoder's.
func compare(t *testing.T, s *cuda.Stream, name string, p *nvjpeg.Image) {
	t.Helper()
	want, strides := wanted(t, p.Data)
	for c, plane := range want {
		size, q := p.Info.Planes[c], p.Planes[c]
		got := fetch(t, s, p.To, q.At, q.Pitch*(size.Height-1)+size.Width)
		for y := range size.Height {
			row := got[q.Pitch*y:][:size.Width]
			if !bytes.Equal(row, plane[strides[c]*y:][:size.Width]) {
				t.Errorf("%s: plane %d, row %d is not what is in the image", name, c, y)
				break
			}
			if gap := got[q.Pitch*y+size.Width:]; y < size.Height-1 && gap[0] != 0xA5 {
				t.Errorf("%s: plane %d was written behind row %d", name, c, y)
			}
		}
	}
}

// fetch brings a part of a buffer to the host.
func fetch(t *testing.T, s *cuda.Stream, b *cuda.Buffer, at, n int) []byte {
	t.Helper()
	h, err := s.AllocHost(n)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Free()
	if err := errors.Join(s.Download(h, 0, b, at, n), s.Synchronize()); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(h.Bytes())
}

// planesOf lays out the planes of an image, with a gap after each row.
func planesOf(info nvjpeg.Info) (planes [3]nvjpeg.Plane, size int) {
	for i := range info.Components {
		w, h := info.Planes[i].Width, info.Planes[i].Height
		planes[i] = nvjpeg.Plane{At: size, Pitch: w + 3}
		size += (w + 3) * h
	}
	return planes, size
}

// TestDevice runs on a GPU as on the fake one, with a tolerance of 3 levels: every backend starts
// or is not of this GPU, a batch is decoded, and what is no image is refused alone.
func TestDevice(t *testing.T) {
	_, s, decoder := open(t)
	for _, m := range decoder.Missing() {
		if m.Failed {
			t.Error(m)
		}
	}
	var batch []nvjpeg.Image
	for _, data := range [][]byte{makeJPEG(t, 101, 67, false), makeJPEG(t, 640, 480, true), []byte("no image"), makeJPEG(t, 320, 240, false)} {
		info, err := decoder.Parse(data)
		if len(batch) == 2 {
			if !errors.Is(err, nvjpeg.ErrRefused) {
				t.Errorf("what is no image has %v, %v", info, err)
			}
			info.Components = 1
		} else if err != nil {
			t.Fatal(err)
		}
		planes, size := planesOf(info)
		b, err := s.Alloc(max(size, 1))
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, nvjpeg.Image{Data: data, To: b, Planes: planes})
	}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	for i, p := range batch {
		if i == 2 {
			if !errors.Is(p.Err, nvjpeg.ErrRefused) {
				t.Error("what is no image:", p.Err)
			}
			continue
		}
		if p.Err != nil {
			t.Errorf("image %d: %v", i, p.Err)
			continue
		}
		t.Logf("image %d: %s", i, p.Backend)
		want, strides := wanted(t, p.Data)
		for c, plane := range want {
			size, q := p.Info.Planes[c], p.Planes[c]
			got := fetch(t, s, p.To, q.At, q.Pitch*(size.Height-1)+size.Width)
			apart := 0
			for y := range size.Height {
				for x := range size.Width {
					d := int(got[q.Pitch*y+x]) - int(plane[strides[c]*y+x])
					apart = max(apart, d, -d)
				}
			}
			if apart > 3 {
				t.Errorf("image %d, plane %d: %d levels apart", i, c, apart)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	fakecuda.Use(t)
	color, gray := makeJPEG(t, 101, 67, false), makeJPEG(t, 40, 30, true)
	images := []struct {
		name    string
		data    []byte
		backend nvjpeg.Backend
		refused string
	}{
		{"colour", color, nvjpeg.Hardware, ""},
		{"gray", gray, nvjpeg.Hardware, ""},
		{"progressive", file(t, "made-ok-progressive.jpg"), nvjpeg.GPU, ""},
		{"gray and progressive", file(t, "go-video-005.gray.q50.2x2.progressive.jpeg"), nvjpeg.Hybrid, ""},
		{"cut short", color[:len(color)-2], 0, "incomplete bitstream (10)"},
		{"no image", []byte("GIF89a, that is"), 0, "bad JPEG (3)"},
		{"empty", nil, 0, "bad JPEG (3)"},
		{"arithmetic", arithmetic(color), 0, "JPEG not supported (4)"},
		{"four channels", fourComponents(color), 0, "JPEG not supported (4)"},
		{"colour again", color, nvjpeg.Hardware, ""},
	}
	for _, chip := range []bool{true, false} {
		t.Run(fmt.Sprint("chip ", chip), func(t *testing.T) {
			if !chip {
				fakecuda.Set(t, "HARDWARE", "0")
			}
			_, s, decoder := open(t)
			batch := make([]nvjpeg.Image, len(images))
			for i, p := range images {
				info, err := decoder.Parse(p.data)
				if (err != nil) != (p.refused != "") || err != nil && !errors.Is(err, nvjpeg.ErrRefused) {
					t.Fatalf("%s: Parse says %v", p.name, err)
				}
				planes, size := planesOf(info)
				b, err := s.Alloc(max(size, 1))
				if err != nil {
					t.Fatal(err)
				}
				batch[i] = nvjpeg.Image{Data: p.data, To: b, Planes: planes}
			}
			if err := decoder.Decode(batch); err != nil {
				t.Fatal(err)
			}
			var counts [3]int64
			for i, p := range images {
				got := &batch[i]
				if p.refused != "" {
					if want := "nvJPEG refuses the image: " + p.refused; !errors.Is(got.Err, nvjpeg.ErrRefused) || got.Err.Error() != want {
						t.Errorf("%s: %v, want %s", p.name, got.Err, want)
					}
					continue
				}
				backend := p.backend
				if !chip && backend == nvjpeg.Hardware {
					backend = nvjpeg.GPU
					if p.name == "gray" {
						backend = nvjpeg.Hybrid
					}
				}
				counts[backend]++
				if got.Err != nil || got.Backend != backend {
					t.Errorf("%s: %v with %v, want %v", p.name, got.Err, got.Backend, backend)
					continue
				}
				compare(t, s, p.name, got)
			}
			if decoder.Counts() != counts {
				t.Errorf("counts %v, want %v", decoder.Counts(), counts)
			}
		})
	}
}

// TestDecodesWhatOursDoes compares the fake with our own decoder, so that other tests may rely on
// it: all undamaged images of a usual kind have the same samples.
func TestDecodesWhatOursDoes(t *testing.T) {
	fakecuda.Use(t)
	names, err := filepath.Glob("../../../testdata/pictures/*.jp*g")
	if err != nil {
		t.Fatal(err)
	}
	_, s, decoder := open(t)
	compared := 0
	for _, name := range names {
		data := file(t, filepath.Base(name))
		h, err := ours.ParseHeader(data)
		if err != nil {
			continue
		}
		if _, usual := h.Usual(); !usual || h.Width*h.Height > 1<<20 || ours.Check(data, &h) != nil {
			continue
		}
		info, err := decoder.Parse(data)
		if err != nil {
			if !bytes.HasSuffix(data, []byte{0xFF, 0xD9}) {
				continue // more after the end than the fake takes
			}
			t.Errorf("%s: %v", name, err)
			continue
		}
		planes, size := planesOf(info)
		b, err := s.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		batch := []nvjpeg.Image{{Data: data, To: b, Planes: planes}}
		if err := decoder.Decode(batch); err != nil || batch[0].Err != nil {
			t.Fatal(name, err, batch[0].Err)
		}
		compare(t, s, filepath.Base(name), &batch[0])
		compared++
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if compared < 25 {
		t.Errorf("%d images were compared", compared)
	}
}

func TestParse(t *testing.T) {
	fakecuda.Use(t)
	_, _, decoder := open(t)
	got, err := decoder.Parse(makeJPEG(t, 101, 67, false))
	want := nvjpeg.Info{Width: 101, Height: 67, Components: 3}
	want.Planes[0].Width, want.Planes[0].Height = 101, 67
	for i := 1; i < 3; i++ {
		want.Planes[i].Width, want.Planes[i].Height = 51, 34
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
