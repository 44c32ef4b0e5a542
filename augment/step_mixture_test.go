package augment

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/dev/race"
)

func noisy(r *rand.Rand, w, h, channels int) *Image {
	im := new(Image)
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = uint8(r.IntN(256))
	}
	return im
}

// TestMixturesOfImages compares mixtures of images of odd sizes with pixels composed one by one.
func TestMixturesOfImages(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, spec := range []string{"mixup", "cutmix", "mosaic:16", "hflip:1|mixup:0.4", "random_crop:9|cutmix:0.7", "vflip:0.5|mosaic:31"} {
		p, err := ParsePolicy(spec)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 60 {
			channels := 1 + 2*r.IntN(2)
			src := noisy(r, 1+r.IntN(40), 1+r.IntN(40), channels)
			key := fmt.Sprintf("%s %d", spec, n)
			partners := make([]Partner, p.Partners(7, key, 1))
			images := make([]*Image, len(partners))
			for i := range partners {
				images[i] = noisy(r, 1+r.IntN(40), 1+r.IntN(40), channels)
				partners[i] = Partner{Key: fmt.Sprint(i), Width: images[i].Width, Height: images[i].Height}
			}
			d := p.DrawMixed(7, key, 1, src.Width, src.Height, nil, partners)
			at := steps.MixtureAt(d)
			s := d.Steps[at].(Mixture)
			var main Image
			if err := (Draw{Steps: d.Steps[:at]}).Apply(&main, src, nil); err != nil {
				t.Fatal(err)
			}
			parts := []*Image{&main}
			sum := s.Lambda
			for i := range s.Partners {
				im := new(Image)
				if err := s.Partners[i].Draw.Apply(im, images[i], nil); err != nil {
					t.Fatal(err)
				}
				s.Partners[i].Image = im
				parts = append(parts, im)
				sum += s.Partners[i].Weight
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s: weights sum to %v", key, sum)
			}
			var got Image
			if err := d.Apply(&got, src, nil); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			want := composed(t, s, parts)
			if got.Width != want.Width || got.Height != want.Height || !cmp.Equal(got.Pix, want.Pix) {
				t.Fatalf("%s: a mixture of %dx%d is not what it should be", key, got.Width, got.Height)
			}
			var back Draw
			data, err := json.Marshal(d)
			if err == nil {
				err = json.Unmarshal(data, &back)
			}
			if diff := cmp.Diff(d, back, cmpopts.IgnoreFields(Partner{}, "Image"), cmpopts.IgnoreUnexported(Mixture{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%s: %v %s", data, err, diff)
			}
		}
	}
}

// composed is the plain reference of Mixture.apply.
func composed(t *testing.T, s Mixture, parts []*Image) *Image {
	t.Helper()
	w, h, c := parts[0].Width, parts[0].Height, parts[0].Channels
	if s.Method == "mosaic" {
		w, h = s.Size, s.Size
	}
	out := new(Image)
	out.Reset(w, h, c)
	at := func(x, y, c int) uint8 { // of a mosaic
		part := 0
		if x >= s.Center[0] {
			part++
		}
		if y >= s.Center[1] {
			part += 2
		}
		im := parts[part]
		long := max(im.Width, im.Height)
		rw := max(1, int(math.Round(float64(im.Width)*float64(s.Size)/float64(long))))
		rh := max(1, int(math.Round(float64(im.Height)*float64(s.Size)/float64(long))))
		x, y = x-s.Center[0], y-s.Center[1]
		if part%2 == 0 {
			x += rw
		}
		if part < 2 {
			y += rh
		}
		if x < 0 || y < 0 || x >= rw || y >= rh {
			return 114
		}
		return resized(t, im, rw, rh).Row(y)[x*im.Channels+c]
	}
	for y := range h {
		for x := range w {
			for k := range c {
				v := uint8(0)
				switch s.Method {
				case "mosaic":
					v = at(x, y, k)
				case "mixup":
					a, b := parts[0].Row(y)[x*c+k], resized(t, parts[1], w, h).Row(y)[x*c+k]
					own, other := float32(s.Lambda), float32(1-s.Lambda)
					v = uint8(math.RoundToEven(float64(float32(own*float32(a)) + float32(other*float32(b)))))
				default:
					v = parts[0].Row(y)[x*c+k]
					if b := s.Box; x >= b[0] && x < b[0]+b[2] && y >= b[1] && y < b[1]+b[3] {
						v = resized(t, parts[1], w, h).Row(y)[x*c+k]
					}
				}
				out.Row(y)[x*c+k] = v
			}
		}
	}
	return out
}

// resizedOnce are the results of resized.
type resizeCall struct {
	im   *Image
	w, h int
}

var resizedOnce = map[resizeCall]*Image{}

func resized(t *testing.T, im *Image, w, h int) *Image {
	key := resizeCall{im, w, h}
	out := resizedOnce[key]
	if out == nil {
		out = new(Image)
		if err := Resize(out, im, w, h, Bilinear, true); err != nil {
			t.Fatal(err)
		}
		resizedOnce[key] = out
	}
	return out
}

// TestBoxesOfMixtures paints an object of each image and finds it where Draw.Of says.
func TestBoxesOfMixtures(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, spec := range []string{"cutmix", "mosaic:64", "hflip:0.5|mosaic:50|vflip:0.5"} {
		p, err := ParsePolicy(spec)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 80 {
			key := fmt.Sprint(n)
			parts := make([]*Image, 1+p.Partners(1, key, 1))
			boxes := make([]Box, len(parts))
			partners := make([]Partner, len(parts)-1)
			for i := range parts {
				im := noisy(r, 40+r.IntN(40), 40+r.IntN(40), 1)
				bitmap.Fill(im.Pix, []uint8{0})
				x, y := r.IntN(20), r.IntN(20)
				w, h := 5+r.IntN(15), 5+r.IntN(15)
				boxes[i] = Box{XMin: float64(x), YMin: float64(y), XMax: float64(x + w), YMax: float64(y + h)}
				for row := y; row < y+h; row++ {
					bitmap.Fill(im.Row(row)[x:x+w], []uint8{uint8(50 * (i + 1))})
				}
				parts[i] = im
				if i > 0 {
					partners[i-1] = Partner{Width: im.Width, Height: im.Height}
				}
			}
			d := p.DrawMixed(1, key, 1, parts[0].Width, parts[0].Height, nil, partners)
			mask := d.Mask(0)
			s := mask.Steps[steps.MixtureAt(mask)].(Mixture)
			for i := range s.Partners {
				im := new(Image)
				if err := s.Partners[i].Draw.Apply(im, parts[i+1], nil); err != nil {
					t.Fatal(err)
				}
				s.Partners[i].Image = im
			}
			var got Image
			if err := mask.Apply(&got, parts[0], nil); err != nil {
				t.Fatal(err)
			}
			for i, im := range parts {
				want, share := d.Of(i, parts[0].Width, parts[0].Height).Box(boxes[i], im.Width, im.Height)
				found := Box{XMin: math.Inf(1), YMin: math.Inf(1), XMax: 0, YMax: 0}
				for y := range got.Height {
					for x, v := range got.Row(y) {
						if v == uint8(50*(i+1)) {
							found = Box{XMin: min(found.XMin, float64(x)), YMin: min(found.YMin, float64(y)), XMax: max(found.XMax, float64(x+1)), YMax: max(found.YMax, float64(y+1))}
						}
					}
				}
				if found.Area() == 0 || want.Area() < 4 {
					if want.Area() >= 12 && share > 0.2 || want.Area() == 0 && found.Area() > 3 {
						t.Errorf("%s %d: part %d has its object at %v, want %v", spec, n, i, found, want)
					}
					continue
				}
				far := max(math.Abs(found.XMin-want.XMin), math.Abs(found.YMin-want.YMin), math.Abs(found.XMax-want.XMax), math.Abs(found.YMax-want.YMax))
				if far > 1.01 {
					t.Errorf("%s %d: part %d has its object at %v, want %v", spec, n, i, found, want)
				}
			}
		}
	}
}

// TestCoverHidesBoxes holds the share that is left of a box to the count of its pixels.
func TestCoverHidesBoxes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		x, y, x2, y2 := r.IntN(8), r.IntN(8), r.IntN(8), r.IntN(8)
		b := Box{XMin: float64(x), YMin: float64(y), XMax: float64(x + 1 + r.IntN(8)), YMax: float64(y + 1 + r.IntN(8))}
		c := steps.Cover{X: x2, Y: y2, W: 1 + r.IntN(8), H: 1 + r.IntN(8)}
		got, share := c.Hide(b)
		left, around := 0, Box{XMin: 99, YMin: 99, XMax: 0, YMax: 0}
		for py := b.YMin; py < b.YMax; py++ {
			for px := b.XMin; px < b.XMax; px++ {
				if int(px) >= c.X && int(px) < c.X+c.W && int(py) >= c.Y && int(py) < c.Y+c.H {
					continue
				}
				left++
				around = Box{XMin: min(around.XMin, px), YMin: min(around.YMin, py), XMax: max(around.XMax, px+1), YMax: max(around.YMax, py+1)}
			}
		}
		if left == 0 {
			around = Box{}
		}
		if got != around || math.Abs(share-float64(left)/b.Area()) > 1e-12 {
			t.Fatalf("%+v of %v leaves %v and %v, want %v and %d pixels", c, b, got, share, around, left)
		}
	}
}

