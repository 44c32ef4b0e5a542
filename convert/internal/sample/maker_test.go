package sample

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
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
		s := NewMaker(&Set{Options: &test.o}, codec, nil)
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
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	info, err := codec.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	for width, want := range map[int]int64{0: 15, 8: 6} {
		o := options.ImageOptions{Encode: options.EncodeSpec{Format: options.PNG}, Augment: options.AugmentSpec{Policy: policyOf(t, "mosaic:500")}, Resize: augment.ResizeSpec{Width: width, Height: width, NoAntialias: true}}
		s := NewMaker(&Set{Options: &o, Images: []origin.Image{{Path: "a"}}}, codec, nil)
		m := &Work{Sample: Sample{Copy: 1}}
		for range 3 {
			m.partners = append(m.partners, &Work{data: data})
		}
		n, bad := s.drawMixture(m, info)
		if pixels := int64(500 * 500); bad != nil || n < want*pixels || n > (want+1)*pixels {
			t.Errorf("%d: %.1f bytes a pixel, want %d; %v", width, float64(n)/float64(pixels), want, bad)
		}
	}
}

// TestRing compares the ring with a search of all images, and counts how many variants an image
// more changes.
func TestRing(t *testing.T) {
	const n = 3000
	s := NewMaker(&Set{Options: &options.ImageOptions{}}, nil, nil)
	var all []int32
	for i := range n {
		s.Images = append(s.Images, origin.Image{Path: fmt.Sprint(i)})
		all = append(all, int32(i))
	}
	s.AddRing(all[:n-1])
	s.AddRing(all)
	h := plan.NewHasher(0, plan.ForPartner)
	changed := 0
	for i := range int32(n - 1) {
		hash := h.Key(fmt.Sprint("variant", i))
		want, least := int32(-1), uint64(math.MaxUint64)
		for _, e := range s.rings[1] {
			if d := e.hash - hash; e.image != i && d <= least {
				want, least = e.image, d
			}
		}
		before, got := s.rings[0].after(hash, i), s.rings[1].after(hash, i)
		if got != want {
			t.Fatalf("after %x is %d, want %d", hash, got, want)
		}
		if got != before {
			if changed++; got != n-1 {
				t.Errorf("%d became %d, not the new image", before, got)
			}
		}
	}
	if changed > 12 {
		t.Errorf("%d variants of %d changed", changed, n)
	}
}

// TestSpareWorkersAreCounted: those with a task can't help, and those that help count as busy.
func TestSpareWorkersAreCounted(t *testing.T) {
	s := NewMaker(&Set{Options: new(options.ImageOptions)}, nil, nil)
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
