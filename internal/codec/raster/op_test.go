package raster

import (
	"testing"
	"unsafe"
)

// TestLayout holds Op to the layout that gpu/kernels/raster.h has.
func TestLayout(t *testing.T) {
	var o Op
	var v View
	for name, place := range map[string][2]uintptr{
		"View": {unsafe.Sizeof(v), 16}, "View.Stride": {unsafe.Offsetof(v.Stride), 8}, "View.Step": {unsafe.Offsetof(v.Step), 12},
		"Op": {unsafe.Sizeof(o), 256}, "Op.Channels": {unsafe.Offsetof(o.Channels), 4}, "Op.Width": {unsafe.Offsetof(o.Width), 8},
		"Op.Src": {unsafe.Offsetof(o.Src), 16}, "Op.Dst": {unsafe.Offsetof(o.Dst), 64}, "Op.Table": {unsafe.Offsetof(o.Table), 80},
		"Op.Arg": {unsafe.Offsetof(o.Arg), 96}, "Op.Real": {unsafe.Offsetof(o.Real), 200}, "Op.Begin": {unsafe.Offsetof(o.Begin), 248},
	} {
		if place[0] != place[1] {
			t.Errorf("%s: %d; want %d", name, place[0], place[1])
		}
	}
}

func TestViews(t *testing.T) {
	p := new(Program)
	p.Add(Buffer{Size: 9})
	at := p.Add(Buffer{Size: 3 * 40})
	v := View{At: at, Stride: 40, Step: 2}
	pixel := func(v View, x, y int) int64 {
		_, buffer, offset := v.Move(x, y).At.Split()
		if buffer != 1 {
			t.Fatalf("buffer %d", buffer)
		}
		return offset
	}
	for y := range 3 {
		for x := range 20 {
			want := int64(40*y + 2*x)
			if got := pixel(v, x, y); got != want {
				t.Errorf("pixel %d, %d at %d; want %d", x, y, got, want)
			}
			if got := pixel(v.Mirror(20), 19-x, y); got != want {
				t.Errorf("mirrored: pixel %d, %d at %d; want %d", x, y, got, want)
			}
			if got := pixel(v.Flip(3), x, 2-y); got != want {
				t.Errorf("flipped: pixel %d, %d at %d; want %d", x, y, got, want)
			}
			if got := pixel(v.Transpose().Flip(20), y, 19-x); got != want {
				t.Errorf("turned: pixel %d, %d at %d; want %d", x, y, got, want)
			}
		}
	}
}

// TestTables: those that are equal are one.
func TestTables(t *testing.T) {
	p := new(Program)
	a, b, c := p.Table(table{1}), p.Table(table{2}), p.Table(table{1})
	if a != c || a == b || a == 0 || len(p.Blobs) != 2 {
		t.Errorf("%x %x %x, %d blobs", a, b, c, len(p.Blobs))
	}
	if blob, i, offset := (b + 5).Split(); !blob || i != 1 || offset != 5 {
		t.Errorf("%v %d %d", blob, i, offset)
	}
}

type table struct{ n int }

func (t table) AppendTo(dst []byte) []byte { return append(dst, byte(t.n)) }
