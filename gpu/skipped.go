package gpu

import (
	"errors"
	"slices"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// The chip's decoder is known to skip an image now and then and to report success. So planes are
// filled with a sentinel before they are decoded, and the last samples of each, which are decoded
// last, are looked at after. Where one has nothing but the sentinel, the image was skipped or has that
// value there. It is decoded once more, alone, with the other sentinel, which differs in every bit:
// no image can leave both.

// firstSentinel is the sentinel of batches; its complement is the other one.
const firstSentinel byte = 0x5B

// tail is the number of samples of a plane that are examined: a thread's share of a launch for all
// planes.
const tail = 16

// errSkipped is the error for an image that all backends of nvJPEG skip.
var errSkipped = errors.New("nvJPEG reports success and leaves the image as it was")

// watch has a program with a JPEG fetch the last samples of each plane. They become its last buffer.
func watch(p *raster.Program) {
	planes := p.Coded.Planes
	if len(planes) == 0 {
		return
	}
	n := tail * len(planes)
	to := p.Add(raster.Buffer{Region: raster.Result, Size: int64(n), Pix: make([]byte, n), Row: n, Rows: 1, Stride: n})
	var ops [3]raster.Op
	for i, plane := range planes {
		samples := min(tail, plane.Width)
		at := p.Buffer(plane.Buffer) + raster.Address(plane.Width*plane.Height-samples)
		ops[i] = raster.Op{
			Kind: raster.Pick, Channels: 1, Width: int32(samples), Height: 1,
			Src: [3]raster.View{{At: at, Stride: tail, Step: 1}},
			Dst: raster.View{At: to + raster.Address(tail*i), Stride: tail, Step: 1},
		}
	}
	stage := int32(0)
	if len(p.Stages) > 0 {
		stage = p.Stages[0]
	}
	p.Ops = slices.Insert(p.Ops, 0, ops[:len(planes)]...)
	p.Stages = slices.Insert(p.Stages, 0, slices.Repeat([]int32{stage}, len(planes))...)
}

// untouched reports whether a plane of an executed program has only the sentinel at its end.
func untouched(p *raster.Program, sentinel byte) bool {
	last := p.Buffers[len(p.Buffers)-1].Pix
	for i, plane := range p.Coded.Planes {
		samples := last[tail*i:][:min(tail, plane.Width)]
		if !slices.ContainsFunc(samples, func(v byte) bool { return v != sentinel }) {
			return true
		}
	}
	return false
}

// suspect is a task of a job whose JPEG may have been skipped, by a backend.
type suspect struct {
	task int
	by   nvjpeg.Backend
}

// again executes a program whose JPEG may have been skipped, separately. A backend that leaves both
// sentinels has skipped it twice; then the next backend is tried.
func (s *stream) again(j *job, of suspect) error {
	defer func() { s.from, s.sentinel = nvjpeg.Hardware, firstSentinel }()
	for times := 1; ; {
		s.sentinel = ^s.sentinel
		s.layOut(j.programs[of.task : of.task+1])
		if err := s.retryOOM(s.carryOut()); errors.Is(err, cuda.ErrOutOfMemory) {
			j.noRoom, j.lacks = append(j.noRoom, of.task), err
			return nil
		} else if err != nil {
			return err
		}
		if by := s.images[0].Backend; by != of.by {
			of.by, times = by, 0
		}
		left := s.report(j, of.task)
		switch {
		case s.images[0].Err != nil && s.from > nvjpeg.Hardware:
			j.reasons[len(j.reasons)-1] = errSkipped.Error()
			return nil
		case len(left) == 0:
			// Unless it has the other sentinel's value there.
			if times == 1 && s.images[0].Err == nil && !untouched(s.batch.programs[0], ^s.sentinel) {
				s.backend.countSkipped()
			}
			return nil
		}
		if times++; times == 2 {
			s.backend.countSkipped()
			s.from = of.by + 1
		}
	}
}

func (b *Backend) countSkipped() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Skipped++
}
