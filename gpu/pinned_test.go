package gpu

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/internal/codec/lower"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// TestDirect lays out results whose place is in pinned memory: they are copied there, in one piece
// if they are next to each other.
func TestDirect(t *testing.T) {
	b, err := Open(Options{Required: true, Streams: 1})
	if err != nil {
		gputest.Missing(t, err)
	}
	defer b.Close()
	const images = 5
	for _, c := range []struct{ width, pinned, direct int }{
		{16, images, 1}, // rows of a multiple of 16 bytes
		{15, images, images},
		{16, 3, 1},
		{16, 0, 0},
	} {
		row := c.width * 7 * 3
		memory, free := b.AllocHost(max(c.pinned, 1) * row)
		var programs []*raster.Program
		for i := range images {
			task := &augment.Task{Image: new(augment.Image), Resize: &augment.ResizeSpec{Width: c.width, Height: 7, NoAntialias: true}}
			task.Image.Reset(40, 30, 3)
			if i < c.pinned {
				task.Pixels.Pix = memory[i*row : (i+1)*row : (i+1)*row]
			}
			p := new(raster.Program)
			if err := lower.Task(p, task); err != nil {
				t.Fatal(err)
			}
			programs = append(programs, p)
		}
		var laid batch
		laid.layOut(programs, &b.pinned)
		bytes := 0
		for _, d := range laid.direct {
			bytes += d.size
		}
		if len(laid.direct) != c.direct || bytes != c.pinned*row || (laid.down > 0) != (c.pinned < images) {
			t.Errorf("%+v: %d copies of %d bytes, and %d bytes otherwise", c, len(laid.direct), bytes, laid.down)
		}
		if s := b.Stats(); s.Pinned != int64(len(memory)) {
			t.Errorf("%d bytes are pinned, %d were asked for", s.Pinned, len(memory))
		}
		free()
	}
	if memory, _ := b.AllocHost(0); memory != nil {
		t.Error("memory of no bytes")
	}
}
