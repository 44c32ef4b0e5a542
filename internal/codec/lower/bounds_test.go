package lower_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/lower"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestProgramsStayInTheirBuffers holds programs to memory that is theirs: a GPU doesn't.
func TestProgramsStayInTheirBuffers(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	backendtest.Run(t, bounds{t}, 900)
	backendtest.RunCoded(t, bounds{t}, 600)
}

// bounds is the CPU as a backend, that looks at each task's program.
type bounds struct{ t *testing.T }

func (b bounds) Batch() int { return 1 }

func (b bounds) Render(tasks []*augment.Task) error {
	for _, task := range tasks {
		p := new(raster.Program)
		if lower.Task(p, task) != nil {
			continue
		}
		for i := range p.Ops {
			c := checkedOp{p, &p.Ops[i]}
			if err := c.check(); err != nil {
				b.t.Errorf("operation %d, %v: %v\n%s", i, p.Ops[i].Kind, err, backendtest.Describe(task))
			}
		}
		if err := checkStages(p); err != nil {
			b.t.Errorf("%v\n%s", err, backendtest.Describe(task))
		}
	}
	return augment.CPU{}.Render(tasks)
}

// checkStages refuses stages that are not in order, and operations of one that reads what another
// writes.
func checkStages(p *raster.Program) error {
	buffer := func(at raster.Address) int {
		if blob, i, _ := at.Split(); at != 0 && !blob {
			return i
		}
		return -1
	}
	for i := range p.Ops {
		if i > 0 && p.Stages[i] < p.Stages[i-1] {
			return fmt.Errorf("stages %v", p.Stages)
		}
		reads := map[int]bool{}
		for _, src := range p.Ops[i].Src {
			reads[buffer(src.At)] = true
		}
		for _, table := range p.Ops[i].Table {
			reads[buffer(table)] = true
		}
		for j := range p.Ops {
			if to := buffer(p.Ops[j].Dst.At); i != j && p.Stages[i] == p.Stages[j] && reads[to] {
				return fmt.Errorf("operation %d, %v, reads buffer %d, which operation %d, %v, of the same stage writes", i, p.Ops[i].Kind, to, j, p.Ops[j].Kind)
			}
		}
	}
	return nil
}

type checkedOp struct {
	p *raster.Program
	*raster.Op
}

// bytes refuses n bytes from a place on that aren't all in its buffer.
func (o checkedOp) bytes(at raster.Address, offset, n int64) error {
	if at == 0 {
		return fmt.Errorf("no place")
	}
	blob, i, first := at.Split()
	first += offset
	size := int64(-1)
	switch {
	case blob && i < len(o.p.Blobs):
		size = int64(len(o.p.Blobs[i].AppendTo(nil)))
	case !blob && i < len(o.p.Buffers):
		size = o.p.Buffers[i].Size
	}
	if first < 0 || first+n > size {
		return fmt.Errorf("%d bytes from %d on of %d", n, first, size)
	}
	return nil
}

// area refuses an image whose corners aren't in the buffer.
func (o checkedOp) area(v raster.View, x, y, w, h, pixel int64) error {
	for _, corner := range [4][2]int64{{x, y}, {x + w - 1, y}, {x, y + h - 1}, {x + w - 1, y + h - 1}} {
		if err := o.bytes(v.At, corner[0]*int64(v.Step)+corner[1]*int64(v.Stride), pixel); err != nil {
			return fmt.Errorf("pixel %d: %w", corner, err)
		}
	}
	return nil
}

// ints is a table.
func (o checkedOp) ints(at raster.Address) (values []int64) {
	_, i, _ := at.Split()
	for data := o.p.Blobs[i].AppendTo(nil); len(data) > 0; data = data[4:] {
		values = append(values, int64(int32(binary.LittleEndian.Uint32(data))))
	}
	return values
}

// check refuses an operation that reads or writes what isn't in its buffers.
func (o checkedOp) check() error {
	channels, w, h := int64(o.Channels), int64(o.Width), int64(o.Height)
	if w < 1 || h < 1 || channels != 1 && channels != 3 {
		return fmt.Errorf("%d x %d x %d", w, h, channels)
	}
	switch o.Kind {
	case raster.Weigh, raster.Blur, raster.Noise: // which count samples
		if w%channels != 0 {
			return fmt.Errorf("%d samples of %d channels", w, channels)
		}
		w /= channels
	case raster.Sum, raster.Count:
		return first(o.area(o.Src[0], 0, 0, o.Arg[0], h, channels), o.bytes(o.Dst.At, 0, map[raster.Kind]int64{raster.Sum: 8, raster.Count: 3072}[o.Kind]))
	case raster.Levels:
		n := int64(8)
		if o.Arg[0] != raster.Contrast {
			n = 3072
		}
		return first(o.bytes(o.Src[0].At, 0, n), o.bytes(o.Dst.At, 0, 256*w))
	case raster.Normalize:
		return first(o.area(o.Src[0], 0, 0, w, h, channels), o.bytes(o.Dst.At, 0, 4*w*h*channels), o.bytes(o.Table[0], 0, 3072))
	}
	return first(o.area(o.Dst, 0, 0, w, h, channels*o.wide(o.Kind == raster.Weigh && o.Arg[3] == raster.ToWide, o.Kind == raster.Blur && o.Arg[1] == 0)), o.source(w, h, channels))
}

