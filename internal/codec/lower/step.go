package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/codec/warp"
)

// steps writes the steps of a draw, colour steps that come one after another
// together.
func (l *lowering) steps(list []steps.Step) error {
	for len(list) > 0 {
		colors := 0
		for colors < len(list) && steps.IsColor(list[colors]) {
			colors++
		}
		if colors > 0 {
			if err := l.recolor(list[:colors]); err != nil {
				return err
			}
			list = list[colors:]
			continue
		}
		s := list[0]
		if steps.Validate(s) != nil {
			return lacking(steps.Op(s))
		}
		w, h := steps.Size(s, l.width, l.height)
		if (w != l.width || h != l.height) && steps.CheckResult(steps.Op(s), w, h) != nil {
			return lacking(steps.Op(s))
		}
		if err := l.step(s); err != nil {
			return err
		}
		list = list[1:]
	}
	return nil
}

// step writes one step that was checked and is not a colour step.
func (l *lowering) step(step steps.Step) error {
	switch s := step.(type) {
	case steps.CropBox:
		l.cropBox(s)
	case steps.ResizedCrop:
		if steps.WithinImage(s, l.width, l.height) != nil || s.W > bitmap.MaxSourceSide || s.H > bitmap.MaxSourceSide {
			return lacking(steps.Op(s))
		}
		l.crop(s.X, s.Y, s.W, s.H)
		l.resized(s.Width, s.Height, s.Filter, s.Antialias)
	case steps.ResizeTo:
		if l.width > bitmap.MaxSourceSide || l.height > bitmap.MaxSourceSide {
			return lacking(steps.Op(s))
		}
		l.resized(s.Width, s.Height, s.Filter, s.Antialias)
	case steps.HFlip:
		l.turned(raster.View.Mirror, l.width)
	case steps.VFlip:
		l.turned(raster.View.Flip, l.height)
	case steps.Rotate:
		return l.rotate(s)
	case steps.Affine:
		m := steps.AffineMatrix(s, l.width, l.height)
		return l.transform(steps.Op(s), &m, l.width, l.height, s.Filter, s.Fill)
	case steps.Erase:
		l.erase(s)
	case steps.Sharpness:
		if l.width < 3 || l.height < 3 {
			return nil
		}
		src := l.read()
		l.begin(l.width, l.height, l.channels)
		l.emit(raster.Op{Kind: raster.Sharpen, Src: [3]raster.View{src}, Dst: l.view, Real: [6]float64{float64(float32(s.Factor))}})
	case steps.GaussianBlur:
		l.blur(s)
	case steps.GaussianNoise:
		l.noise(s)
	default:
		return lacking(steps.Op(step))
	}
	return nil
}

// turned mirrors the image: where it is written, if one operation alone writes it, or else
// where it will be read.
func (l *lowering) turned(how func(raster.View, int) raster.View, size int) {
	if l.wrote >= 0 {
		o := &l.p.Ops[l.wrote]
		o.Dst = how(o.Dst, size)
		return
	}
	l.view, l.whole = how(l.read(), size), false
}

// cropBox is CropBox.Apply.
func (l *lowering) cropBox(s steps.CropBox) {
	left, right := max(s.X, 0), min(s.X+s.W, l.width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, l.height)
	if right-left == s.W && bottom-top == s.H {
		l.crop(left, top, s.W, s.H)
		return
	}
	empty := left >= right || top >= bottom
	var src raster.View
	if !empty {
		l.crop(left, top, right-left, bottom-top)
		src = l.read()
	}
	l.begin(s.W, s.H, l.channels)
	l.wrote = -1
	l.paint(l.view, s.W, s.H, raster.Fill, recolor.Shade(&s.Fill, l.channels), 0)
	l.stage++
	if !empty {
		dst := l.view.Move(left-s.X, top-s.Y)
		l.append(raster.Op{Kind: raster.Pick, Src: [3]raster.View{src}, Dst: dst, Width: int32(right - left), Height: int32(bottom - top)}, 0)
		l.stage++
	}
}

// rotate is Rotate.Apply.
func (l *lowering) rotate(s steps.Rotate) error {
	turns := s.Expand || l.width == l.height
	switch angle := steps.PositiveAngle(s); {
	case angle == 0:
		return nil
	case angle == 180:
		l.turned(raster.View.Mirror, l.width)
		l.turned(raster.View.Flip, l.height)
		return nil
	case angle == 90 && turns:
		l.quarter()
		l.turned(raster.View.Flip, l.height)
		return nil
	case angle == 270 && turns:
		l.quarter()
		l.turned(raster.View.Mirror, l.width)
		return nil
	}
	m, w, h := steps.RotateMatrix(s, l.width, l.height)
	return l.transform(steps.Op(s), &m, w, h, s.Filter, s.Fill)
}

