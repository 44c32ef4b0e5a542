package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// openJPEG begins with the image that [imagefile.Codec.Decode] returns for planes.
func (l *lowering) openJPEG(t *render.Task, planes *bitmap.Planes) {
	gray := planes.Cb.Width == 0
	if gray || t.JPEGChannels == 1 {
		l.open(&planes.Y)
	} else {
		l.convertBox(planes, 0, 0, planes.Width, planes.Height)
	}
	if gray && t.JPEGChannels == 3 {
		src := l.read()
		l.begin(planes.Width, planes.Height, 3)
		l.wrote = -1
		for i := range 3 {
			channel := raster.View{At: l.view.At + raster.Address(i), Stride: l.view.Stride, Step: l.view.Step}
			l.append(raster.Op{
				Kind: raster.Pick, Src: [3]raster.View{src}, Dst: channel,
				Width: int32(planes.Width), Height: int32(planes.Height), Channels: 1,
			}, 0)
		}
		l.stage++
	}
	l.orient(t.JPEGInfo.Orientation)
}

// orient makes the image upright, given its EXIF orientation, as [bitmap.Orient] does.
func (l *lowering) orient(orientation int) {
	if orientation >= 5 {
		l.quarter()
	}
	switch orientation {
	case 2, 6:
		l.turned(raster.View.Mirror, l.width)
	case 4, 8:
		l.turned(raster.View.Flip, l.height)
	case 3, 7:
		l.turned(raster.View.Mirror, l.width)
		l.turned(raster.View.Flip, l.height)
	}
}
