package gpu_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// maxApart is how far nvJPEG's samples may be from Go's. Both round an inverse cosine
// transform of the same coefficients, each in its own way.
const maxApart = 3

// encoded is a JPEG of waves with some noise, in 4:2:0 or gray.
func encoded(t *testing.T, rng *rand.Rand, w, h int, gray bool) []byte {
	t.Helper()
	im := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			noise := rng.IntN(20)
			im.SetNRGBA(x, y, color.NRGBA{uint8(x*3 + noise), uint8(y*2 + noise), uint8(x + y), 255})
		}
	}
	var from image.Image = im
	if gray {
		g := image.NewGray(im.Rect)
		for i := range g.Pix {
			g.Pix[i] = im.Pix[4*i]
		}
		from = g
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, from, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNVJPEGBesideGo compares nvJPEG's planes with those of image/jpeg. The fake nvJPEG
// makes patterns instead of pixels: this is for real GPUs alone.
func TestNVJPEGBesideGo(t *testing.T) {
	device := gputest.Device(t)
	if strings.HasPrefix(device.Info().Name, "tfrec's fake") {
		t.Skip("the fake nvJPEG decodes nothing")
	}
	library, err := nvjpeg.Open()
	if err != nil {
		gputest.Missing(t, err)
	}
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	decoder, err := library.NewDecoder(stream)
	if err != nil {
		gputest.Missing(t, err)
	}
	defer decoder.Close()

	rng := rand.New(rand.NewPCG(1, 2))
	var batch []nvjpeg.Picture
	for _, c := range []struct {
		w, h int
		gray bool
	}{{64, 48, false}, {500, 375, false}, {17, 33, false}, {1920, 1080, false}, {100, 81, true}} {
		p := nvjpeg.Picture{Data: encoded(t, rng, c.w, c.h, c.gray)}
		info, err := decoder.Parse(p.Data)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for i := range info.Components {
			p.Planes[i] = nvjpeg.Plane{At: size, Pitch: info.Planes[i].Width}
			size += info.Planes[i].Width * info.Planes[i].Height
		}
		if p.To, err = stream.Alloc(size); err != nil {
			t.Fatal(err)
		}
		batch = append(batch, p)
	}
	if err := decoder.Decode(batch, nvjpeg.YCbCr); err != nil {
		t.Fatal(err)
	}
	for _, p := range batch {
		if p.Err != nil {
			t.Errorf("%dx%d: %v", p.Info.Width, p.Info.Height, p.Err)
			continue
		}
		t.Logf("%dx%d, %d components: %s", p.Info.Width, p.Info.Height, p.Info.Components, p.Backend)
		compareWithGo(t, stream, p)
	}
	t.Logf("%s %s", library.Name(), library.Version())
}

// compareWithGo compares the planes of a picture that was decoded.
func compareWithGo(t *testing.T, stream *cuda.Stream, p nvjpeg.Picture) {
	t.Helper()
	im, err := jpeg.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	var planes [][]byte
	var strides []int
	switch im := im.(type) {
	case *image.YCbCr:
		planes, strides = [][]byte{im.Y, im.Cb, im.Cr}, []int{im.YStride, im.CStride, im.CStride}
	case *image.Gray:
		planes, strides = [][]byte{im.Pix}, []int{im.Stride}
	default:
		t.Fatalf("image/jpeg gives %T", im)
	}
	host, err := stream.AllocHost(p.To.Size())
	if err != nil {
		t.Fatal(err)
	}
	defer host.Free()
	if err := stream.Download(host, 0, p.To, 0, p.To.Size()); err != nil {
		t.Fatal(err)
	}
	if err := stream.Synchronize(); err != nil {
		t.Fatal(err)
	}
	for i, plane := range planes {
		apart := 0
		for y := range p.Info.Planes[i].Height {
			row := host.Bytes()[p.Planes[i].At+y*p.Planes[i].Pitch:][:p.Info.Planes[i].Width]
			for x, v := range row {
				d := int(v) - int(plane[y*strides[i]+x])
				apart = max(apart, d, -d)
			}
		}
		if apart > maxApart {
			t.Errorf("%dx%d, plane %d: %d levels apart with %s; %d are borne", p.Info.Width, p.Info.Height, i, apart, p.Backend, maxApart)
		}
	}
}
