//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

// TestSkipped has nvJPEG report success for images that it skips: they are decoded again, and by the
// next backend if they are skipped twice.
func TestSkipped(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, file, fail string
		memory           int64
		decoders         map[string]int // of eight
		skipped          int64
	}{
		{"none", "made-ok-160x88.jpg", "", 0, map[string]int{"nvjpeg hardware": 8}, 0},
		{"one in a batch", "made-ok-160x88.jpg", "pictureBatched:3:1", 0, map[string]int{"nvjpeg hardware": 8}, 1},
		{"two, and gray", "made-gray.jpg", "pictureBatched:1:1,pictureBatched:8:1", 0, map[string]int{"nvjpeg hardware": 8}, 2},
		{"one in halves of a batch", "made-ok-160x88.jpg", "pictureBatched:7:1", 60000, map[string]int{"nvjpeg hardware": 8}, 1},
		{"one twice", "made-ok-160x88.jpg", "pictureBatched:3:1,pictureBatched:9:1", 0, map[string]int{"nvjpeg hardware": 7, "nvjpeg GPU": 1}, 1},
		{"all on the chip", "made-ok-160x88.jpg", "pictureBatched:1+:1", 0, map[string]int{"nvjpeg GPU": 8}, 8},
		{"all on the chip, which fails at first", "made-ok-160x88.jpg", "nvjpegDecodeBatched:1:6,pictureBatched:1+:1", 0, map[string]int{"nvjpeg GPU": 8}, 8},
		{"one alone", "made-ok-progressive.jpg", "picture:2:1", 0, map[string]int{"nvjpeg GPU": 8}, 1},
		{"one alone twice, gray", "go-video-005.gray.q50.2x2.progressive.jpeg", "picture:2:1,picture:9:1", 0, map[string]int{"nvjpeg hybrid": 7, "tfrec 1": 1}, 1},
		{"all", "made-ok-160x88.jpg", "pictureBatched:1+:1,picture:1+:1", 0, map[string]int{"tfrec 1": 8}, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, gpu.Options{Required: true, Decode: true, Streams: 1, Memory: c.memory})
			tasks := photos(t, 8, c.file)
			fakecuda.Set(t, "FAIL", c.fail)
			if err := b.Render(tasks); err != nil {
				t.Fatal(err)
			}
			decoders := map[string]int{}
			for i, task := range tasks {
				decoders[task.Decoder]++
				if fault := backendtest.Compare(task); fault != "" || task.FellBack {
					t.Errorf("%d: %s, fell back: %v", i, fault, task.FellBack)
				}
			}
			s := b.Stats()
			if !maps.Equal(decoders, c.decoders) || s.Skipped != c.skipped {
				t.Errorf("decoded by %v, skipped %d times; want %v and %d", decoders, s.Skipped, c.decoders, c.skipped)
			}
			if n := s.Refused["nvJPEG reports success and leaves the image as it was"]; n != int64(c.decoders["tfrec 1"]) {
				t.Errorf("refused: %v", s.Refused)
			}
		})
	}
}

// TestSentinels renders images that are what fills their planes before: they are not taken for
// skipped ones.
func TestSentinels(t *testing.T) {
	fakecuda.Use(t)
	codec := newCodec(t)
	b := open(t, gpu.Options{Required: true, Decode: true})
	var tasks []*augment.Task
	for _, size := range [][2]int{{40, 30}, {1, 1}, {15, 2}, {16, 1}} {
		for _, value := range []uint8{0x5B, 0xA4, 0x5A} {
			gray := image.NewGray(image.Rect(0, 0, size[0], size[1]))
			coloured := image.NewYCbCr(gray.Rect, image.YCbCrSubsampleRatio420)
			for _, plane := range [][]byte{gray.Pix, coloured.Y, coloured.Cb, coloured.Cr} {
				for i := range plane {
					plane[i] = value
				}
			}
			for _, im := range []image.Image{gray, coloured} {
				var data bytes.Buffer
				if err := jpeg.Encode(&data, im, &jpeg.Options{Quality: 100}); err != nil {
					t.Fatal(err)
				}
				task := new(augment.Task)
				if err := task.ReadJPEG(codec, data.Bytes()); err != nil {
					t.Fatal(err)
				}
				tasks = append(tasks, task)
			}
		}
	}
	if err := b.Render(tasks); err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		if fault := backendtest.Compare(task); fault != "" || task.Decoder != "nvjpeg hardware" {
			t.Errorf("%d: %s, decoded by %q", i, fault, task.Decoder)
		}
	}
	if got, want := tasks[0].Pixels.Pix[0], (color.Gray{Y: 0x5B}).Y; got != want {
		t.Errorf("the image has %#x; want %#x: the test shows nothing", got, want)
	}
	if s := b.Stats(); s.Skipped != 0 || s.Decoded["hardware"] != int64(len(tasks)) {
		t.Errorf("%+v", s)
	}
}
