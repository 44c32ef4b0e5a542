package nvjpeg

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
)

// Decoder decodes on one stream. Like that it belongs to one goroutine; it must be
// closed before the stream is.
type Decoder struct {
	stream  *cuda.Stream
	handles [backends]handle // nil for those that aren't there
	counts  [backends]int64

	// What a batch is made of.
	group   []int
	data    [][]byte
	targets []target
}

// NewDecoder makes a decoder. It fails where the GPU has no backend at all.
func (l *Library) NewDecoder(s *cuda.Stream) (*Decoder, error) {
	d := &Decoder{stream: s}
	var why error
	for b := range backends {
		h, status := l.native.create(b.number())
		switch status {
		case success:
			d.handles[b] = h
		case archMismatch, implementationLacks:
			// This chip doesn't have it.
		case allocatorFailure:
			d.Close()
			return nil, fmt.Errorf("make a nvJPEG decoder: %w on GPU %d (%s)", cuda.ErrOutOfMemory, s.Device().Info().Index, s.Device().Info().Name)
		default:
			// The last one's is told: it wants the least of the GPU.
			why = fmt.Errorf("%w: %s answers %s", ErrAbsent, l.Name(), status)
		}
	}
	if d.first() == nil {
		if why == nil {
			why = fmt.Errorf("%w: %s has nothing for this GPU", ErrAbsent, l.Name())
		}
		return nil, why
	}
	return d, nil
}

// first is the backend that headers are read with.
func (d *Decoder) first() handle {
	for b := Hybrid; b >= Hardware; b-- {
		if d.handles[b] != nil {
			return d.handles[b]
		}
	}
	return nil
}

// Counts returns how many pictures each backend decoded so far, by its number.
func (d *Decoder) Counts() [3]int64 { return d.counts }

// Close frees what the decoder has.
func (d *Decoder) Close() {
	for b, h := range d.handles {
		if h != nil {
			h.destroy()
			d.handles[b] = nil
		}
	}
}

// Parse reads a picture's header. Errors wrap ErrRefused.
func (d *Decoder) Parse(data []byte) (Info, error) {
	info, s := d.parse(d.first(), data)
	if s != success {
		return Info{}, refusal(s)
	}
	return info, nil
}

// parse reads a header, and refuses what no backend makes RGB or YCbCr of.
func (d *Decoder) parse(h handle, data []byte) (Info, status) {
	if len(data) == 0 {
		return Info{}, badJPEG
	}
	info, s := h.parse(data)
	if s == success && info.Components != 1 && info.Components != 3 {
		s = jpegNotSupported
	}
	return info, s
}

func refusal(s status) error { return fmt.Errorf("%w: %s", ErrRefused, s) }

// Plane is where a plane goes: from which byte of a buffer on, and how many bytes
// from row to row.
type Plane struct {
	At, Pitch int
}

// Picture is a JPEG and where it goes, and then what became of it.
type Picture struct {
	// Data is the JPEG. It is not changed, nor needed after Decode.
	Data []byte
	// To is of the decoder's stream and has room for the planes.
	To     *cuda.Buffer
	Planes [3]Plane

	// Info is what its header says.
	Info Info
	// Backend is what decoded it.
	Backend Backend
	// Err is why it wasn't decoded: nil, or an error that wraps ErrRefused, or that
	// says that its planes have no room.
	Err error
}

// Decode decodes pictures, each with the first backend that takes it, and waits for
// them. What is wrong with a picture its Err says. Decode's own error is that of
// the GPU: then none of the pictures is to be used.
func (d *Decoder) Decode(pictures []Picture, f Format) error {
	d.group, d.data, d.targets = d.group[:0], d.data[:0], d.targets[:0]
	for i := range pictures {
		p := &pictures[i]
		p.Err = nil
		if d.handles[Hardware] == nil || !d.prepare(p, Hardware, f) {
			if err := d.one(p, f); err != nil {
				return err
			}
			continue
		}
		d.group = append(d.group, i)
		d.data = append(d.data, p.Data)
		d.targets = append(d.targets, p.target())
	}
	if len(d.group) == 0 {
		return nil
	}
	s := d.handles[Hardware].decodeBatch(d.data, d.targets, f.number(), d.stream.Handle())
	if err := d.stream.Synchronize(); err != nil {
		return err
	}
	clear(d.data)
	for _, i := range d.group {
		p := &pictures[i]
		if s == success {
			p.Backend = Hardware
			d.counts[Hardware]++
			continue
		}
		// One of them is at fault: each by itself.
		if err := d.one(p, f); err != nil {
			return err
		}
	}
	return nil
}

// prepare parses a picture with a backend and says whether that takes it. Where the
// picture has no room it notes that, as it notes why the picture is refused.
func (d *Decoder) prepare(p *Picture, b Backend, f Format) bool {
	info, s := d.parse(d.handles[b], p.Data)
	if s == success {
		p.Info = info
		if p.Err = p.fits(f); p.Err != nil {
			return false
		}
		var takes bool
		if takes, s = d.handles[b].supports(f.number()); s == success && takes {
			return true
		}
		if s == success {
			s = jpegNotSupported
		}
	}
	p.Err = refusal(s)
	return false
}

// one decodes a picture with the first backend, but for the chip's, that takes it.
func (d *Decoder) one(p *Picture, f Format) error {
	for b := GPU; b < backends; b++ {
		h := d.handles[b]
		if h == nil || !d.prepare(p, b, f) {
			continue
		}
		s := h.decode(p.target(), f.number(), d.stream.Handle())
		// The state is free again, and the picture's bytes, once all is done.
		if err := d.stream.Synchronize(); err != nil {
			return err
		}
		if s == success {
			p.Backend, p.Err = b, nil
			d.counts[b]++
			return nil
		}
		p.Err = refusal(s)
	}
	if p.Err == nil {
		p.Err = refusal(jpegNotSupported)
	}
	return nil
}

// fits says with an error whether the planes have room.
func (p *Picture) fits(f Format) error {
	if f == RGB {
		return p.planeFits(0, 3*p.Info.Width, p.Info.Height)
	}
	for i := range p.Info.Components {
		if err := p.planeFits(i, p.Info.Planes[i].Width, p.Info.Planes[i].Height); err != nil {
			return err
		}
	}
	return nil
}

func (p *Picture) planeFits(i, row, rows int) error {
	q := p.Planes[i]
	if q.At < 0 || q.Pitch < row || row < 1 || rows < 1 || q.Pitch > math.MaxInt32 || q.At > p.To.Size() || q.Pitch*(rows-1)+row > p.To.Size()-q.At {
		return fmt.Errorf("plane %d of %d rows of %d bytes has no room at %d of %d bytes, %d from row to row", i, rows, row, q.At, p.To.Size(), q.Pitch)
	}
	return nil
}

func (p *Picture) target() target {
	var t target
	for i, q := range p.Planes {
		if i > 0 && (q.Pitch == 0 || i >= p.Info.Components) {
			break
		}
		t.address[i], t.pitch[i] = p.To.Address(q.At), q.Pitch
	}
	return t
}
