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
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
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
	l, err := nvjpeg.Open()
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := l.NewDecoder(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decoder.Close)
	return d, s, decoder
}

// picture is a JPEG of a size, 420 or gray.
func picture(t *testing.T, w, h int, gray bool) []byte {
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

// framed is a picture whose frame header says another kind of coding; only the fake
// lets that pass.
func framed(data []byte, kind byte) []byte {
	data = bytes.Clone(data)
	data[bytes.Index(data, []byte{0xFF, 0xC0})+1] = kind
	return data
}

// fourComponents makes a picture's frame header say that it has four, as CMYK has.
func fourComponents(data []byte) []byte {
	at := bytes.Index(data, []byte{0xFF, 0xC0})
	length := int(data[at+3])
	frame := bytes.Clone(data[at : at+2+length])
	frame[3] += 3
	frame[9] = 4
	frame = append(frame, 4, 0x11, 0)
	return slices.Concat(data[:at], frame, data[at+2+length:])
}

// wanted is what the fake makes of a plane.
func wanted(data []byte, backend nvjpeg.Backend, c, w, h, pitch int) []byte {
	number := map[nvjpeg.Backend]int{nvjpeg.Hardware: 3, nvjpeg.GPU: 2, nvjpeg.Hybrid: 1}[backend]
	p := bytes.Repeat([]byte{0xA5}, pitch*(h-1)+w)
	for y := range h {
		for x := range w {
			p[pitch*y+x] = byte(x + 3*y + 5*c + 7*number + int(data[len(data)/2]))
		}
	}
	return p
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

// planesOf lays out the planes of a picture, with a gap behind each row.
func planesOf(info nvjpeg.Info, f nvjpeg.Format) (planes [3]nvjpeg.Plane, widths, heights []int, size int) {
	if f == nvjpeg.RGB {
		planes[0] = nvjpeg.Plane{Pitch: 3*info.Width + 5}
		return planes, []int{3 * info.Width}, []int{info.Height}, planes[0].Pitch * info.Height
	}
	for i := range info.Components {
		w, h := info.Planes[i].Width, info.Planes[i].Height
		planes[i] = nvjpeg.Plane{At: size, Pitch: w + 3}
		widths, heights = append(widths, w), append(heights, h)
		size += (w + 3) * h
	}
	return planes, widths, heights, size
}

func TestDecode(t *testing.T) {
	fakecuda.Use(t)
	color, gray := picture(t, 101, 67, false), picture(t, 40, 30, true)
	pictures := []struct {
		name    string
		data    []byte
		backend nvjpeg.Backend
		refused string
	}{
		{"colour", color, nvjpeg.Hardware, ""},
		{"gray", gray, nvjpeg.Hardware, ""},
		{"progressive", framed(color, 0xC2), nvjpeg.GPU, ""},
		{"wide and progressive", framed(picture(t, 2100, 3, false), 0xC2), nvjpeg.Hybrid, ""},
		{"cut short", color[:len(color)-2], 0, "incomplete bitstream (10)"},
		{"no picture", []byte("GIF89a, that is"), 0, "bad JPEG (3)"},
		{"empty", nil, 0, "bad JPEG (3)"},
		{"arithmetic", framed(color, 0xC9), 0, "JPEG not supported (4)"},
		{"four channels", fourComponents(color), 0, "JPEG not supported (4)"},
		{"colour again", color, nvjpeg.Hardware, ""},
	}
	for _, format := range []nvjpeg.Format{nvjpeg.RGB, nvjpeg.YCbCr} {
		for _, chip := range []bool{true, false} {
			t.Run(fmt.Sprint("format ", format, " chip ", chip), func(t *testing.T) {
				if !chip {
					fakecuda.Set(t, "HARDWARE", "0")
				}
				_, s, decoder := open(t)
				batch := make([]nvjpeg.Picture, len(pictures))
				for i, p := range pictures {
					info, err := decoder.Parse(p.data)
					if (err != nil) != (p.refused != "") || err != nil && !errors.Is(err, nvjpeg.ErrRefused) {
						t.Fatalf("%s: Parse says %v", p.name, err)
					}
					planes, _, _, size := planesOf(info, format)
					b, err := s.Alloc(max(size, 1))
					if err != nil {
						t.Fatal(err)
					}
					batch[i] = nvjpeg.Picture{Data: p.data, To: b, Planes: planes}
				}
				if err := decoder.Decode(batch, format); err != nil {
					t.Fatal(err)
				}
				var counts [3]int64
				for i, p := range pictures {
					got := &batch[i]
					if p.refused != "" {
						if want := "nvJPEG refuses the picture: " + p.refused; !errors.Is(got.Err, nvjpeg.ErrRefused) || got.Err.Error() != want {
							t.Errorf("%s: %v, want %s", p.name, got.Err, want)
						}
						continue
					}
					backend := p.backend
					if !chip {
						backend = max(backend, nvjpeg.GPU)
					}
					counts[backend]++
					if got.Err != nil || got.Backend != backend {
						t.Errorf("%s: %v with %v, want %v", p.name, got.Err, got.Backend, backend)
						continue
					}
					planes, widths, heights, _ := planesOf(got.Info, format)
					for c := range widths {
						want := wanted(p.data, backend, c, widths[c], heights[c], planes[c].Pitch)
						if !bytes.Equal(fetch(t, s, got.To, planes[c].At, len(want)), want) {
							t.Errorf("%s: plane %d is not what was decoded", p.name, c)
						}
					}
				}
				if decoder.Counts() != counts {
					t.Errorf("counts %v, want %v", decoder.Counts(), counts)
				}
			})
		}
	}
}

func TestParse(t *testing.T) {
	fakecuda.Use(t)
	_, _, decoder := open(t)
	got, err := decoder.Parse(picture(t, 101, 67, false))
	want := nvjpeg.Info{Width: 101, Height: 67, Components: 3}
	want.Planes[0].Width, want.Planes[0].Height = 101, 67
	for i := 1; i < 3; i++ {
		want.Planes[i].Width, want.Planes[i].Height = 51, 34
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestNoRoom(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	b, err := s.Alloc(3 * 40 * 30)
	if err != nil {
		t.Fatal(err)
	}
	data := picture(t, 40, 30, false)
	batch := []nvjpeg.Picture{
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 120}}},
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 121}}},
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 119}}},
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{At: 1, Pitch: 120}}},
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{At: -1, Pitch: 120}}},
		{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 1 << 60}}},
		{Data: data, To: b},
	}
	if err := decoder.Decode(batch, nvjpeg.RGB); err != nil {
		t.Fatal(err)
	}
	for i, p := range batch {
		if i == 0 && p.Err != nil || i > 0 && (p.Err == nil || !strings.Contains(p.Err.Error(), "has no room")) {
			t.Errorf("%d: %v", i, p.Err)
		}
	}
}

