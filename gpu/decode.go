package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// nameDecoder returns the name for [Backend.Decoder], which includes everything that decides a
// pixel. The backend for an image follows from its header; the chip's decoder may differ between
// models of GPUs.
func nameDecoder(l *nvjpeg.Library, info Info, backends []nvjpeg.Backend) string {
	var names []string
	for _, b := range backends {
		names = append(names, b.String())
	}
	return fmt.Sprintf("nvjpeg %s sm_%d%d %s", l.Version(), info.Major, info.Minor, strings.Join(names, "+"))
}

// openDecoder opens the stream's nvJPEG, if the options request one. It must equal the other
// streams', because images are assigned to streams at random.
func (s *stream) openDecoder() error {
	b := s.backend
	if b.library == nil {
		return nil
	}
	d, err := b.library.NewDecoder(s.cuda)
	if err != nil {
		return err
	}
	name := nameDecoder(b.library, b.Device(), d.Backends())
	if b.decoder == "" {
		b.decoder = name
		b.noteMissing(d.Missing())
	}
	if name != b.decoder {
		d.Close()
		return fmt.Errorf("%w: a stream has %s where another has %s", ErrNoNVJPEG, name, b.decoder)
	}
	s.decoder = d
	return nil
}

// noteMissing notes the backends that failed: without them, pixels and speed differ from other GPUs
// of this kind.
func (b *Backend) noteMissing(missing []nvjpeg.Missing) {
	for _, m := range missing {
		if m.Failed && b.options.Note != nil {
			b.options.Note(m.String() + "; the others decode, to other pixels and perhaps slower")
		}
	}
}

func (s *stream) closeDecoder() {
	if s.decoder != nil {
		s.decoder.Close()
	}
}

// findCoded finds the JPEGs of the batch that was laid out.
func (s *stream) findCoded() {
	clear(s.images)
	s.images, s.coded = s.images[:0], s.coded[:0]
	at := 0
	for i, p := range s.batch.programs {
		if len(p.Coded.Planes) > 0 {
			im := nvjpeg.Image{Data: p.Coded.Data}
			for c, plane := range p.Coded.Planes {
				im.Planes[c] = nvjpeg.Plane{At: int(s.batch.at[at+plane.Buffer]), Pitch: plane.Width}
				im.Want[c].Width, im.Want[c].Height = plane.Width, plane.Height
			}
			s.images, s.coded = append(s.images, im), append(s.coded, i)
		}
		at += len(p.Buffers)
	}
}

// decode queues the decoding of the batch's JPEGs to their places in memory.
func (s *stream) decode() error {
	if len(s.images) == 0 {
		return nil
	}
	if err := s.cuda.Fill(s.memory.buffer, int(s.batch.decoded.at), int(s.batch.decoded.size), s.sentinel); err != nil {
		return err
	}
	for i := range s.images {
		s.images[i].To, s.images[i].Sentinel, s.images[i].From = s.memory.buffer, s.sentinel, s.from
	}
	return s.decoder.Decode(s.images)
}

// report records in the job, of which the batch is the part from first on, which JPEGs were decoded
// and why others were not. It leaves out, and returns, those that may have been skipped.
func (s *stream) report(j *job, first int) (skipped []suspect) {
	for i, p := range s.images {
		task := first + s.coded[i]
		if p.Err == nil && untouched(s.batch.programs[s.coded[i]], s.sentinel) {
			skipped = append(skipped, suspect{task, p.Backend})
			continue
		}
		if p.Err == nil {
			j.tasks[task].Decoder = "nvjpeg " + p.Backend.String()
			continue
		}
		j.refused, j.reasons = append(j.refused, task), append(j.reasons, p.Err.Error())
	}
	return skipped
}

// How often a JPEG that did not fit into memory is retried, and the first pause before that.
const (
	maxTries = 4
	pause    = 20 * time.Millisecond
)

// retryOOM retries a batch that ran out of memory: others may free theirs, and the CPU's pixels of
// a JPEG differ. If all retries fail, the next batch is not retried.
func (s *stream) retryOOM(err error) error {
	for try := 0; errors.Is(err, cuda.ErrOutOfMemory) && try < maxTries && !s.gaveUpOOM; try++ {
		time.Sleep(pause << try)
		err = s.carryOut()
	}
	s.gaveUpOOM = errors.Is(err, cuda.ErrOutOfMemory)
	return err
}

// asks reports whether nvJPEG is to decode the task's image.
func (b *Backend) asks(t *augment.Task) bool {
	return b.decoder != "" && t.Image == nil && t.Planes == nil && t.JPEGInfo.Usual
}

// settle finds the JPEGs of a finished job that the CPU has to decode, and counts the others. It
// returns an error if one fell back and the GPU is required.
func (b *Backend) settle(j *job) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, t := range j.tasks {
		switch {
		case !b.asks(t):
		case slices.Contains(j.noRoom, i):
			t.FellBack = true
			b.stats.FellBack++
			if b.options.Required {
				return fmt.Errorf("a JPEG of %dx%d pixels is not decoded: %w", t.JPEGInfo.Width, t.JPEGInfo.Height, j.lacks)
			}
		case !slices.Contains(j.refused, i):
			b.stats.Decoded[strings.TrimPrefix(t.Decoder, "nvjpeg ")]++
		}
	}
	for _, why := range j.reasons {
		b.stats.Refused[why]++
	}
	return nil
}

// strand notes of tasks that the CPU does because the GPU failed which of their JPEGs nvJPEG
// was to decode.
func (b *Backend) strand(tasks []*augment.Task) {
	for _, t := range tasks {
		if b.asks(t) {
			t.FellBack = true
			b.mu.Lock()
			b.stats.FellBack++
			b.mu.Unlock()
		}
	}
}
