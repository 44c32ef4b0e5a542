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

// nameDecoder is what [Backend.Decoder] says: all that decides a pixel. Which of the backends takes
// an image follows from its header; the chip's decoder may differ from one kind of GPU to the
// next.
func nameDecoder(l *nvjpeg.Library, info Info, backends []nvjpeg.Backend) string {
	var names []string
	for _, b := range backends {
		names = append(names, b.String())
	}
	return fmt.Sprintf("nvjpeg %s sm_%d%d %s", l.Version(), info.Major, info.Minor, strings.Join(names, "+"))
}

// openDecoder makes the stream's nvJPEG, where one is wanted. It must be what those
// of the other streams are: which image comes to which stream is chance.
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
	}
	if name != b.decoder {
		d.Close()
		return fmt.Errorf("%w: a stream has %s where another has %s", ErrNoNVJPEG, name, b.decoder)
	}
	s.decoder = d
	return nil
}

func (s *stream) closeDecoder() {
	if s.decoder != nil {
		s.decoder.Close()
	}
}

// findCoded finds the JPEGs of the batch that was laid out.
func (s *stream) findCoded() {
	clear(s.pictures)
	s.pictures, s.coded = s.pictures[:0], s.coded[:0]
	at := 0
	for i, p := range s.batch.programs {
		if len(p.Coded.Planes) > 0 {
			picture := nvjpeg.Picture{Data: p.Coded.Data}
			for c, plane := range p.Coded.Planes {
				picture.Planes[c] = nvjpeg.Plane{At: int(s.batch.at[at+plane.Buffer]), Pitch: plane.Width}
				picture.Want[c].Width, picture.Want[c].Height = plane.Width, plane.Height
			}
			s.pictures, s.coded = append(s.pictures, picture), append(s.coded, i)
		}
		at += len(p.Buffers)
	}
}

// decode decodes the JPEGs of the batch to their places in memory.
func (s *stream) decode() error {
	if len(s.pictures) == 0 {
		return nil
	}
	for i := range s.pictures {
		s.pictures[i].To = s.memory.buffer
	}
	return s.decoder.Decode(s.pictures)
}

// tell tells the job, of which the batch is the part from first on, what became of its JPEGs.
func (s *stream) tell(j *job, first int) {
	for i, p := range s.pictures {
		task := first + s.coded[i]
		if p.Err == nil {
			j.tasks[task].Decoder = "nvjpeg " + p.Backend.String()
			continue
		}
		j.refused, j.reasons = append(j.refused, task), append(j.reasons, p.Err.Error())
	}
}

// How often, and after what time at first, a JPEG is tried again that there was no memory for.
const (
	patience = 4
	pause    = 20 * time.Millisecond
)

// retryOOM carries the batch out again where there was no memory: others may let go of theirs, and
// the CPU would make other pixels of a JPEG. Where that was in vain the next one isn't waited for.
func (s *stream) retryOOM(err error) error {
	for try := 0; errors.Is(err, cuda.ErrOutOfMemory) && try < patience && !s.resigned; try++ {
		time.Sleep(pause << try)
		err = s.carryOut()
	}
	s.resigned = errors.Is(err, cuda.ErrOutOfMemory)
	return err
}

// asks says whether nvJPEG is to decode the task's image.
func (b *Backend) asks(t *augment.Task) bool {
	return b.decoder != "" && t.Image == nil && t.Planes == nil && t.JPEGInfo.Usual
}

// settle sorts out, of a job that is done, the JPEGs that the CPU has to decode, and counts the
// others. Its error says that one fell back where the GPU is required.
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
