//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

// The fake nvJPEG has the samples of our own decoder: whatever it decodes must come out as on the
// CPU.

func TestConformsWithNVJPEG(t *testing.T) {
	fakecuda.Use(t)
	b := open(t, gpu.Options{Required: true, Decode: true})
	backendtest.RunCoded(t, b, 900)
	s := b.Stats()
	if s.Decoded["hardware"] < 700 || len(s.Decoded) != 1 || len(s.Refused) > 0 || s.FellBack > 0 {
		t.Errorf("%+v", s)
	}
	if want := "nvjpeg 12.2.2 sm_90 hardware+GPU+hybrid"; b.Decoder() != want {
		t.Errorf("decoder %q; want %q", b.Decoder(), want)
	}
}

func TestConformsWithoutTheChip(t *testing.T) {
	fakecuda.Use(t)
	fakecuda.Set(t, "HARDWARE", "0")
	b := open(t, gpu.Options{Required: true, Decode: true})
	backendtest.RunCoded(t, b, 300)
	if s := b.Stats(); s.Decoded["GPU"] < 100 || s.Decoded["hybrid"] < 20 || len(s.Refused) > 0 {
		t.Errorf("%+v", s)
	}
	if want := "nvjpeg 12.2.2 sm_90 GPU+hybrid"; b.Decoder() != want {
		t.Errorf("decoder %q; want %q", b.Decoder(), want)
	}
}

// TestConformsInHalves renders batches that do not fit into memory: images that were decoded are
// decoded again.
func TestConformsInHalves(t *testing.T) {
	fakecuda.Use(t)
	b := open(t, gpu.Options{Required: true, Decode: true, Streams: 1, Memory: 60000})
	backendtest.RunCoded(t, b, 300)
	if s := b.Stats(); s.Halved == 0 || s.NoRoom+s.FellBack > 0 {
		t.Errorf("%+v", s)
	}
}

// jpegTask is a task for one of the images that all packages test with.
func jpegTask(t *testing.T, codec *augment.Codec, name string) *augment.Task {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/pictures", name))
	if err != nil {
		t.Fatal(err)
	}
	task := &augment.Task{Resize: &augment.ResizeSpec{Width: 20, Height: 30}}
	if err := task.ReadJPEG(codec, data); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return task
}

func newCodec(t *testing.T) *augment.Codec {
	t.Helper()
	c, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestWhoDecodes follows from the header.
func TestWhoDecodes(t *testing.T) {
	fakecuda.Use(t)
	b := open(t, gpu.Options{Required: true, Decode: true})
	codec := newCodec(t)
	want := map[string]string{
		"made-ok-160x88.jpg": "nvjpeg hardware", "made-gray.jpg": "nvjpeg hardware", "go-video-001.q50.422.jpeg": "nvjpeg hardware",
		"go-video-001.q50.440.jpeg": "nvjpeg hardware", "go-video-001.221212.jpeg": "tfrec 1", "made-1x1.jpg": "nvjpeg hardware",
		"made-ok-progressive.jpg": "nvjpeg GPU", "made-orientation-8-progressive.jpg": "nvjpeg GPU", "go-video-001.q50.444.progressive.jpeg": "nvjpeg GPU",
		"go-video-005.gray.q50.2x2.progressive.jpeg": "nvjpeg hybrid", "imageorient-orientation_5.jpg": "nvjpeg hardware",
		"go-video-001.q50.410.jpeg": "tfrec 1", "go-video-001.q50.411.progressive.jpeg": "tfrec 1", "go-video-001.cmyk.jpeg": "tfrec 1",
		"made-ycck-adobe.jpg": "tfrec 1", "go-video-001.rgb.jpeg": "tfrec 1", "made-dht-missing.jpg": "tfrec 1",
		"jpegdecoder-16bit-qtables.jpg": "tfrec 1", "zune-non_interleaved_420_64x64.jpg": "tfrec 1", "made-rst.jpg": "nvjpeg hardware",
	}
	var tasks []*augment.Task
	names := slices.Sorted(maps.Keys(want))
	for _, name := range names {
		tasks = append(tasks, jpegTask(t, codec, name))
	}
	if err := b.Render(tasks); err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		if got := task.Decoder; got != want[names[i]] || task.FellBack {
			t.Errorf("%s: decoded by %q (stranded: %v); want %q", names[i], got, task.FellBack, want[names[i]])
		}
		if fault := backendtest.Compare(task); fault != "" {
			t.Errorf("%s: %s", names[i], fault)
		}
	}
	if s := b.Stats(); s.CPU > 0 || s.GPU != int64(len(tasks)) {
		t.Errorf("%+v; want images that the CPU decodes to be resized on the GPU", s)
	}
}

