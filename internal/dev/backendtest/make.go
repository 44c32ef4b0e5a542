package backendtest

import (
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// maker makes tasks at random.
type maker struct {
	r        *rand.Rand
	codec    *augment.Codec
	policies []*augment.Policy
	n        int
}

func newMaker(t testing.TB, seed uint64) *maker {
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{r: random(seed), codec: codec}
	for _, text := range []string{
		"random_resized_crop:24,scale=0.3-1|hflip|color_jitter:0.4,0.4,0.4,0.1",
		"random_resized_crop:32|hflip|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing",
		"hflip|vflip|trivial_augment",
		"rand_augment",
		"random_crop:20",
	} {
		p, err := augment.ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		m.policies = append(m.policies, p)
	}
	return m
}

// fill makes the task another one. Its results stay, to be written over.
func (m *maker) fill(t *augment.Task) {
	m.empty(t)
	w, h := m.side(), m.side()
	planar := m.chance(0.5)
	if planar {
		t.Planes = m.planes(w, h)
	} else {
		t.Image = m.image(w, h, 1+2*m.r.IntN(2))
	}
	m.wish(t, w, h, planar)
}

// empty leaves of a task nothing but its memory.
func (m *maker) empty(t *augment.Task) {
	t.Image, t.Planes, t.Resize, t.Draw = nil, nil, nil, augment.Draw{}
	t.Width, t.Height, t.Subsampling, t.Err = 0, 0, "", nil
	t.Form = augment.Pixels
	t.Normalize = augment.Normalize{}
	t.Scratch = &augment.Scratch{Codec: m.codec}
	m.n++
}

// wish decides the result of a task for an image of w x h pixels, which may be one in planes.
func (m *maker) wish(t *augment.Task, w, h int, planar bool) {
	if m.chance(0.6) {
		t.Draw = m.draw(w, h)
	}
	if planar && len(t.Draw.Steps) > 0 && (!t.Draw.TakesPlanes() || t.Planes != nil && t.Planes.Denom > 1 && isCrop(t.Draw.Steps[0])) {
		t.Draw = augment.Draw{}
	}
	if m.chance(0.7) {
		t.Resize = m.resize()
	}
	if planar && t.Resize != nil && len(t.Draw.Steps) == 0 && t.Resize.Filter == augment.Nearest {
		t.Resize.Filter = augment.Bilinear
	}
	if t.Image != nil && len(t.Draw.Steps) == 0 && m.chance(0.3) { // decoded at a part of its size
		denom := 2 << m.r.IntN(3)
		t.Width, t.Height = w*denom-m.r.IntN(denom), h*denom-m.r.IntN(denom)
	}
	if planar && t.Resize != nil && len(t.Draw.Steps) == 0 && m.chance(0.4) {
		t.Form, t.Subsampling = augment.YCbCr, m.subsampling()
		return
	}
	if m.chance(0.3) {
		t.Form = augment.Floats + augment.Form(m.r.IntN(2))
		for c := range 3 {
			t.Normalize.Mean[c], t.Normalize.Std[c] = m.r.Float32(), m.r.Float32()+0.1
		}
	}
}

func isCrop(s augment.Step) bool {
	_, is := s.(augment.CropBox)
	return is
}

func (m *maker) chance(p float64) bool { return m.r.Float64() < p }

// side returns a side that is mostly small: faults occur at edges.
func (m *maker) side() int {
	if m.chance(0.15) {
		return 1 + m.r.IntN(4)
	}
	return 1 + m.r.IntN(120)
}

func (m *maker) subsampling() string { return []string{"420", "422", "440", "444"}[m.r.IntN(4)] }

// image is an image of noise, of a gradient with some noise, or of few levels, rows apart.
func (m *maker) image(w, h, channels int) *augment.Image {
	im := &augment.Image{Width: w, Height: h, Channels: channels, Stride: w*channels + m.r.IntN(9)}
	im.Pix = make([]uint8, (h-1)*im.Stride+w*channels)
	kind, level := m.r.IntN(3), m.r.IntN(256)
	for i := range im.Pix {
		switch kind {
		case 0:
			im.Pix[i] = uint8(m.r.Uint32())
		case 1:
			x, y := i%im.Stride/channels, i/im.Stride
			im.Pix[i] = uint8(level + x + 2*y + m.r.IntN(16))
		default:
			im.Pix[i] = uint8(255 * m.r.IntN(2))
		}
	}
	return im
}

// planes are of an image of about w x h pixels after they were decoded at a
// part of it.
func (m *maker) planes(w, h int) *augment.Planes {
	p := &augment.Planes{Subsampling: m.subsampling(), Denom: 1}
	if m.chance(0.3) {
		p.Denom = 2 << m.r.IntN(3)
	}
	p.Width, p.Height = w, h
	yw, yh := (w+p.Denom-1)/p.Denom, (h+p.Denom-1)/p.Denom
	cw, ch := yw, yh
	if p.Subsampling == "420" || p.Subsampling == "422" {
		cw = (yw + 1) / 2
	}
	if p.Subsampling == "420" || p.Subsampling == "440" {
		ch = (yh + 1) / 2
	}
	p.Y, p.Cb, p.Cr = *m.image(yw, yh, 1), *m.image(cw, ch, 1), *m.image(cw, ch, 1)
	return p
}

func (m *maker) filter() augment.Filter { return augment.Filter(m.r.IntN(5)) }

func (m *maker) color() [3]uint8 {
	return [3]uint8{uint8(m.r.Uint32()), uint8(m.r.Uint32()), uint8(m.r.Uint32())}
}

func (m *maker) resize() *augment.ResizeSpec {
	s := &augment.ResizeSpec{Filter: m.filter(), NoAntialias: !m.chance(0.7), NoUpscale: m.chance(0.3), PadColor: m.color()}
	if m.chance(0.3) {
		s.Square = 1 + m.r.IntN(60)
		return s
	}
	s.Width, s.Height = 1+m.r.IntN(60), 1+m.r.IntN(60)
	s.Fit = augment.Fit(m.r.IntN(5))
	return s
}

// draw is one of a policy, or steps at random, for an image of w x h pixels.
func (m *maker) draw(w, h int) (d augment.Draw) {
	if m.chance(0.4) {
		return m.policies[m.r.IntN(len(m.policies))].Draw(m.r.Uint64(), "key", m.n, w, h)
	}
	for range 1 + m.r.IntN(5) {
		s := m.step(w, h)
		w, h = augment.Draw{Steps: []augment.Step{s}}.Size(w, h)
		if w > 400 || h > 400 {
			break // turned and turned again
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}
