package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// NotLoweredError means that only the CPU supports a task.
type NotLoweredError struct {
	// What is a step's name, or a word for an unusual property of the image.
	What string
}

// Error returns one line.
func (e *NotLoweredError) Error() string { return e.What + ": only the CPU does it" }

// Task writes a task as a program of elementary operations. For tasks that have no such program it
// returns a [NotLoweredError], and also for invalid ones: the CPU reports their faults. The program
// reads and writes the task's images. The size and the memory of the result are set in the task.
func Task(p *raster.Program, task *render.Task) error {
	p.Reset()
	if err := render.Check(task); err != nil {
		return lacking("a task that is wrong")
	}
	l := lowering{writer: writer{p: p}}
	if err := l.lower(task); err != nil {
		return err
	}
	if !p.Fits() {
		return lacking("a draw of so many steps")
	}
	p.SortStages()
	for i := range p.Ops {
		if o := &p.Ops[i]; int64(o.Width)*int64(o.Height) > maxThreads {
			l.huge = true
		}
	}
	if l.huge {
		return lacking("an image of that size")
	}
	return nil
}

// maxThreads bounds what one operation does.
const maxThreads = 1 << 30

func lacking(what string) error { return &NotLoweredError{What: what} }

// lowering writes a program step by step, and holds the image that the program has made so far.
type lowering struct {
	writer
	// The image: a view of memory, or, before anything was done, a part of one that is
	// still to be sent.
	view          raster.View
	width, height int
	channels      int
	source        *bitmap.Image
	x, y          int
	// wrote is the operation that alone made all of the image, to be changed
	// where a flip follows; or -1.
	wrote int
	// whole reports whether the image fills a buffer in the layout of an Image.
	whole bool
}

// lower writes the program of a task that was checked.
func (l *lowering) lower(t *render.Task) error {
	planes := t.Planes
	if render.Undecoded(t) {
		if !t.JPEGInfo.Usual {
			return lacking("an unusual JPEG")
		}
		planes = l.decode(render.Coded(t))
	}
	if t.Form == render.YCbCr {
		return l.toPlanes(t, planes)
	}
	if err := l.pixels(t, planes); err != nil {
		return err
	}
	t.ResultWidth, t.ResultHeight, t.Channels = l.width, l.height, l.channels
	n := l.width * l.height * l.channels
	if t.Form == render.Pixels {
		t.Pixels.Reset(l.width, l.height, l.channels)
		if !l.whole {
			src := l.read()
			l.begin(l.width, l.height, l.channels)
			l.emit(raster.Op{Kind: raster.Pick, Src: [3]raster.View{src}, Dst: l.view})
		}
		l.result(l.view, t.Pixels.Pix[:n], l.width*l.channels, l.height)
		return nil
	}
	t.Floats = bitmap.Room(t.Floats, n)
	src := l.read()
	at := l.p.Add(raster.Buffer{Region: raster.Result, Size: 4 * int64(n), Floats: t.Floats})
	o := raster.Op{Kind: raster.Normalize, Src: [3]raster.View{src}, Dst: raster.View{At: at}}
	o.Table[0] = l.p.Table(normalizeTable{t.Normalize})
	if t.Form == render.FloatPlanes {
		o.Arg[0] = 1
	}
	l.emit(o)
	return nil
}

// pixels writes the operations that compute the image's pixels. planes are the planes of a task
// that begins with planes, or the decoded ones.
func (l *lowering) pixels(t *render.Task, planes *bitmap.Planes) error {
	steps := t.Draw.Steps
	switch {
	case render.Undecoded(t) && !t.JPEGPlanes:
		l.openJPEG(t, planes)
		if err := l.steps(steps); err != nil {
			return err
		}
	case planes != nil && len(steps) > 0:
		if !t.Draw.TakesPlanes() {
			return lacking("planes for that draw")
		}
		if err := l.planesStep(steps[0], planes); err != nil {
			return err
		}
		if err := l.steps(steps[1:]); err != nil {
			return err
		}
	case planes != nil && t.Resize != nil:
		return l.renderRGB(t.Resize, planes)
	case planes != nil:
		l.convertBox(planes, 0, 0, planes.Y.Width, planes.Y.Height)
		return nil
	default:
		l.open(t.Image)
		if err := l.steps(steps); err != nil {
			return err
		}
	}
	if t.Resize == nil {
		return nil
	}
	w, h := l.width, l.height
	if len(steps) == 0 && t.Width > 0 && t.Height > 0 {
		w, h = t.Width, t.Height
	}
	return l.render(t.Resize, t.Resize.Geometry(w, h))
}

// open begins with an image.
func (l *lowering) open(im *bitmap.Image) {
	l.source, l.x, l.y = im, 0, 0
	l.width, l.height, l.channels = im.Width, im.Height, im.Channels
	l.wrote, l.whole = -1, false
}

// crop keeps a part of the image.
func (l *lowering) crop(x, y, w, h int) {
	if x == 0 && y == 0 && w == l.width && h == l.height {
		return
	}
	l.width, l.height = w, h
	l.wrote, l.whole = -1, false
	if l.source != nil {
		l.x, l.y = l.x+x, l.y+y
		return
	}
	l.view = l.view.Move(x, y)
}

// read is the image as an operation reads it.
func (l *lowering) read() raster.View {
	if l.source != nil {
		l.view = l.send(l.source, l.x, l.y, l.width, l.height)
		l.source, l.wrote, l.whole = nil, -1, false
	}
	return l.view
}

// begin makes the image a new one of the given size, which the next operation fills completely.
func (l *lowering) begin(w, h, channels int) {
	l.view = l.work(w, h, channels, 1)
	l.width, l.height, l.channels = w, h, channels
	l.source, l.whole = nil, true
	l.wrote = len(l.p.Ops)
}

// append appends an operation to a later stage, after stages after the current one. It works on the
// channels of the image unless it has its own.
func (l *lowering) append(o raster.Op, after int32) {
	if o.Channels == 0 {
		o.Channels = int32(l.channels)
	}
	l.writer.append(o, after)
}

// emit appends an operation on the whole image, and begins a new stage.
func (l *lowering) emit(o raster.Op) {
	o.Width, o.Height = int32(l.width), int32(l.height)
	l.append(o, 0)
	l.stage++
}