// TestBatchThatFails has the chip's decoder fail at a batch: each picture goes on by
// itself.
func TestBatchThatFails(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	data := picture(t, 40, 30, false)
	var batch []nvjpeg.Picture
	for range 5 {
		b, err := s.Alloc(3 * 40 * 30)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, nvjpeg.Picture{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 120}}})
	}
	// The fourth is one that the GPU's ordinary processors refuse as they decode.
	fakecuda.Set(t, "FAIL", "nvjpegDecodeBatched:1:6,nvjpegDecodeJpeg:4:6,nvjpegDecodeJpeg:5:6")
	for range 2 {
		if err := decoder.Decode(batch, nvjpeg.RGB); err != nil {
			t.Fatal(err)
		}
		for i, p := range batch {
			first := decoder.Counts()[nvjpeg.Hardware] == 0
			switch {
			case first && i == 3:
				if !errors.Is(p.Err, nvjpeg.ErrRefused) || !strings.HasSuffix(p.Err.Error(), "execution failed (6)") {
					t.Errorf("%d: %v", i, p.Err)
				}
			case p.Err != nil || first != (p.Backend == nvjpeg.GPU):
				t.Errorf("%d: %v with %s", i, p.Err, p.Backend)
			}
		}
	}
	if got, want := decoder.Counts(), [3]int64{5, 4, 0}; got != want {
		t.Errorf("counts %v, want %v", got, want)
	}
}

