package images

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Bounds of clips: package columns has the same of steps.
const (
	maxFrames     = 1 << 28 // ImageSpec.Frames
	maxClipMemory = 1 << 30 // bytes of a batch of columns.Longest: a single record must not decide about it
)

// clips are the records of a batch whose images are frames. They are located before any is decoded,
// so that workers share the frames of a record.
type clips struct {
	records []clip
	frames  int         // of each record, with padding
	units   []frameUnit // one for each frame, and for each record without any
}

// frameUnit is a frame of a record, or frame 0 of one that has none.
type frameUnit struct{ record, frame int }

// clip is a record of a batch.
type clip struct {
	context tfrecord.Features
	frames  [][]byte // of the first image key, then of the others, then of the masks
	length  int      // frames of each key

	mu     sync.Mutex
	err    error // of the first bad frame; nil: none so far
	failed int   // that frame; -1: the record as a whole
}

// checkFrames validates Steps and Frames.
func (s *ImageSpec) checkFrames() error {
	switch {
	case s.Steps > columns.FlatSteps:
		return fmt.Errorf("images: Steps are %d: want NoSteps, ListSteps or FlatSteps", s.Steps)
	case s.Steps == columns.NoSteps && s.Frames != 0:
		return errors.New("images: Frames without Steps, which say where a record has them: want ListSteps or FlatSteps")
	case s.Steps != columns.NoSteps && s.Frames == 0:
		return errors.New("images: Steps without Frames: want the number of frames of each record, or Longest")
	case s.Frames < columns.Longest || s.Frames > maxFrames:
		return fmt.Errorf("images: %d Frames: want Longest or at most %d", s.Frames, maxFrames)
	}
	return nil
}

// locate finds the frames of records.
func (s *ImageSpec) locate(records []pipeline.Record, width, height int) *clips {
	c := &clips{records: make([]clip, len(records)), frames: max(s.Frames, 1)}
	most := s.mostFrames(len(records), width, height)
	for i := range records {
		x := &c.records[i]
		if err := x.load(s, records[i].Data, most); err != nil {
			if errors.Is(err, columns.ErrPadding) {
				err = fmt.Errorf("%w, in a batch of %s: set the number of Frames, make windows of the records, or make smaller batches",
					err, plural.Of(len(records), "record"))
			}
			x.length, x.frames, x.err, x.failed = 0, nil, err, -1
		}
		c.frames = max(c.frames, x.length)
		for t := range max(x.length, 1) {
			c.units = append(c.units, frameUnit{i, t})
		}
	}
	return c
}

// mostFrames returns the largest number of frames that records of a batch may have.
func (s *ImageSpec) mostFrames(records, width, height int) int {
	if s.Frames != columns.Longest {
		return s.Frames
	}
	size := int64(s.images()) * int64(s.Channels) * s.DType.size()
	if s.MaskKey != "" {
		size++
	}
	return int(maxClipMemory / (size * int64(width) * int64(height) * int64(records)))
}

// size returns the size of a sample in bytes.
func (d DType) size() int64 {
	return [...]int64{Uint8: 1, Float32: 4, Float16: 2, BFloat16: 2}[d]
}

// load parses a record and finds its frames.
func (c *clip) load(s *ImageSpec, record []byte, most int) error {
	var e tfrecord.SequenceExample // of this record alone: frames may alias its memory
	if err := e.Parse(record); err != nil {
		return err
	}
	c.context = e.Context
	for k := range s.images() {
		if err := c.loadKey(s, &e, s.imageKey(k), most); err != nil {
			return err
		}
	}
	if s.MaskKey != "" {
		return c.loadKey(s, &e, s.MaskKey, most)
	}
	return nil
}

// loadKey appends the frames that a record has under a key.
func (c *clip) loadKey(s *ImageSpec, e *tfrecord.SequenceExample, key string, most int) error {
	list, ok := e.Lists.Get(key)
	n := list.Len()
	var flat tfrecord.Feature
	if s.Steps == columns.FlatSteps {
		flat, ok = e.Context.Get(key)
		n = flat.Len()
	}
	switch {
	case !ok:
		return missingFrames(e, key)
	case key != s.ImageKey && n != c.length:
		return fmt.Errorf("feature %q has %s, feature %q %d: want the same number", s.ImageKey, plural.Of(c.length, "frame"), key, n)
	case n > most && s.Frames == columns.Longest:
		return fmt.Errorf("%w: feature %q: padded to the %d frames of this record", columns.ErrPadding, key, n)
	case n > most:
		return fmt.Errorf("feature %q: %s: want at most %d, the number of Frames: make windows of the record", key, plural.Of(n, "frame"), most)
	case flat.Kind() != tfrecord.KindNone && flat.Kind() != tfrecord.KindBytes:
		return fmt.Errorf("feature %q: want images; it has %s of kind %v", key, plural.Of(n, "value"), flat.Kind())
	}
	c.length = n
	c.frames = flat.AppendBytes(slices.Grow(c.frames, n))
	for t := range list.Len() {
		data, err := encoded(list.At(t))
		if err != nil {
			return frameError(key, t, err)
		}
		c.frames = append(c.frames, data)
	}
	return nil
}