// photos are tasks for the same image.
func photos(t *testing.T, n int, name string) []*augment.Task {
	t.Helper()
	codec := newCodec(t)
	tasks := make([]*augment.Task, n)
	for i := range tasks {
		tasks[i] = jpegTask(t, codec, name)
	}
	return tasks
}

// TestFaultsOfNVJPEG: checks which decoder takes over and what is reported. No image is lost, and
// all pixels are right.
func TestFaultsOfNVJPEG(t *testing.T) {
	for _, c := range []struct {
		name, file, variable, value string
		decoders                    map[string]int // of eight
		fellBack                    int64
		refused                     string
		required                    error // what Render says with Required
	}{
		{name: "a batch that fails once", file: "made-ok-160x88.jpg", variable: "FAIL", value: "nvjpegDecodeBatched:1:6", decoders: map[string]int{"nvjpeg hardware": 8}},
		{name: "a chip that fails", file: "made-ok-160x88.jpg", variable: "FAIL", value: "nvjpegDecodeBatched:1+:6", decoders: map[string]int{"nvjpeg GPU": 8}},
		{name: "an image that is refused", file: "made-ok-progressive.jpg", variable: "FAIL", value: "nvjpegDecodeJpeg:3:3,nvjpegDecodeJpeg:4:4", decoders: map[string]int{"nvjpeg GPU": 7, "tfrec 1": 1}, refused: "nvJPEG refuses the image: JPEG not supported (4)"},
		{name: "headers that are refused", file: "made-ok-160x88.jpg", variable: "FAIL", value: "nvjpegJpegStreamParseHeader:1+:3,nvjpegJpegStreamParse:1+:3", decoders: map[string]int{"tfrec 1": 8}, refused: "nvJPEG refuses the image: bad JPEG (3)"},
		{name: "no room in nvJPEG at first", file: "made-ok-160x88.jpg", variable: "FAIL", value: "nvjpegDecodeBatched:1:5", decoders: map[string]int{"nvjpeg hardware": 8}},
		{name: "no room for a while", file: "made-ok-160x88.jpg", variable: "FAIL", value: "cuMemAlloc:1:2,cuMemAlloc:2:2,cuMemAlloc:3:2,cuMemAlloc:4:2,cuMemAlloc:5:2,cuMemAlloc:6:2,cuMemAlloc:7:2", decoders: map[string]int{"nvjpeg hardware": 8}},
		{name: "no room", file: "made-ok-160x88.jpg", variable: "MEMORY", value: "1000", decoders: map[string]int{"tfrec 1": 8}, fellBack: 8, required: gpu.ErrOutOfMemory},
		{name: "no room in nvJPEG", file: "made-ok-progressive.jpg", variable: "FAIL", value: "nvjpegDecodeJpeg:1+:5", decoders: map[string]int{"tfrec 1": 8}, fellBack: 8, required: gpu.ErrOutOfMemory},
		{name: "a GPU that fails as it decodes", file: "made-ok-160x88.jpg", variable: "FAIL", value: "cuEventSynchronize:1:719", decoders: map[string]int{"tfrec 1": 8}, fellBack: 8, required: gpu.ErrFailed},
		{name: "a GPU that fails afterwards", file: "made-ok-progressive.jpg", variable: "FAIL", value: "kernel:1:700", decoders: map[string]int{"tfrec 1": 8}, fellBack: 8, required: gpu.ErrFailed},
	} {
		for _, required := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", required ", required), func(t *testing.T) {
				fakecuda.Use(t)
				var mu sync.Mutex
				var notes []string
				b := open(t, gpu.Options{Decode: true, Required: required, Streams: 1, Note: func(s string) {
					mu.Lock()
					defer mu.Unlock()
					notes = append(notes, s)
				}})
				tasks := photos(t, 8, c.file)
				fakecuda.Set(t, c.variable, c.value)
				err := b.Render(tasks)
				if required && c.required != nil {
					if !errors.Is(err, c.required) || strings.Contains(err.Error(), "\n") || len(notes) > 0 {
						t.Errorf("Render: %v, notes %q; want one sentence that wraps %q", err, notes, c.required)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				decoders := map[string]int{}
				for i, task := range tasks {
					decoders[task.Decoder]++
					if fault := backendtest.Compare(task); fault != "" || task.FellBack != (c.fellBack > 0) {
						t.Errorf("%d: %s, stranded: %v", i, fault, task.FellBack)
					}
				}
				if !maps.Equal(decoders, c.decoders) {
					t.Errorf("decoded by %v; want %v", decoders, c.decoders)
				}
				s := b.Stats()
				var sum int64
				for _, n := range s.Decoded {
					sum += n
				}
				if s.FellBack != c.fellBack || int(sum) != 8-c.decoders["tfrec 1"] || (s.Refused[c.refused] == 0) != (c.refused == "") {
					t.Errorf("%+v", s)
				}
				if s.Failure != nil {
					again := photos(t, 2, c.file)
					if err := b.Render(again); err != nil || again[1].Decoder != "tfrec 1" || !again[1].FellBack || len(notes) != 1 {
						t.Errorf("after the failure: %v, %q, notes %q", err, again[1].Decoder, notes)
					}
				}
			})
		}
	}
}