// TestGPUThatFails has the GPU fail as it decodes, on the chip's decoder and without.
func TestGPUThatFails(t *testing.T) {
	fakecuda.Use(t)
	for _, data := range [][]byte{picture(t, 40, 30, false), framed(picture(t, 40, 30, false), 0xC2)} {
		d, s, decoder := open(t)
		b, err := s.Alloc(3 * 40 * 30)
		if err != nil {
			t.Fatal(err)
		}
		fakecuda.Set(t, "FAIL", "cuStreamSynchronize:1:719")
		err = decoder.Decode([]nvjpeg.Picture{{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 120}}}}, nvjpeg.RGB)
		if !errors.Is(err, cuda.ErrLaunch) || !d.Lost() {
			t.Error(err)
		}
		fakecuda.Set(t, "FAIL", "")
		decoder.Close()
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestFaultsOfMaking has each function that makes a decoder fail: the backends that it
// belongs to are missing then, and nothing is left behind, which fakecuda.Use looks
// after.
func TestFaultsOfMaking(t *testing.T) {
	fakecuda.Use(t)
	d := gputest.Device(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := nvjpeg.Open()
	if err != nil {
		t.Fatal(err)
	}
	if l.Name() != "libnvjpeg.so.12" || l.Version() != "12.2.2" {
		t.Errorf("%s %s", l.Name(), l.Version())
	}
	all := []nvjpeg.Backend{nvjpeg.Hardware, nvjpeg.GPU, nvjpeg.Hybrid}
	for _, c := range []struct {
		fail string
		want []nvjpeg.Backend
		err  error
	}{
		{"", all, nil},
		{"nvjpegCreateEx:1:7", all[1:], nil},
		{"nvjpegJpegStateCreate:1:9", all[1:], nil},
		{"nvjpegCreateEx:1+:6", nil, nvjpeg.ErrAbsent},
		{"nvjpegCreateEx:1+:7", nil, nvjpeg.ErrAbsent},
		{"nvjpegJpegStreamCreate:2:5", nil, cuda.ErrOutOfMemory},
		{"nvjpegDecoderCreate:1:6", []nvjpeg.Backend{nvjpeg.Hardware, nvjpeg.Hybrid}, nil},
		{"nvjpegDecoderStateCreate:2:6", all[:2], nil},
		{"nvjpegBufferPinnedCreate:1+:6", all[:1], nil},
		{"nvjpegBufferDeviceCreate:1+:6", all[:1], nil},
		{"nvjpegStateAttachPinnedBuffer:1+:6", all[:1], nil},
		{"nvjpegStateAttachDeviceBuffer:1+:6", all[:1], nil},
		{"nvjpegDecodeParamsCreate:1+:6", all[:1], nil},
	} {
		fakecuda.Set(t, "FAIL", c.fail)
		got, err := l.Backends(s)
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v; want %v, %v", c.fail, got, err, c.want, c.err)
		}
	}
	fakecuda.Set(t, "FAIL", "nvjpegGetProperty:2:1")
	if _, err := nvjpeg.Open(); !errors.Is(err, nvjpeg.ErrAbsent) || !strings.Contains(err.Error(), "does not tell its version: not initialised (1)") {
		t.Errorf("no version: %v", err)
	}
}

// TestChild is what TestAbsent runs in a process of its own.
func TestChild(t *testing.T) {
	if os.Getenv("TFREC_NVJPEG_CHILD") == "" {
		t.Skip("only in a process of its own")
	}
	_, err := nvjpeg.Open()
	fmt.Print(errors.Is(err, nvjpeg.ErrAbsent), "|", err)
	os.Exit(0)
}

func TestAbsent(t *testing.T) {
	fakecuda.Use(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A library that is none: the fake driver under another name.
	wrong := t.TempDir()
	fake := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))[0]
	if err := os.Symlink(filepath.Join(fake, "libcuda.so.1"), filepath.Join(wrong, "libnvjpeg.so.13")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ folder, want string }{
		{t.TempDir(), "true|no nvJPEG: none of libnvjpeg.so.13, .12 and .11 is installed"},
		{wrong, "true|no nvJPEG: libnvjpeg.so.13 has no nvjpegGetProperty"},
	} {
		child := exec.Command(executable, "-test.run=^TestChild$")
		child.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") }),
			"TFREC_NVJPEG_CHILD=1", "LD_LIBRARY_PATH="+c.folder)
		if out, err := child.CombinedOutput(); err != nil || string(out) != c.want {
			t.Errorf("got  %s (%v)\nwant %s", out, err, c.want)
		}
	}
}
