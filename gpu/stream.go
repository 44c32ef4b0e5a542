package gpu

import (
	"errors"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// stream does one job after the other, on a goroutine with a thread of its own.
// Its buffers are kept from batch to batch.
type stream struct {
	backend   *Backend
	cuda      *cuda.Stream
	memory    kept[*cuda.Buffer]
	up, down  kept[*cuda.HostBuffer]
	batch     batch
	limit     int64           // of a batch's memory, less once it was too much
	decoder   *nvjpeg.Decoder // nil where the CPU decodes
	images    []nvjpeg.Image  // of the batch
	coded     []int           // which programs these are of
	gaveUpOOM bool            // a JPEG did not fit into memory after all retries
	sentinel  byte            // fills planes before they are decoded
	from      nvjpeg.Backend  // the first backend to try
}

// serve executes jobs until the channel is closed. First it reports to opened whether it can.
func (b *Backend) serve(opened chan<- error) {
	s := stream{backend: b, limit: b.options.Memory, sentinel: firstSentinel}
	var err error
	if s.cuda, err = b.device.NewStream(); err != nil {
		opened <- err
		return
	}
	defer s.cuda.Close() // a job returned the error
	err = s.openDecoder()
	opened <- err
	if err != nil {
		return
	}
	defer s.closeDecoder()
	for j := range b.jobs {
		j.err = s.do(j, 0, len(j.programs))
		j.done <- struct{}{}
	}
}

// do does the programs first to end-1 of a job, in halves where they are too
// many for the memory there is.
func (s *stream) do(j *job, first, end int) error {
	s.layOut(j.programs[first:end])
	many := end-first > 1
	if !many || s.batch.size <= s.limit {
		err := s.carryOut()
		if !many && len(s.images) > 0 {
			err = s.retryOOM(err)
		}
		if err == nil {
			for _, suspect := range s.report(j, first) {
				if err := s.again(j, suspect); err != nil {
					return err
				}
			}
		}
		if !errors.Is(err, cuda.ErrOutOfMemory) {
			return err
		}
		if !many {
			j.noRoom, j.lacks = append(j.noRoom, first), err
			return nil
		}
		s.limit = min(s.limit, s.batch.size/2)
	}
	s.backend.mu.Lock()
	s.backend.stats.Halved++
	s.backend.mu.Unlock()
	middle := (first + end) / 2
	if err := s.do(j, first, middle); err != nil {
		return err
	}
	return s.do(j, middle, end)
}

// layOut lays out a batch, and finds its JPEGs.
func (s *stream) layOut(programs []*raster.Program) {
	s.batch.layOut(programs, &s.backend.pinned)
	s.findCoded()
}

// carryOut does the batch that was laid out.
func (s *stream) carryOut() error {
	b := &s.batch
	if err := s.reserve(); err != nil {
		return err
	}
	memory, up, down := s.memory.buffer, s.up.buffer, s.down.buffer
	if err := s.decode(); err != nil {
		return err
	}
	b.write(up.Bytes()[:b.up], memory.Address(0))
	if err := s.compute(memory, up, down); err != nil {
		// What was queued until then uses the buffers, which half of the batch gets next.
		if waited := s.wait(); errors.Is(err, cuda.ErrOutOfMemory) && waited != nil {
			return waited
		}
		return err
	}
	b.read(down.Bytes()[:b.down])
	return nil
}

// compute copies the batch to the GPU, executes it and waits for the results.
func (s *stream) compute(memory *cuda.Buffer, up, down *cuda.HostBuffer) error {
	b := &s.batch
	if err := s.cuda.Upload(memory, 0, up, 0, int(b.up)); err != nil {
		return err
	}
	if err := s.launch(b.launches); err != nil {
		return err
	}
	for _, t := range b.direct {
		if err := s.cuda.Download(t.to, t.offset, memory, int(t.from), t.size); err != nil {
			return err
		}
	}
	if err := s.cuda.Download(down, 0, memory, int(b.size-b.down), int(b.down)); err != nil {
		return err
	}
	return s.wait()
}

// launch queues kernels of the batch.
func (s *stream) launch(launches []launch) error {
	for _, l := range launches {
		kernel := s.backend.kernels[l.kind]
		ops := s.memory.buffer.At(l.first * int(opBytes))
		err := s.cuda.Launch(kernel, cuda.Dim{X: int(l.blocks)}, cuda.Dim{X: threads}, ops, cuda.Uint64(uint64(l.count)))
		if err != nil {
			return err
		}
	}
	return nil
}

// wait waits for all that was queued.
func (s *stream) wait() error {
	if s.decoder != nil {
		return s.decoder.Wait()
	}
	return s.cuda.Synchronize()
}

// reserve sees to it that the buffers hold the batch.
func (s *stream) reserve() error {
	err := s.memory.reserve(s.cuda.Alloc, s.batch.size, s.limit)
	if err == nil {
		err = s.up.reserve(s.cuda.AllocHost, s.batch.up, s.limit)
	}
	if err == nil {
		err = s.down.reserve(s.cuda.AllocHost, max(s.batch.down, 1), s.limit)
	}
	return err
}

// kept is memory, of either kind, that is kept from batch to batch.
type kept[M interface{ Free() error }] struct {
	buffer M
	size   int64 // 0: there is none
}

// reserve replaces the memory by some of n bytes or more where it is too small. What
// grew by half, up to the limit, does for a while.
func (k *kept[M]) reserve(alloc func(int) (M, error), n, limit int64) error {
	if k.size >= n {
		return nil
	}
	if k.size > 0 {
		k.size = 0
		if err := k.buffer.Free(); err != nil {
			return err
		}
	}
	size := max(n, min(n+n/2, limit))
	buffer, err := alloc(int(size))
	if errors.Is(err, cuda.ErrOutOfMemory) && size > n {
		size = n
		buffer, err = alloc(int(size))
	}
	if err == nil {
		k.buffer, k.size = buffer, size
	}
	return err
}