// quarter swaps x and y.
func (l *lowering) quarter() {
	l.view = l.read().Transpose()
	l.width, l.height = l.height, l.width
	l.wrote, l.whole = -1, false
}

// transform is [warp.Apply], to w by h pixels.
func (l *lowering) transform(op string, m *warp.Matrix, w, h int, f resample.Filter, color [3]uint8) error {
	width, height := l.width, l.height
	o := raster.Op{Kind: raster.Turn, Real: *m}
	c := recolor.Shade(&color, l.channels)
	switch {
	case f == resample.Bilinear:
		o.Arg[0] = raster.Bilinear
	case f == resample.Bicubic:
		o.Arg[0] = raster.Bicubic
	case m[1] == 0 && m[3] == 0:
		src := l.read()
		l.begin(w, h, l.channels)
		l.wrote = -1
		l.paint(l.view, w, h, raster.Fill, c, 0)
		l.stage++
		o := raster.Op{Kind: raster.Pick, Src: [3]raster.View{src}, Dst: l.view}
		o.Table[0] = l.p.Table(positionsTable{m[2] + float64(m[0]*0.5), m[0], w, width})
		o.Table[1] = l.p.Table(positionsTable{m[5] + float64(m[4]*0.5), m[4], h, height})
		l.emit(o)
		return nil
	case m.Fixed(w, h):
		o.Arg[0] = raster.Fixed
		for i, v := range m.FixedSteps() {
			o.Arg[7+i] = int64(v)
		}
	default:
		return lacking(op) // whose places are summed up along each row
	}
	src := l.read()
	l.begin(w, h, l.channels)
	o.Src[0], o.Dst = src, l.view
	o.Arg[1], o.Arg[2] = int64(width), int64(height)
	for i, v := range c {
		o.Arg[4+i] = int64(v)
	}
	l.emit(o)
	return nil
}

// erase is Erase.Apply, in place.
func (l *lowering) erase(s steps.Erase) {
	left, right := max(s.X, 0), min(s.X+s.W, l.width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, l.height)
	if left >= right || top >= bottom {
		return
	}
	box := l.read().Move(left, top)
	l.wrote = -1
	if !s.Noise {
		l.paint(box, right-left, bottom-top, raster.Fill, recolor.Shade(&s.Value, l.channels), 0)
	} else {
		o := raster.Op{Kind: raster.Paint, Dst: box, Width: int32(right - left), Height: int32(bottom - top)}
		o.Arg[0], o.Arg[1] = raster.Fuzz, int64(s.Seed)
		l.append(o, 0)
	}
	l.stage++
}

// blur is GaussianBlur.Apply.
func (l *lowering) blur(s steps.GaussianBlur) {
	src := l.read()
	sums := l.work(l.width, l.height, l.channels, 4)
	l.begin(l.width, l.height, l.channels)
	n := int32(l.width * l.channels)
	for i, o := range []raster.Op{
		{Kind: raster.Blur, Src: [3]raster.View{src}, Dst: sums},
		{Kind: raster.Blur, Src: [3]raster.View{sums}, Dst: l.view},
	} {
		o.Table[0] = l.p.Table(bellTable{s.Kernel[i], s.Sigma[i]})
		o.Arg = [13]int64{int64(s.Kernel[i] / 2), int64(i), int64(l.width), int64(l.height)}
		o.Width, o.Height = n, int32(l.height)
		l.append(o, int32(i))
	}
	l.stage += 2
	l.wrote = len(l.p.Ops) - 1
}

// noise is GaussianNoise.Apply.
func (l *lowering) noise(s steps.GaussianNoise) {
	src := l.read()
	l.begin(l.width, l.height, l.channels)
	mean, sigma := steps.FixedNoise(s)
	o := raster.Op{Kind: raster.Noise, Src: [3]raster.View{src}, Dst: l.view, Width: int32(l.width * l.channels), Height: int32(l.height)}
	o.Table[0] = l.p.Table(quantilesTable{})
	o.Arg = [13]int64{mean, sigma, int64(s.Seed)}
	l.append(o, 0)
	l.stage++
}