// missingFrames returns the error for a record without frames under a key. It names the other place
// if the record has the key there.
func missingFrames(e *tfrecord.SequenceExample, key string) error {
	if _, ok := e.Context.Get(key); ok {
		return fmt.Errorf("feature %q: there is no feature list of this name, but a feature: want the Steps FlatSteps", key)
	}
	if _, ok := e.Lists.Get(key); ok {
		return fmt.Errorf("feature %q: there is no feature of this name, but a feature list: want the Steps ListSteps", key)
	}
	return fmt.Errorf("feature %q: missing", key)
}

func frameError(key string, frame int, err error) error {
	return fmt.Errorf("feature %q: frame %d: %w", key, frame, err)
}

// lengths appends the numbers of frames of the records to dst.
func (c *clips) lengths(dst []int64) []int64 {
	for i := range c.records {
		dst = append(dst, int64(c.records[i].length))
	}
	return dst
}

// frames decodes frames, given as units of the batch, for their rows.
func (d *imageDecoder) frames(b *ImageBatch, records []pipeline.Record, from, to int, fail func(int, error) bool) {
	d.start(b, fail)
	for i := from; i < to; i++ {
		u := b.clips.units[i]
		c := &b.clips.records[u.record]
		if c.hopeless(u.frame) {
			continue
		}
		d.features = &c.context
		if u.frame == 0 {
			d.spec.pad(b, u.record, c.length)
			if err := d.label(u.record); err != nil {
				c.fail(-1, err)
				continue
			}
		}
		if u.frame == c.length {
			continue // none
		}
		if err := d.frame(i, records[u.record]); err != nil {
			d.fault(i, err)
		}
	}
	d.flush()
}

// frame decodes the images of a frame, and its mask.
func (d *imageDecoder) frame(unit int, record pipeline.Record) error {
	u, images, frames := d.batch.clips.units[unit], d.spec.images(), d.batch.clips.frames
	c := &d.batch.clips.records[u.record]
	for k := range images {
		key, row := d.spec.imageKey(k), (u.record*images+k)*frames+u.frame
		if err := d.submit(unit, row, key, c.frames[k*c.length+u.frame], record); err != nil {
			return d.batch.located(unit, key, err)
		}
		if k == 0 && d.spec.MaskKey != "" {
			row := u.record*frames + u.frame
			if err := d.submitMask(unit, row, c.frames[images*c.length+u.frame]); err != nil {
				return d.batch.located(unit, d.spec.MaskKey, err)
			}
		}
	}
	return nil
}

// fail reports a bad frame. The record's error is the one of its first bad frame, whichever worker
// is first.
func (c *clip) fail(frame int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || frame < c.failed {
		c.err, c.failed = err, frame
	}
}

// hopeless reports whether a frame need not be decoded, since one before it is bad.
func (c *clip) hopeless(frame int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil && c.failed < frame
}

// pad clears the frames of a record from a number on.
func (s *ImageSpec) pad(b *ImageBatch, record, from int) {
	images, frames := s.images(), b.clips.frames
	for k := range images {
		image := record*images + k
		from, to, all := image*frames+from, (image+1)*frames, b.Shape[0]*images*frames
		clearRows(b.Bytes, from, to, all)
		clearRows(b.Pixels, from, to, all)
		clearRows(b.Halves, from, to, all)
	}
	if s.MaskKey != "" {
		size := len(b.Masks) / (b.Shape[0] * frames)
		end := (record + 1) * frames * size
		pipeline.Fill(b.Masks[(record*frames+from)*size:end:end], s.MaskFill)
	}
}

// clearRows clears rows [from, to) of all in s.
func clearRows[T any](s []T, from, to, all int) {
	size := len(s) / all
	clear(s[from*size : to*size])
}

// narrow makes the clips as long as the longest that was not removed.
func (b *ImageBatch) narrow(images int) {
	axis := 1
	if images > 1 {
		axis = 2
	}
	from, to := b.Shape[axis], int(max(slices.Max(b.Lengths), 1))
	if from == to {
		return
	}
	n := b.Shape[0]
	b.Pixels = narrowRows(b.Pixels, n*images, from, to)
	b.Bytes = narrowRows(b.Bytes, n*images, from, to)
	b.Halves = narrowRows(b.Halves, n*images, from, to)
	b.Masks = narrowRows(b.Masks, n, from, to)
	b.Decoders = narrowRows(b.Decoders, n*images, from, to)
	b.Shape[axis] = to
}

// narrowRows keeps the first to of from parts of each of n rows.
func narrowRows[T any](s []T, n, from, to int) []T {
	size := len(s) / (n * from)
	for i := range n {
		copy(s[i*to*size:][:to*size], s[i*from*size:])
	}
	return s[:n*to*size]
}
