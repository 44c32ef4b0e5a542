package images

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// waitingWorkers is the number of workers beyond the number of processors with a backend: while
// some wait for its calls, others work.
const waitingWorkers = 2

// imageTask is the remaining work for a decoded image or mask.
type imageTask struct {
	augment.Task
	unit, row int            // of the batch: a record, or a frame of clips; and the row of the image
	key       string         // its feature
	mask      []uint8        // its row, if it is a mask
	channels  int            // of the row
	memory    int64          // reserved for it
	stored    augment.Image  // the image in the record, if its pixels are stored
	decoded   augment.Image  // memory of the image,
	planes    augment.Planes // or of its planes
	pixels    augment.Image  // memory of a result that is not in the tensor yet
}

// imageTasks hands tasks to a backend. Each worker has one.
type imageTasks struct {
	backend augment.Backend
	decodes bool // the backend decodes JPEGs
	size    int  // tasks of a call

	queue   []*imageTask
	tasks   []*augment.Task // the tasks of queue
	idle    []*imageTask
	kept    int64 // bytes in the buffers of idle
	fail    func(unit int, err error) bool
	bad     []int // units that failed
	stopped bool  // fail returned false
}

func newImageTasks(s *ImageSpec) imageTasks {
	t := imageTasks{backend: s.Backend, decodes: s.backendDecodes()}
	if t.backend == nil {
		t.backend = augment.CPU{}
	}
	t.size = max(t.backend.Batch(), 1)
	return t
}

// backendDecodes reports whether the backend decodes JPEGs.
func (s *ImageSpec) backendDecodes() bool {
	b, ok := s.Backend.(interface{ Decoder() string })
	return ok && b.Decoder() != ""
}

// part returns the number of units that a worker gets at once: records, or frames of clips.
func (s *ImageSpec) part() int {
	if s.Backend == nil {
		return 1
	}
	return min(max(s.Backend.Batch()/s.images(), 1), s.Batch*max(s.Frames, 1))
}

// waiting returns the number of workers that wait for the backend.
func (s *ImageSpec) waiting() int {
	if s.Backend == nil {
		return 0
	}
	return waitingWorkers
}

// newBatch returns a batch with this many samples at most, in memory of the backend if it has some.
// How many frames of [columns.Longest] there are is not known before.
func (s *ImageSpec) newBatch(samples int) *ImageBatch {
	b := &ImageBatch{}
	host, ok := s.Backend.(augment.HostAllocator)
	if !ok || s.Frames == columns.Longest {
		return b
	}
	memory, free := host.AllocHost(samples * int(s.DType.size()))
	if memory == nil {
		return b
	}
	b.free = free
	p := unsafe.Pointer(unsafe.SliceData(memory))
	switch s.DType {
	case Uint8:
		b.Bytes = unsafe.Slice((*uint8)(p), samples)
	case Float32:
		b.Pixels = unsafe.Slice((*float32)(p), samples)
	default:
		b.Halves = unsafe.Slice((*uint16)(p), samples)
	}
	return b
}

// freeMemory frees the samples if they are in memory of a backend.
func (b *ImageBatch) freeMemory() {
	if b.free != nil {
		b.free()
		*b = ImageBatch{}
	}
}

// start begins with a part of a batch.
func (d *imageDecoder) start(b *ImageBatch, fail func(int, error) bool) {
	d.batch, d.fail, d.bad, d.stopped = b, fail, d.bad[:0], false
}

// fault records that a unit has no row, once.
func (d *imageDecoder) fault(unit int, err error) {
	if clips := d.batch.clips; clips != nil {
		u := clips.units[unit]
		if errors.Is(err, pipeline.ErrBackend) {
			u.frame = -1 // a bad frame must not hide it
		}
		clips.records[u.record].fail(u.frame, err)
		return
	}
	if slices.Contains(d.bad, unit) {
		return
	}
	d.bad = append(d.bad, unit)
	d.stopped = !d.fail(unit, err) || d.stopped
}

// located returns an error with the feature that has the image, and the frame.
func (b *ImageBatch) located(unit int, key string, err error) error {
	if clips := b.clips; clips != nil {
		return frameError(key, clips.units[unit].frame, err)
	}
	return fmt.Errorf("feature %q: %w", key, err)
}

// submit decodes an image for a row of the batch, and queues the remaining work.
func (d *imageDecoder) submit(unit, row int, key string, data []byte, record pipeline.Record) error {
	if string(d.format()) == rawpixels.Float32 {
		return d.floats(row, data)
	}
	t := d.task(unit, key)
	t.row = row
	return d.enqueue(t, d.image(t, data, record))
}