// TestMixupHasBeta compares the mean and the variance of lambda with those of Beta(alpha, alpha).
func TestMixupHasBeta(t *testing.T) {
	for _, alpha := range []float64{0.2, 0.8, 1, 4} {
		p, err := ParsePolicy(fmt.Sprintf("mixup:%v,p=0.5", alpha))
		if err != nil {
			t.Fatal(err)
		}
		const all = 20000
		var n, sum, squares float64
		for i := range all {
			key := fmt.Sprint(i)
			if p.Partners(1, key, 1) == 0 {
				continue
			}
			d := p.DrawMixed(1, key, 1, 8, 8, nil, []Partner{{Width: 8, Height: 8}})
			l := d.Steps[0].(Mixture).Lambda
			n, sum, squares = n+1, sum+l, squares+(l-0.5)*(l-0.5)
		}
		if math.Abs(n/all-0.5) > 0.02 || math.Abs(sum/n-0.5) > 0.015 || math.Abs(squares/n-1/(4*(2*alpha+1))) > 0.004 {
			t.Errorf("alpha %v: %v mixed, mean %v, variance %v", alpha, n, sum/n, squares/n)
		}
	}
}

func TestMixturesRefused(t *testing.T) {
	for spec, want := range map[string]string{
		"mixup|cutmix":               `"cutmix" at character 7: a policy mixes images once: mixup is before it`,
		"one_of(mixup|hflip)":        "not for groups",
		"sequence(one_of(mosaic:9))": "not for groups",
		"mosaic":                     "size is missing",
		"mosaic:1":                   "2 to 8192",
		"mixup:0":                    "0.001 to 1000",
	} {
		if _, err := ParsePolicy(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for _, text := range []string{
		`[{"op":"mixup","lambda":0.5,"partners":[]}]`,
		`[{"op":"mixup","lambda":1.5,"partners":[{"key":"a","weight":0.5,"width":1,"height":1,"ops":[]}]}]`,
		`[{"op":"mixup","lambda":0.5,"partners":[{"key":"a","weight":0.5,"width":0,"height":1,"ops":[]}]}]`,
		`[{"op":"mixup","lambda":0.5,"partners":[{"key":"a","weight":0.5,"width":1,"height":1,"ops":[{"op":"mixup","lambda":0.5,"partners":[{"key":"a","weight":0.5,"width":1,"height":1,"ops":[]}]}]}]}]`,
		`[{"op":"mosaic","lambda":0.5,"partners":[{"key":"a","weight":0.5,"width":1,"height":1,"ops":[]}]}]`,
		`[{"op":"cutmix","lambda":0.5,"box":[-1,0,1,1],"partners":[{"key":"a","weight":0.5,"width":1,"height":1,"ops":[]}]}]`,
	} {
		if err := json.Unmarshal([]byte(text), new(Draw)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	var d Draw
	if err := json.Unmarshal([]byte(`[{"op":"cutmix","lambda":0.5,"box":[5,5,9,9],"partners":[{"key":"a","weight":0.5,"width":3,"height":3,"ops":[]}]}]`), &d); err != nil {
		t.Fatal(err)
	}
	im := noisy(rand.New(rand.NewPCG(1, 1)), 3, 3, 3)
	if err := d.Apply(new(Image), im, nil); err == nil || !strings.Contains(err.Error(), `partner "a" is missing`) {
		t.Error(err)
	}
	d.Steps[0].(Mixture).Partners[0].Image = im
	if err := d.Apply(new(Image), im, nil); err == nil || !strings.Contains(err.Error(), "not within the image") {
		t.Error(err)
	}
}
