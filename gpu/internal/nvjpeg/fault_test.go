//go:build cuda && linux && amd64 && cgo

package nvjpeg_test

import (
	"errors"
	"fmt"
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

func TestNoRoom(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	const luma, chroma = 40 * 30, 20 * 15
	b, err := s.Alloc(luma + 2*chroma)
	if err != nil {
		t.Fatal(err)
	}
	data := makeJPEG(t, 40, 30, false)
	one := func(change func(p *nvjpeg.Image)) nvjpeg.Image {
		p := nvjpeg.Image{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 40}, {At: luma, Pitch: 20}, {At: luma + chroma, Pitch: 20}}}
		change(&p)
		return p
	}
	batch := []nvjpeg.Image{
		one(func(*nvjpeg.Image) {}),
		one(func(p *nvjpeg.Image) { p.Planes[2].Pitch = 21 }),
		one(func(p *nvjpeg.Image) { p.Planes[0].Pitch = 39 }),
		one(func(p *nvjpeg.Image) { p.Planes[2].At++ }),
		one(func(p *nvjpeg.Image) { p.Planes[1].At = -1 }),
		one(func(p *nvjpeg.Image) { p.Planes[0].Pitch = 1 << 60 }),
		one(func(p *nvjpeg.Image) { p.Planes = [3]nvjpeg.Plane{} }),
	}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	for i, p := range batch {
		if i == 0 && p.Err != nil || i > 0 && (p.Err == nil || !strings.Contains(p.Err.Error(), "has no room")) {
			t.Errorf("%d: %v", i, p.Err)
		}
	}
}

// TestOtherSizes has planes of another size in mind than the image has.
func TestOtherSizes(t *testing.T) {
	fakecuda.Use(t)
	_, s, decoder := open(t)
	data := makeJPEG(t, 40, 30, true)
	b, err := s.Alloc(40 * 31)
	if err != nil {
		t.Fatal(err)
	}
	p := nvjpeg.Image{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 40}}}
	p.Want[0].Width, p.Want[0].Height = 40, 31
	batch := []nvjpeg.Image{p}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	if want := "nvJPEG refuses the image: it finds a plane of 40x30 where there is one of 40x31"; batch[0].Err == nil || batch[0].Err.Error() != want {
		t.Errorf("%v; want %s", batch[0].Err, want)
	}
}

