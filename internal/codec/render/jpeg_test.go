package render

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestUsual is which images backends are asked to decode: it hangs on the header alone.
func TestUsual(t *testing.T) {
	t.Parallel()
	c := newCodec(t, imagefile.CodecOptions{Decoder: "go"})
	for name, want := range map[string]bool{
		"made-ok-160x88.jpg": true, "made-ok-progressive.jpg": true, "made-gray.jpg": true, "made-1x1.jpg": true, "made-rst.jpg": true,
		"go-video-001.q50.422.jpeg": true, "go-video-001.q50.440.jpeg": true, "go-video-001.q50.444.progressive.jpeg": true,
		"imageorient-orientation_7.jpg": true, "go-video-005.gray.q50.2x2.progressive.jpeg": true,
		"go-video-001.q50.410.jpeg": false, "go-video-001.q50.411.progressive.jpeg": false, "go-video-001.221212.jpeg": false,
		"go-video-001.cmyk.jpeg": false, "made-ycck-adobe.jpg": false, "go-video-001.rgb.jpeg": false, "made-dht-missing.jpg": false,
		"jpegdecoder-16bit-qtables.jpg": false, "zune-non_interleaved_420_64x64.jpg": false, "pngsuite-basn0g16.png": false, "made-gif-named.jpg": false,
		"made-bomb-16000x16000.jpg": false, // 256 million pixels
	} {
		c := c
		if name == "made-bomb-16000x16000.jpg" {
			c = newCodec(t, imagefile.CodecOptions{Decoder: "go", MaxPixels: 1 << 30})
		}
		info, err := c.Stat(imagetest.Picture(t, name))
		if err != nil || info.Usual != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Usual, err, want)
		}
	}
}

// TestTaskDecodesJPEG holds what a task makes of a JPEG to what the codec makes of it.
func TestTaskDecodesJPEG(t *testing.T) {
	t.Parallel()
	c := newCodec(t, imagefile.CodecOptions{Decoder: "go"})
	var task Task
	for _, name := range []string{"made-ok-160x88.jpg", "made-gray.jpg", "imageorient-orientation_6.jpg", "go-video-001.cmyk.jpeg", "made-ok-progressive.jpg"} {
		data := imagetest.Picture(t, name)
		for _, channels := range []int{0, 1, 3} {
			if err := task.ReadJPEG(c, data); err != nil {
				t.Fatal(name, err)
			}
			task.JPEGChannels = channels
			if err := (CPU{}).Render([]*Task{&task}); err != nil || task.Err != nil {
				t.Fatal(name, err, task.Err)
			}
			var want bitmap.Image
			if _, err := c.Decode(&want, data, imagefile.DecodeOptions{Channels: channels}); err != nil {
				t.Fatal(err)
			}
			if task.Channels != want.Channels || !bytes.Equal(task.Pixels.Pix, want.Pix) || task.Decoder != c.Decoder() || task.FellBack {
				t.Errorf("%s to %d channels: %d, other pixels, or decoder %q", name, channels, task.Channels, task.Decoder)
			}
		}
	}
}

// TestTaskDecodesOneAfterTheOther has the CPU decode a batch: none of its images stays in memory,
// whichever of them are planes, and the batch may be done again.
func TestTaskDecodesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := newCodec(t, imagefile.CodecOptions{Decoder: "go"})
	names := []string{"made-ok-160x88.jpg", "imageorient-orientation_6.jpg", "made-ok-progressive.jpg", "made-gray.jpg", "made-ok-160x88.jpg"}
	var tasks []*Task
	for i, name := range names {
		task := &Task{JPEGPlanes: i%2 == 0}
		if err := task.ReadJPEG(c, imagetest.Picture(t, name)); err != nil {
			t.Fatal(name, err)
		}
		tasks = append(tasks, task)
	}
	tasks = append(tasks, &Task{JPEGInfo: tasks[0].JPEGInfo})
	for range 2 {
		if err := (CPU{}).Render(tasks); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			task := tasks[i]
			var want bitmap.Image
			if _, err := c.Decode(&want, imagetest.Picture(t, name), imagefile.DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			if task.Err != nil || !bytes.Equal(task.Pixels.Pix, want.Pix) {
				t.Errorf("%s: %v, or other pixels", name, task.Err)
			}
			if held := &task.jpeg.image; task.Image != nil || task.Planes != nil || held.Pix != nil || task.jpeg.planes.Y.Pix != nil {
				t.Errorf("%s is still in memory", name)
			}
		}
		if tasks[len(names)].Err == nil {
			t.Error("an image that was never read is done")
		}
	}
}

// TestTaskRefusesJPEG what is damaged, or no JPEG, before anybody sees it; and wishes that make no
// sense.
func TestTaskRefusesJPEG(t *testing.T) {
	t.Parallel()
	c := newCodec(t, imagefile.CodecOptions{Decoder: "go"})
	for name, want := range map[string]error{
		"made-cut-50.jpg": sniff.ErrDamaged, "made-no-eoi.jpg": sniff.ErrDamaged, "made-hole-in-scan.jpg": sniff.ErrDamaged, "pngsuite-basn0g16.png": sniff.ErrUnsupported,
		"made-html.jpg": sniff.ErrNotImage, "made-empty.jpg": sniff.ErrNotImage, "made-precision-12.jpg": sniff.ErrUnsupported,
	} {
		if err := new(Task).ReadJPEG(c, imagetest.Picture(t, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", name, err, want)
		}
	}
	gray, turned, color := new(Task), new(Task), new(Task)
	for name, task := range map[string]*Task{"made-gray.jpg": gray, "imageorient-orientation_6.jpg": turned, "made-ok-160x88.jpg": color} {
		if err := task.ReadJPEG(c, imagetest.Picture(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	gray.JPEGPlanes, turned.JPEGPlanes, color.JPEGChannels = true, true, 2
	for _, task := range []*Task{gray, turned, color, {JPEGInfo: color.JPEGInfo}} {
		if err := (CPU{}).Render([]*Task{task}); err != nil || task.Err == nil {
			t.Errorf("%+v is done: %v", task.JPEGInfo, err)
		}
	}
}