// task returns a task for an image or a mask.
func (d *imageDecoder) task(unit int, key string) *imageTask {
	t := &imageTask{}
	if n := len(d.idle); n > 0 {
		t, d.idle = d.idle[n-1], d.idle[:n-1]
		d.kept -= t.size()
	}
	t.unit, t.row, t.key, t.mask = unit, 0, key, nil
	t.Image, t.Planes, t.JPEGInfo, t.Decoder = nil, nil, augment.Info{}, ""
	t.Form, t.Pixels, t.Scratch, t.Err = augment.Pixels, t.pixels, &d.scratch, nil
	d.scratch.Codec = d.spec.Codec
	return t
}

// enqueue queues a task, unless decoding failed with an error, which it returns.
func (d *imageDecoder) enqueue(t *imageTask, err error) error {
	if err != nil {
		d.release(t)
		return err
	}
	d.queue, d.tasks = append(d.queue, t), append(d.tasks, &t.Task)
	if len(d.queue) >= d.size {
		d.flush()
	}
	return nil
}

// reserve waits for the memory that an image takes. If it has to wait, it finishes the queued tasks
// first: images that have memory never wait for more.
func (d *imageDecoder) reserve(t *imageTask, bytes int64) error {
	if !d.gate.TryAcquire(bytes) {
		d.flush()
		// Workers that wait for a token have memory, so that none may wait for memory with one.
		err := d.run.WithoutToken(func() error { return d.gate.Acquire(context.Background(), bytes) })
		if err != nil {
			return err
		}
	}
	t.memory = bytes
	return nil
}

// size returns the bytes of the buffers that are kept for other images.
func (t *imageTask) size() int64 {
	p := &t.planes
	return int64(cap(p.Y.Pix) + cap(p.Cb.Pix) + cap(p.Cr.Pix) + cap(t.decoded.Pix))
}

// release ends the work on a task. The buffers that all workers keep for further images take at
// most an eighth of the memory together.
func (d *imageDecoder) release(t *imageTask) {
	t.Image, t.Planes, t.mask = nil, nil, nil
	if o := &d.run.Opts; d.kept+t.size() > o.Memory/8/int64(o.Parallelism) {
		t.planes, t.decoded = augment.Planes{}, augment.Image{}
	}
	d.kept += t.size()
	d.idle = append(d.idle, t)
	d.gate.Release(t.memory)
	t.memory = 0
}

// flush has the backend finish the queued tasks.
func (d *imageDecoder) flush() {
	if len(d.queue) == 0 {
		return
	}
	err := d.render()
	for _, t := range d.queue {
		problem := err
		if err == nil {
			if problem = d.store(t); problem != nil {
				problem = d.batch.located(t.unit, t.key, problem)
			}
		}
		if problem != nil {
			d.fault(t.unit, problem)
		}
		d.release(t)
	}
	d.scratch.Trim()
	clear(d.queue)
	clear(d.tasks)
	d.queue, d.tasks = d.queue[:0], d.tasks[:0]
}

// render has the backend do the tasks.
func (d *imageDecoder) render() (err error) {
	if d.spec.Backend == nil {
		err = d.backend.Render(d.tasks)
	} else {
		err = d.run.WithoutToken(func() error { return d.backend.Render(d.tasks) })
	}
	if err != nil {
		return fmt.Errorf("%w: %w", pipeline.ErrBackend, err)
	}
	return nil
}

// store writes the result of a task to its row, unless it is there.
func (d *imageDecoder) store(t *imageTask) error {
	switch {
	case t.Err != nil:
		return t.Err
	case t.ResultWidth != d.width || t.ResultHeight != d.height || t.Channels != t.channels:
		return fmt.Errorf("%dx%dx%d pixels; want %dx%dx%d", t.ResultWidth, t.ResultHeight, t.Channels, d.width, d.height, t.channels)
	}
	if t.mask != nil {
		copyTo(t.mask, &t.Pixels)
		return nil
	}
	b, s := d.batch, d.spec
	n := d.width * d.height * t.channels
	from, to := t.row*n, (t.row+1)*n
	switch {
	case t.Form != augment.Pixels:
		if &b.Pixels[from] != &t.Floats[0] {
			copy(b.Pixels[from:to], t.Floats)
		}
	case s.DType == Uint8 && !s.NCHW:
		copyTo(b.Bytes[from:to], &t.Pixels)
	case s.DType == Uint8:
		bytePlanes(b.Bytes[from:to], &t.Pixels)
		t.pixels = t.Pixels
	case s.DType == Float32:
		writeSamples(b.Pixels[from:to], &t.Pixels, &d.table.floats, s.NCHW)
		t.pixels = t.Pixels
	default:
		writeSamples(b.Halves[from:to], &t.Pixels, &d.table.halves, s.NCHW)
		t.pixels = t.Pixels
	}
	if d.decodes {
		b.Decoders[t.row] = t.Decoder
	}
	return nil
}