// TestFailures makes nvJPEG fail at some calls. An image that fails once is still decoded by the
// same backend; one that keeps failing goes to the next backend, without affecting other images.
func TestFailures(t *testing.T) {
	fakecuda.Use(t)
	baseline, progressive := makeJPEG(t, 40, 30, false), file(t, "made-ok-progressive.jpg")
	for _, c := range []struct {
		name, fail string
		data       []byte
		want       [3]int64 // of five
		refused    string   // the others' error
		err        error
	}{
		{"nothing", "", baseline, [3]int64{5, 0, 0}, "", nil},
		{"a batch", "nvjpegDecodeBatched:1:6", baseline, [3]int64{5, 0, 0}, "", nil},
		{"a batch and a half", "nvjpegDecodeBatched:1:6,nvjpegDecodeBatched:3:8", baseline, [3]int64{5, 0, 0}, "", nil},
		{"the chip", "nvjpegDecodeBatched:1+:6", baseline, [3]int64{0, 5, 0}, "", nil},
		{"the chip refuses", "nvjpegDecodeBatched:1+:4", baseline, [3]int64{0, 5, 0}, "", nil},
		{"the chip, and the GPU at one", "nvjpegDecodeBatched:1+:6,nvjpegDecodeJpeg:2:6,nvjpegDecodeJpeg:3:6", baseline, [3]int64{0, 4, 1}, "", nil},
		{"an image", "nvjpegDecodeJpeg:3:6", progressive, [3]int64{0, 5, 0}, "", nil},
		{"an image twice", "nvjpegDecodeJpeg:3:6,nvjpegDecodeJpeg:4:8", progressive, [3]int64{0, 4, 1}, "", nil},
		{"an image is refused", "nvjpegDecodeJpeg:3:3,nvjpegDecodeJpeg:4:4", progressive, [3]int64{0, 4, 0}, "JPEG not supported (4)", nil},
		{"an image for good", "nvjpegDecodeJpeg:2:6,nvjpegDecodeJpeg:3:6,nvjpegDecodeJpeg:4:6,nvjpegDecodeJpeg:5:8", progressive, [3]int64{0, 4, 0}, "internal error (8)", nil},
		{"no room for a batch", "nvjpegDecodeBatched:1:5", baseline, [3]int64{}, "", cuda.ErrOutOfMemory},
		{"no room for an image", "nvjpegDecodeJpeg:2:5", progressive, [3]int64{0, 1, 0}, "", cuda.ErrOutOfMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s, decoder := open(t)
			var batch []nvjpeg.Image
			for range 5 {
				info, err := decoder.Parse(c.data)
				if err != nil {
					t.Fatal(err)
				}
				planes, size := planesOf(info)
				b, err := s.Alloc(size)
				if err != nil {
					t.Fatal(err)
				}
				batch = append(batch, nvjpeg.Image{Data: c.data, To: b, Planes: planes})
			}
			fakecuda.Set(t, "FAIL", c.fail)
			if err := decoder.Decode(batch); !errors.Is(err, c.err) {
				t.Fatalf("%v; want %v", err, c.err)
			}
			if got := decoder.Counts(); got != c.want {
				t.Errorf("counts %v, want %v", got, c.want)
			}
			if c.err != nil {
				return
			}
			refused := 0
			for i := range batch {
				if err := batch[i].Err; err == nil {
					compare(t, s, fmt.Sprint(i), &batch[i])
				} else if refused++; !errors.Is(err, nvjpeg.ErrRefused) || !strings.HasSuffix(err.Error(), c.refused) {
					t.Errorf("%d: %v; want %s", i, err, c.refused)
				}
			}
			if want := 5 - int(c.want[0]+c.want[1]+c.want[2]); refused != want {
				t.Errorf("%d are refused; want %d", refused, want)
			}
		})
	}
}

// TestGPUThatFails has the GPU fail as it decodes, on the chip's decoder and without.
func TestGPUThatFails(t *testing.T) {
	fakecuda.Use(t)
	for _, data := range [][]byte{makeJPEG(t, 40, 30, true), file(t, "go-video-005.gray.q50.2x2.progressive.jpeg")} {
		d, s, decoder := open(t)
		b, err := s.Alloc(200 * 200)
		if err != nil {
			t.Fatal(err)
		}
		fakecuda.Set(t, "FAIL", "cuStreamSynchronize:1:719")
		err = decoder.Decode([]nvjpeg.Image{{Data: data, To: b, Planes: [3]nvjpeg.Plane{{Pitch: 200}}}})
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

// TestFaultsOfMaking has each function that makes a decoder fail: the backends that it belongs to
// are missing then, and nothing is left after, which fakecuda.Use looks after.
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
		{"nvjpegDecoderStateCreate:3:6", all[:2], nil},
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
	if _, err := nvjpeg.Open(); !errors.Is(err, nvjpeg.ErrAbsent) || !strings.Contains(err.Error(), "does not report its version: not initialised (1)") {
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
	for _, c := range []struct{ directory, want string }{
		{t.TempDir(), "true|no nvJPEG: none of libnvjpeg.so.13, .12 and .11 is installed"},
		{wrong, "true|no nvJPEG: libnvjpeg.so.13 has no nvjpegGetProperty"},
	} {
		child := exec.Command(executable, "-test.run=^TestChild$")
		child.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") }),
			"TFREC_NVJPEG_CHILD=1", "LD_LIBRARY_PATH="+c.directory)
		if out, err := child.CombinedOutput(); err != nil || string(out) != c.want {
			t.Errorf("got  %s (%v)\nwant %s", out, err, c.want)
		}
	}
}
