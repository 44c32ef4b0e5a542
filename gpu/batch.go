package gpu

import (
	"slices"
	"unsafe"

	"github.com/tfrec/tfrec/internal/codec/raster"
)

// batch is the programs of some images, laid out in the memory of a device so
// that one copy brings all they need there, few launches do it, and one copy
// fetches what they made:
//
//	operations │ tables │ inputs │ decoded │ work │ direct │ results
//	└──────── up ────────────────┘                           └ down ┘
//
// Planes of JPEGs are decoded to their places before the operations are done. Direct are results
// whose place is in pinned memory of the backend: they are copied there, without a stop.
type batch struct {
	programs []*raster.Program
	direct   []transfer

	up, down int64 // bytes to be copied
	size     int64 // bytes in all, the last of which are the results
	decoded  struct{ at, size int64 }

	ops      []raster.Op // in the order of the launches
	owners   []int       // which program each is of
	launches []launch
	tables   []byte
	tablesAt int64
	at       []int64 // of each buffer of each program
	blobs    []int64 // of each blob of each program, from tablesAt on
	known    map[raster.Blob]int64
	cursors  []cursor
}

// launch is operations of one kind that are done together.
type launch struct {
	kind         raster.Kind
	first, count int // in ops
	blocks       int64
}

const (
	opBytes   = int64(unsafe.Sizeof(raster.Op{}))
	alignment = 16
	// threads is the number of threads in a block: THREADS in kernels/raster.h.
	threads = 256
)

func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// layOut assigns addresses to all buffers. The programs must not change before their results were
// read.
func (b *batch) layOut(programs []*raster.Program, pinned *pinned) {
	b.programs = programs
	for _, p := range programs {
		pinned.mark(p.Buffers)
	}
	b.schedule()
	if b.known == nil {
		b.known = map[raster.Blob]int64{}
	}
	clear(b.known)
	b.tables, b.at, b.blobs = b.tables[:0], b.at[:0], b.blobs[:0]
	b.tablesAt = int64(len(b.ops)) * opBytes
	for _, p := range programs {
		for _, blob := range p.Blobs {
			at, ok := b.known[blob]
			if !ok {
				at = align(int64(len(b.tables)))
				b.tables = append(b.tables, make([]byte, at-int64(len(b.tables)))...)
				b.tables = blob.AppendTo(b.tables)
				b.known[blob] = at
			}
			b.blobs = append(b.blobs, at)
		}
		b.at = append(b.at, make([]int64, len(p.Buffers))...)
	}
	end := align(b.tablesAt + int64(len(b.tables)))
	end = b.assign(raster.Input, end)
	b.up = end
	b.decoded.at = end
	end = b.assign(raster.Decoded, end)
	b.decoded.size = end - b.decoded.at
	end = b.assign(raster.Work, end)
	end = b.assign(raster.Direct, end)
	results := end
	b.size = b.assign(raster.Result, end)
	b.down = b.size - results
	b.direct = b.direct[:0]
	b.each(raster.Direct, func(buffer *raster.Buffer, at int64) {
		to, offset := pinned.find(buffer)
		b.direct = appendTransfer(b.direct, transfer{to, offset, at, int(buffer.Size)})
	})
}

// assign assigns addresses from at on to all buffers of a region, and returns where they end.
func (b *batch) assign(r raster.Region, at int64) int64 {
	i := 0
	for _, p := range b.programs {
		for j := range p.Buffers {
			if p.Buffers[j].Region == r {
				b.at[i] = at
				at = align(at + p.Buffers[j].Size)
			}
			i++
		}
	}
	return at
}

// cursor is the progress of scheduling a program.
type cursor struct {
	next int // the first operation of the stage that it is in
	done []bool
}

// stage returns the end of the stage that p is in.
func (c *cursor) stage(p *raster.Program) int {
	end := c.next
	for end < len(p.Ops) && p.Stages[end] == p.Stages[c.next] {
		end++
	}
	return end
}

