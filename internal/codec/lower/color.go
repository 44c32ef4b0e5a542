package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// recolor writes colour steps. Tables that follow from parameters alone are made
// as the CPU makes them; those that follow from the image are made where it is.
func (l *lowering) recolor(colors []steps.Step) error {
	r := recolor.Recoloring{From: &bitmap.Image{Channels: l.channels}}
	var made raster.Address // a table computed from the image, after the tables of r
	each := false           // whether it has one for each channel
	flush := func() {
		l.recolorParts(r.Parts, made, each)
		r.Parts, made = r.Parts[:0], 0
	}
	for _, step := range colors {
		if steps.Validate(step) != nil {
			return lacking(steps.Op(step))
		}
		mode, of := -1, raster.Count
		o := raster.Op{Kind: raster.Levels}
		switch s := step.(type) {
		case steps.Contrast:
			mode, of = raster.Contrast, raster.Sum
			o.Real[0] = float64(float32(s.Factor))
			o.Arg[1] = int64(l.width) * int64(l.height)
		case steps.Equalize:
			mode = raster.Equalize
		case steps.AutoContrast:
			mode = raster.Stretch
		}
		if mode < 0 {
			if made != 0 && (looksUp(step) || len(r.Parts) > 0 && r.Parts[0].Then != recolor.None) {
				flush()
			}
			steps.AddColor(&r, step)
			continue
		}
		if made != 0 || len(r.Parts) > 1 || len(r.Parts) == 1 && r.Parts[0].Then != recolor.None {
			flush()
		}
		o.Arg[0] = int64(mode)
		made, each = l.levels(o, of, r.Parts), of == raster.Count
	}
	flush()
	return nil
}

// looksUp reports whether a colour step with fixed parameters is a table.
func looksUp(s steps.Step) bool {
	switch s.(type) {
	case steps.Saturation, steps.Hue, steps.Grayscale:
		return false
	}
	return true
}

// levels writes what makes a table of the image, its samples looked up first as parts say: at
// most one, without operation.
func (l *lowering) levels(o raster.Op, of raster.Kind, parts []recolor.Part) raster.Address {
	n := 8
	tables := 1
	if of == raster.Count {
		n, tables = 4*3*256, l.channels
	}
	src := l.read()
	sums := raster.View{At: l.p.Add(raster.Buffer{Region: raster.Input, Size: int64(n)})}
	table := l.p.Add(raster.Buffer{Size: 3 * 256})
	look := raster.Op{Kind: of, Src: [3]raster.View{src}, Dst: sums}
	if len(parts) > 0 {
		var each bool
		look.Table[0], each = l.lookUp(&parts[0], l.channels)
		look.Arg[1] = flag(each)
	}
	look.Arg[0] = int64(l.width)
	look.Width, look.Height = int32((l.width+raster.Run-1)/raster.Run), int32(l.height)
	l.append(look, 0)
	o.Src[0], o.Dst = sums, raster.View{At: table}
	o.Width, o.Height = int32(tables), 1
	l.append(o, 1)
	l.stage += 2
	return table
}

// recolorParts writes the operations that recolour each pixel. The table at made, if any, follows
// the table of the only part, or is used alone.
func (l *lowering) recolorParts(parts []recolor.Part, made raster.Address, each bool) {
	if len(parts) == 0 && made == 0 {
		return
	}
	for i := 0; i == 0 || i < len(parts); i++ {
		src := l.read()
		l.begin(l.width, l.height, l.channels)
		o := raster.Op{Kind: raster.Recolor, Src: [3]raster.View{src}, Dst: l.view}
		if i < len(parts) {
			p := &parts[i]
			var all bool
			o.Table[0], all = l.lookUp(p, l.channels)
			o.Arg[1] = flag(all)
			switch p.Then {
			case recolor.Mix:
				o.Arg[0], o.Real[0] = raster.Mix, float64(p.Mix.Factor())
			case recolor.Gray:
				o.Arg[0] = raster.Gray
			case recolor.Turn:
				o.Arg[0], o.Arg[3] = raster.Wheel, int64(p.Turn)
			}
		}
		o.Table[1] = made
		o.Arg[2] = flag(each)
		l.emit(o)
	}
}

func flag(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