// wide is how many bytes a sample has.
func (o checkedOp) wide(two, four bool) int64 {
	switch {
	case two:
		return 2
	case four:
		return 4
	}
	return 1
}

// source refuses an operation that reads what isn't in its sources.
func (o checkedOp) source(w, h, channels int64) error {
	src := o.Src[0]
	switch o.Kind {
	case raster.Weigh:
		table, n := o.ints(o.Table[0]), o.Arg[0]
		pixel := channels * o.wide(o.Arg[3] == raster.FromWide, false)
		if along := [2]int64{w, h}[o.Arg[1]]; along > n {
			return fmt.Errorf("%d pixels with %d weights", along, n)
		}
		for i := range n {
			at, taps := table[i]-o.Arg[2], table[n+i]
			if taps < 1 || (taps+1)*n+i >= int64(len(table)) {
				return fmt.Errorf("%d weights in a table of %d for %d", taps, len(table), n)
			}
			err := o.area(src, at, 0, taps, h, pixel)
			if o.Arg[1] == 1 {
				err = o.area(src, 0, at, w, taps, pixel)
			}
			if err != nil {
				return fmt.Errorf("weights %d: %w", i, err)
			}
		}
	case raster.Pick:
		extent := [2][2]int64{{0, w - 1}, {0, h - 1}}
		for axis, table := range o.Table {
			if table == 0 {
				continue
			}
			values := o.ints(table)
			if int64(len(values)) < [2]int64{w, h}[axis] {
				return fmt.Errorf("table %d has %d places", axis, len(values))
			}
			extent[axis] = [2]int64{1 << 62, -1}
			for _, v := range values {
				if v >= 0 {
					extent[axis] = [2]int64{min(extent[axis][0], v), max(extent[axis][1], v)}
				}
			}
		}
		if x, y := extent[0], extent[1]; x[1] >= 0 && y[1] >= 0 {
			return o.area(src, x[0], y[0], x[1]-x[0]+1, y[1]-y[0]+1, channels)
		}
	case raster.Convert:
		fx, fy, x, y, cw, ch := o.Arg[0], o.Arg[1], o.Arg[3], o.Arg[4], o.Arg[5], o.Arg[6]
		left, top, right, bottom := x/fx, y/fy, (x+w-1)/fx, (y+h-1)/fy
		if o.Arg[2] == 1 { // the samples around, too
			left, top = max(x/fx-(1-x%fx)*(fx-1), 0), max(y/fy-(1-y%fy)*(fy-1), 0)
			right, bottom = min(right+(x+w-1)%fx*(fx-1), cw-1), min(bottom+(y+h-1)%fy*(fy-1), ch-1)
		}
		area := func(v raster.View) error {
			return o.area(v, left-o.Arg[7], top-o.Arg[8], right-left+1, bottom-top+1, 1)
		}
		return first(o.area(src, 0, 0, w, h, 1), area(o.Src[1]), area(o.Src[2]))
	case raster.Turn:
		return o.area(src, 0, 0, o.Arg[1], o.Arg[2], channels)
	case raster.Blur:
		return first(o.area(src, 0, 0, w, h, channels*o.wide(false, o.Arg[1] == 1)), o.bytes(o.Table[0], 0, 4*(o.Arg[0]+1)))
	case raster.Noise:
		return first(o.area(src, 0, 0, w, h, channels), o.bytes(o.Table[0], 0, 1<<16))
	case raster.Recolor:
		for i, table := range o.Table {
			if n := 256 * (1 + o.Arg[1+i]*(channels-1)); table != 0 && o.bytes(table, 0, n) != nil {
				return fmt.Errorf("table %d: %w", i, o.bytes(table, 0, n))
			}
		}
		return o.area(src, 0, 0, w, h, channels)
	case raster.Sharpen:
		return o.area(src, 0, 0, w, h, channels)
	}
	return nil
}

// first is the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
