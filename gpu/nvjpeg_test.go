package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// How far nvJPEG's samples may be from those of libjpeg-turbo and our own decoder: each sample, and
// on average over a plane. Both round an inverse cosine transform of the same coefficients, but
// differently. The fake nvJPEG rounds as we do.
const (
	maxApart  = 3
	meanApart = 0.25
)

// encoded is a JPEG of waves with some noise.
func encoded(t testing.TB, codec *augment.Codec, rng *rand.Rand, w, h int, subsampling string) []byte {
	t.Helper()
	im := new(augment.Image)
	im.Reset(w, h, 3)
	for y := range h {
		for x := range w {
			noise := rng.IntN(20)
			im.Pix[3*(y*w+x)] = uint8(128 + 100*math.Sin(float64(x)/17) + float64(noise))
			im.Pix[3*(y*w+x)+1] = uint8(128 + 100*math.Sin(float64(x+2*y)/31) + float64(noise))
			im.Pix[3*(y*w+x)+2] = uint8((x + y + noise) / 4)
		}
	}
	data, err := codec.AppendJPEG(nil, im, 90, subsampling)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNVJPEGBesideTurbo compares nvJPEG's planes with libjpeg-turbo's.
func TestNVJPEGBesideTurbo(t *testing.T) {
	device := gputest.Device(t)
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	library, err := nvjpeg.Open(stream)
	if err != nil {
		gputest.Missing(t, err)
	}
	decoder, err := library.NewDecoder(stream)
	if err != nil {
		gputest.Missing(t, err)
	}
	defer decoder.Close()
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}

	rng := rand.New(rand.NewPCG(1, 2))
	var batch []nvjpeg.Image
	var names []string
	for _, size := range [][2]int{{64, 48}, {500, 375}, {17, 33}, {1, 1}, {1920, 1080}} {
		for _, subsampling := range []string{"420", "422", "440", "444", "gray"} {
			if size[0] > 1000 && subsampling != "420" {
				continue
			}
			p := nvjpeg.Image{Data: encoded(t, codec, rng, size[0], size[1], subsampling)}
			info, err := decoder.Parse(p.Data)
			if err != nil {
				t.Fatal(err)
			}
			room := 0
			for i := range info.Components {
				p.Planes[i] = nvjpeg.Plane{At: room, Pitch: info.Planes[i].Width}
				room += info.Planes[i].Width * info.Planes[i].Height
			}
			if p.To, err = stream.Alloc(room); err != nil {
				t.Fatal(err)
			}
			batch, names = append(batch, p), append(names, fmt.Sprintf("%dx%d %s", size[0], size[1], subsampling))
		}
	}
	if err := decoder.Decode(batch); err != nil {
		t.Fatal(err)
	}
	for i, p := range batch {
		if p.Err != nil {
			t.Errorf("%s: %v", names[i], p.Err)
			continue
		}
		compareWithTurbo(t, stream, codec, names[i], p)
	}
	t.Logf("%s %s on %s", library.Name(), library.Version(), device.Info().Name)
}

// compareWithTurbo compares the planes of an image that was decoded.
func compareWithTurbo(t *testing.T, stream *cuda.Stream, codec *augment.Codec, name string, p nvjpeg.Image) {
	t.Helper()
	var planes []*augment.Image
	if p.Info.Components == 1 {
		planes = append(planes, new(augment.Image))
		if _, err := codec.Decode(planes[0], p.Data, augment.DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
	} else {
		var of augment.Planes
		if _, err := codec.DecodePlanes(&of, p.Data, augment.DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
		planes = append(planes, &of.Y, &of.Cb, &of.Cr)
	}
	host, err := stream.AllocHost(p.To.Size())
	if err != nil {
		t.Fatal(err)
	}
	defer host.Free()
	if err := errors.Join(stream.Download(host, 0, p.To, 0, p.To.Size()), stream.Synchronize()); err != nil {
		t.Fatal(err)
	}
	for i, plane := range planes {
		if size := p.Info.Planes[i]; size.Width != plane.Width || size.Height != plane.Height {
			t.Errorf("%s, plane %d: %dx%d; want %dx%d", name, i, size.Width, size.Height, plane.Width, plane.Height)
			continue
		}
		apart, sum := 0, 0
		for y := range plane.Height {
			row := host.Bytes()[p.Planes[i].At+y*p.Planes[i].Pitch:]
			for x, v := range plane.Row(y) {
				d := int(row[x]) - int(v)
				d = max(d, -d)
				apart, sum = max(apart, d), sum+d
			}
		}
		mean := float64(sum) / float64(plane.Width*plane.Height)
		t.Logf("%s, plane %d, %s: %d levels apart, %.4f on average", name, i, p.Backend, apart, mean)
		if apart > maxApart || mean > meanApart && plane.Width > 1 {
			t.Errorf("%s, plane %d: %d levels apart with %s, %.3f on average; %d and %g are borne", name, i, apart, p.Backend, mean, maxApart, meanApart)
		}
	}
}
