package gpu

import (
	"bytes"
	"image"
	"image/jpeg"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/internal/codec/lower"
	"github.com/tfrec/tfrec/internal/codec/raster"
)

// phases times parts of a batch with the GPU's own clock.
type phases struct {
	stream *stream
	events []*cuda.Event
	names  []string // of what is between an event and the next
	took   map[string]time.Duration
}

// begin records an event, from which on a phase runs; "" ends the last one.
func (p *phases) begin(name string) error {
	if len(p.names) == len(p.events) {
		e, err := p.stream.cuda.NewTimedEvent()
		if err != nil {
			return err
		}
		p.events = append(p.events, e)
	}
	e := p.events[len(p.names)]
	p.names = append(p.names, name)
	return p.stream.cuda.Record(e)
}

// batch does the batch that the stream has laid out.
func (p *phases) batch() error {
	s, b := p.stream, &p.stream.batch
	p.names = p.names[:0]
	if err := p.begin("decode"); err != nil {
		return err
	}
	if err := s.decode(); err != nil {
		return err
	}
	if err := p.begin("upload"); err != nil {
		return err
	}
	if err := s.cuda.Upload(s.memory.buffer, 0, s.up.buffer, 0, int(b.up)); err != nil {
		return err
	}
	for i, l := range b.launches {
		if err := p.begin(l.kind.String()); err != nil {
			return err
		}
		if err := s.launch(b.launches[i : i+1]); err != nil {
			return err
		}
	}
	if err := p.begin("download"); err != nil {
		return err
	}
	if err := s.cuda.Download(s.down.buffer, 0, s.memory.buffer, int(b.size-b.down), int(b.down)); err != nil {
		return err
	}
	if err := p.begin(""); err != nil {
		return err
	}
	if err := s.wait(); err != nil {
		return err
	}
	for i, name := range p.names[:len(p.names)-1] {
		d, err := p.events[i+1].Since(p.events[i])
		if err != nil {
			return err
		}
		p.took[name] += d
	}
	return nil
}

// BenchmarkPhases is how long the GPU takes, an image of 500x375 in a batch of 64, for nvJPEG, for
// the copies and for the kernels of each kind: a profile without a profiler. Nothing overlaps.
func BenchmarkPhases(b *testing.B) {
	for _, c := range work {
		b.Run(c.name, func(b *testing.B) {
			onGPU, err := Open(Options{Streams: 1, Decode: true})
			if err != nil {
				gputest.Missing(b, err)
			}
			defer onGPU.Close()
			codec, err := augment.NewCodec(augment.CodecOptions{})
			if err != nil {
				b.Fatal(err)
			}
			tasks := photographs(b, batchOf(64), c.policy)
			var programs []*raster.Program
			for _, t := range tasks {
				data := asJPEG(b, t.Planes.Y)
				t.Planes, t.JPEGPlanes = nil, true
				if err := t.ReadJPEG(codec, data); err != nil {
					b.Fatal(err)
				}
				p := new(raster.Program)
				if err := lower.Task(p, t); err != nil {
					b.Fatal(err)
				}
				programs = append(programs, p)
			}
			s := onGPU.testStream(b)
			if err := s.openDecoder(); err != nil {
				b.Fatal(err)
			}
			defer s.closeDecoder()
			s.layOut(programs)
			if err := s.carryOut(); err != nil {
				b.Fatal(err)
			}
			p := phases{stream: s, took: map[string]time.Duration{}}
			for b.Loop() {
				if err := p.batch(); err != nil {
					b.Fatal(err)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(p.took)) {
				b.ReportMetric(float64(p.took[name].Nanoseconds())/float64(len(tasks)*b.N), name+"-ns/image")
			}
			b.ReportMetric(float64(len(s.batch.launches)), "launches")
		})
	}
}

// asJPEG is a photograph in the colours that a plane gives it, as a JPEG in 4:2:0.
func asJPEG(b *testing.B, y augment.Image) []byte {
	b.Helper()
	im := image.NewYCbCr(image.Rect(0, 0, y.Width, y.Height), image.YCbCrSubsampleRatio420)
	copy(im.Y, y.Pix)
	copy(im.Cb, y.Pix)
	copy(im.Cr, y.Pix[len(im.Cr):])
	var data bytes.Buffer
	if err := jpeg.Encode(&data, im, nil); err != nil {
		b.Fatal(err)
	}
	return data.Bytes()
}