// TestOpenWithoutNVJPEG fails at any call that makes it; without Decode none is made.
func TestOpenWithoutNVJPEG(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		fail string
		kind error
	}{
		{"nvjpegGetProperty:1:1", gpu.ErrNoNVJPEG},
		{"nvjpegCreateEx:1+:6", gpu.ErrNoNVJPEG},
		{"nvjpegJpegStreamCreate:4:5", gpu.ErrOutOfMemory},
		{"nvjpegJpegStreamCreate:9:5", gpu.ErrOutOfMemory},
		// The second stream has no decoder on the chip, as the others have. (The first is made to
		// find the library.)
		{"nvjpegJpegStateCreate:5:7", gpu.ErrNoNVJPEG},
	} {
		fakecuda.Set(t, "FAIL", c.fail)
		b, err := gpu.Open(gpu.Options{Decode: true})
		if b != nil || !errors.Is(err, c.kind) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one clear sentence that wraps %q", c.fail, err, c.kind)
		}
		fakecuda.Set(t, "FAIL", c.fail)
		open(t, gpu.Options{})
	}
}

// TestDamagedImages never come to a backend, and don't keep others from it.
func TestDamagedImages(t *testing.T) {
	fakecuda.Use(t)
	codec := newCodec(t)
	for _, name := range []string{"made-cut-50.jpg", "made-cut-progressive-50.jpg", "made-no-eoi.jpg", "made-hole-in-scan.jpg", "made-rst-missing.jpg"} {
		data, err := os.ReadFile(filepath.Join("../testdata/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := new(augment.Task).ReadJPEG(codec, data); !errors.Is(err, augment.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := open(t, gpu.Options{Decode: true, Required: true})
	tasks := photos(t, 3, "made-ok-160x88.jpg")
	tasks[1] = &augment.Task{JPEGInfo: tasks[0].JPEGInfo} // never read
	if err := b.Render(tasks); err != nil || tasks[0].Err != nil || tasks[1].Err == nil || tasks[2].Err != nil {
		t.Error(err, tasks[0].Err, tasks[1].Err, tasks[2].Err)
	}
}

var _ interface { // what package convert wants of one that decodes
	augment.Backend
	Decoder() string
} = (*gpu.Backend)(nil)

// TestOneWait renders batches, of JPEGs that the chip decodes and of pixels: for each there is one
// wait, which sleeps.
func TestOneWait(t *testing.T) {
	fakecuda.Use(t)
	for _, decode := range []bool{true, false} {
		b := open(t, gpu.Options{Required: true, Decode: decode, Streams: 1})
		for range 3 {
			tasks := photos(t, 8, "made-ok-160x88.jpg")
			before, _ := fakecuda.Now()
			if err := b.Render(tasks); err != nil {
				t.Fatal(err)
			}
			after, _ := fakecuda.Now()
			if waits, spins := after.Waits-before.Waits, after.Spins-before.Spins; waits != 1 || spins != 0 {
				t.Errorf("decode %v: %d waits, of which %d keep a processor busy; want 1 and 0", decode, waits, spins)
			}
			for _, task := range tasks {
				if fault := backendtest.Compare(task); fault != "" {
					t.Error(fault)
				}
			}
		}
	}
}

// TestDecoderDiffers on another GPU, or nvJPEG: the name says so.
func TestDecoderDiffers(t *testing.T) {
	fakecuda.Use(t)
	fakecuda.Set(t, "CAPABILITY", "80")
	b := open(t, gpu.Options{Decode: true})
	if want := "nvjpeg 12.2.2 sm_80 hardware+GPU+hybrid"; b.Decoder() != want {
		t.Errorf("decoder %q; want %q", b.Decoder(), want)
	}
	if info := b.Device(); info.Major != 8 || errors.Is(info.Refusal(), cuda.ErrNoDevice) {
		t.Error(info)
	}
}
