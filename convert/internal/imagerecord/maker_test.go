package imagerecord

import (
	"image"
	"os"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/dev/testpng"
)

func policyOf(t *testing.T, text string) *augment.Policy {
	t.Helper()
	p, err := augment.LoadPolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMemoryOfAnImage: the estimate for an image grows with its pixels and with the steps applied,
// and unchanged images take little.
func TestMemoryOfAnImage(t *testing.T) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../../testdata/pictures/made-ok-160x88.jpg")
	if err != nil {
		t.Fatal(err)
	}
	info, err := codec.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	const pixels = 160 * 88
	for _, test := range []struct {
		o           options.ImageOptions
		least, most int64 // per pixel
	}{
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.Keep}}, 0, 1},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.JPEG}}, 12, 16},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.Raw}}, 9, 12},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.Float32}}, 42, 46},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.JPEG}, Resize: augment.ResizeSpec{Width: 16, Height: 8, NoAntialias: true}}, 4, 6},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.JPEG}, Resize: augment.ResizeSpec{Width: 320, Height: 176, NoAntialias: true}}, 36, 44},
		{options.ImageOptions{Encode: options.EncodeSpec{Format: options.PNG}, Augment: options.AugmentSpec{Policy: policyOf(t, "hflip")}}, 18, 22},
	} {
		s := New(&sample.Set{Options: &test.o}, codec, nil)
		if n := s.memory(info, len(data)); n < test.least*pixels || n > test.most*pixels {
			t.Errorf("%+v: %.1f bytes a pixel, want %d to %d", test.o, float64(n)/pixels, test.least, test.most)
		}
	}
}

// TestMemoryOfAMosaic: the estimate has the pixels of the mosaic before and after its steps, encoded
// and framed, and less if it is made smaller.
func TestMemoryOfAMosaic(t *testing.T) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data := testpng.Encode(image.NewGray(image.Rect(0, 0, 8, 8)))
	info, err := codec.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	for width, want := range map[int]int64{0: 15, 8: 6} {
		o := options.ImageOptions{Encode: options.EncodeSpec{Format: options.PNG}, Augment: options.AugmentSpec{Policy: policyOf(t, "mosaic:500")}, Resize: augment.ResizeSpec{Width: width, Height: width, NoAntialias: true}}
		s := New(&sample.Set{Options: &o, Images: []origin.Image{{Path: "a"}}}, codec, nil)
		m := &Work{Sample: sample.Sample{Copy: 1}}
		for range 3 {
			m.partners = append(m.partners, &Work{data: data})
		}
		n, bad := s.drawMixture(m, info)
		if pixels := int64(500 * 500); bad != nil || n < want*pixels || n > (want+1)*pixels {
			t.Errorf("%d: %.1f bytes a pixel, want %d; %v", width, float64(n)/float64(pixels), want, bad)
		}
	}
}

// TestSpareWorkersAreCounted: those with a task can't help, and those that help count as busy.
func TestSpareWorkersAreCounted(t *testing.T) {
	s := New(&sample.Set{Options: new(options.ImageOptions)}, nil, nil)
	s.Workers = 3
	spare := s.decoding().Spare
	s.Busy.Add(1) // a task
	for i, want := range []bool{true, true, false} {
		if got := spare.TryAcquire(); got != want {
			t.Errorf("helper %d: %v", i, got)
		}
	}
	s.Busy.Add(1) // another task, which waits for no one
	spare.Release()
	if spare.TryAcquire() {
		t.Error("a helper in addition to as many as there are workers")
	}
	spare.Release()
	if !spare.TryAcquire() {
		t.Error("no helper where one has finished")
	}
}