// schedule orders the operations: of all operations that can be done next, it launches the most
// frequent kind together.
func (b *batch) schedule() {
	b.ops, b.owners, b.launches = b.ops[:0], b.owners[:0], b.launches[:0]
	b.cursors = slices.Grow(b.cursors[:0], len(b.programs))[:len(b.programs)]
	for i, p := range b.programs {
		done := slices.Grow(b.cursors[i].done[:0], len(p.Ops))[:len(p.Ops)]
		clear(done)
		b.cursors[i] = cursor{done: done}
	}
	for {
		var ready [raster.Kinds]int
		for i, p := range b.programs {
			c := &b.cursors[i]
			for j := c.next; j < c.stage(p); j++ {
				if !c.done[j] {
					ready[p.Ops[j].Kind]++
				}
			}
		}
		kind := raster.Kind(0)
		for k, n := range ready {
			if n > ready[kind] {
				kind = raster.Kind(k)
			}
		}
		if ready[kind] == 0 {
			return
		}
		b.launch(kind)
	}
}

// launch appends all operations of a kind that can be done next.
func (b *batch) launch(kind raster.Kind) {
	l := launch{kind: kind, first: len(b.ops)}
	for i, p := range b.programs {
		c := &b.cursors[i]
		end := c.stage(p)
		left := false
		for j := c.next; j < end; j++ {
			if c.done[j] || p.Ops[j].Kind != kind {
				left = left || !c.done[j]
				continue
			}
			c.done[j] = true
			o := p.Ops[j]
			o.Begin = l.blocks
			l.blocks += (int64(o.Width)*int64(o.Height) + threads - 1) / threads
			b.ops, b.owners = append(b.ops, o), append(b.owners, i)
		}
		if !left {
			c.next = end
		}
	}
	l.count = len(b.ops) - l.first
	b.launches = append(b.launches, l)
}

// write fills staging, which has enough bytes, with the data to copy to the GPU, for a batch that
// begins at the address base.
func (b *batch) write(staging []byte, base uint64) {
	buffers, blobs := make([]int, len(b.programs)), make([]int, len(b.programs))
	for i, p := range b.programs[:max(0, len(b.programs)-1)] {
		buffers[i+1] = buffers[i] + len(p.Buffers)
		blobs[i+1] = blobs[i] + len(p.Blobs)
	}
	resolve := func(p *raster.Address, program int) {
		if *p == 0 {
			return
		}
		blob, i, offset := p.Split()
		at := offset
		if blob {
			at += b.tablesAt + b.blobs[blobs[program]+i]
		} else {
			at += b.at[buffers[program]+i]
		}
		*p = raster.Address(base + uint64(at))
	}
	for i, o := range b.ops {
		program := b.owners[i]
		for j := range o.Src {
			resolve(&o.Src[j].At, program)
		}
		resolve(&o.Dst.At, program)
		for j := range o.Table {
			resolve(&o.Table[j], program)
		}
		copy(staging[int64(i)*opBytes:], unsafe.Slice((*byte)(unsafe.Pointer(&o)), opBytes))
	}
	copy(staging[b.tablesAt:], b.tables)
	b.each(raster.Input, func(buffer *raster.Buffer, at int64) {
		to := staging[at:][:buffer.Size]
		if buffer.Pix == nil {
			clear(to)
			return
		}
		for y := range buffer.Rows {
			copy(to[y*buffer.Row:][:buffer.Row], buffer.Pix[y*buffer.Stride:])
		}
	})
}

// read takes the results out of staging, which has the bytes that came down.
func (b *batch) read(staging []byte) {
	first := b.size - b.down
	b.each(raster.Result, func(buffer *raster.Buffer, at int64) {
		from := staging[at-first:][:buffer.Size]
		if buffer.Floats != nil {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&buffer.Floats[0])), 4*len(buffer.Floats)), from)
			return
		}
		for y := range buffer.Rows {
			copy(buffer.Pix[y*buffer.Stride:][:buffer.Row], from[y*buffer.Row:])
		}
	})
}

// each calls f for all buffers of a region, with their addresses.
func (b *batch) each(r raster.Region, show func(buffer *raster.Buffer, at int64)) {
	i := 0
	for _, p := range b.programs {
		for j := range p.Buffers {
			if p.Buffers[j].Region == r {
				show(&p.Buffers[j], b.at[i])
			}
			i++
		}
	}
}
