package nvjpeg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
)

// Decoder decodes on one stream. Like that it belongs to one goroutine; it must be
// closed before the stream is.
type Decoder struct {
	stream  *cuda.Stream
	handles [backends]handle // nil for those that aren't there
	missing []Missing        // which these are
	counts  [backends]int64
	used    [backends]int // slots that are in use, the first ones; none of the chip's decoder

	// The images in batches of the chip's decoder: colour, and gray.
	batches [2]batch
	data    [][]byte
	targets []target
}

// NewDecoder creates a decoder. It fails if the GPU supports none of the backends;
// [Decoder.Missing] returns the others that it does not support. Errors wrap ErrAbsent or
// cuda.ErrOutOfMemory.
func (l *Library) NewDecoder(s *cuda.Stream) (*Decoder, error) {
	d, err := l.newDecoder(s)
	if err != nil && !errors.Is(err, cuda.ErrOutOfMemory) {
		err = fmt.Errorf("%w: %w", ErrAbsent, err)
	}
	return d, err
}

func (l *Library) newDecoder(s *cuda.Stream) (*Decoder, error) {
	d := &Decoder{stream: s}
	d.batches[1].gray = true
	for b := range backends {
		h, answer := l.native.create(b.number())
		switch answer {
		case success:
			d.handles[b] = h
		case allocatorFailure:
			d.Close()
			return nil, d.noRoom("make an nvJPEG decoder")
		default:
			lacks := answer == archMismatch || answer == implementationLacks
			d.missing = append(d.missing, Missing{Backend: b, Failed: !lacks, Reason: answer.String()})
		}
	}
	if d.first() != nil {
		return d, nil
	}
	// The error of the last backend is returned: it needs the least of the GPU.
	for _, m := range slices.Backward(d.missing) {
		if m.Failed {
			return nil, fmt.Errorf("%s answers %s", l.name, m.Reason)
		}
	}
	return nil, fmt.Errorf("%s has nothing for this GPU", l.name)
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

// Backends returns the available backends in the order in which they are tried.
func (d *Decoder) Backends() []Backend {
	var found []Backend
	for b, h := range d.handles {
		if h != nil {
			found = append(found, Backend(b))
		}
	}
	return found
}

// Missing returns the other backends.
func (d *Decoder) Missing() []Missing { return d.missing }

// noRoom is the error where nvJPEG, which has memory of its own, gets none.
func (d *Decoder) noRoom(what string) error {
	i := d.stream.Device().Info()
	return fmt.Errorf("%s: %w on GPU %d (%s)", what, cuda.ErrOutOfMemory, i.Index, i.Name)
}

// Counts returns how many images each backend decoded so far, by its number.
func (d *Decoder) Counts() [3]int64 { return d.counts }

// Close frees the decoder's resources. Queued work must have been waited for.
func (d *Decoder) Close() {
	for b, h := range d.handles {
		if h != nil {
			h.destroy()
			d.handles[b] = nil
		}
	}
}

// Parse reads an image's header. Errors wrap ErrRefused.
func (d *Decoder) Parse(data []byte) (Info, error) {
	info, s := d.parse(d.first(), 0, data)
	if s != success {
		return Info{}, refusal(s)
	}
	return info, nil
}

// parse reads a header, and rejects images that have neither one nor three components.
func (d *Decoder) parse(h handle, slot int, data []byte) (Info, status) {
	if len(data) == 0 {
		return Info{}, badJPEG
	}
	info, s := h.parse(slot, data)
	if s == success && info.Components != 1 && info.Components != 3 {
		s = jpegNotSupported
	}
	return info, s
}

func refusal(s status) error { return fmt.Errorf("%w: %s", ErrRefused, s) }

// Plane is the location of a plane: its first byte in a buffer, and the bytes from row to row.
type Plane struct {
	At, Pitch int
}

// Image is a JPEG, the location of its planes, and the result.
type Image struct {
	// Data is the JPEG. It is not changed, nor needed after Wait.
	Data []byte
	// To belongs to the decoder's stream and has room for the planes at their stored size; gray
	// images have one.
	To     *cuda.Buffer
	Planes [3]Plane
	// Want are the sizes that the planes must have: another size in the header
	// that nvJPEG reads is an error. None: any.
	Want [3]struct{ Width, Height int }
	// From is the first backend to try.
	From Backend
	// Sentinel is the value that the planes were filled with; their rows must be contiguous. Before
	// a retry they are filled again, to detect whether nvJPEG decodes anything at all. 0: they are
	// not.
	Sentinel byte

	// Info describes the image by its header.
	Info Info
	// Backend is the backend that decoded it.
	Backend Backend
	// Err is the reason that it wasn't decoded: nil, or an error that wraps ErrRefused or reports
	// that its planes have no room.
	Err error
}

// Decode queues the decoding of images, each with the first backend that accepts it. Work that is
// queued after it can read the planes. Until [Decoder.Wait], the images' bytes must not change.
// After a possibly temporary failure an image is retried once, alone, with the same backend before
// the next backend is tried, so that backend and pixels depend on the image only. Faults of an
// image are in its Err. Decode returns an error of the GPU, or one that wraps cuda.ErrOutOfMemory:
// then none of the images may be used, nor is any in use.
func (d *Decoder) Decode(images []Image) error {
	err := d.decode(images)
	for i := range d.batches {
		clear(d.batches[i].images)
	}
	if err == nil {
		return nil
	}
	if waited := d.Wait(); waited != nil && errors.Is(err, cuda.ErrOutOfMemory) {
		return waited
	}
	return err
}

func (d *Decoder) decode(images []Image) error {
	if d.used != [backends]int{} || d.batches[0].inFlight || d.batches[1].inFlight { // Wait was not called
		if err := d.Wait(); err != nil {
			return err
		}
	}
	for i := range d.batches {
		d.batches[i].images = d.batches[i].images[:0]
	}
	for i := range images {
		p := &images[i]
		p.Err = nil
		if d.handles[Hardware] == nil || p.From > Hardware || !d.prepare(p, Hardware, 0) {
			if err := d.one(p); err != nil {
				return err
			}
			continue
		}
		b := &d.batches[0]
		if p.gray() {
			b = &d.batches[1]
		}
		b.images = append(b.images, p)
	}
	for i := range d.batches {
		if err := d.together(&d.batches[i], d.batches[i].images); err != nil {
			return err
		}
	}
	return nil
}

// gray reports whether an image that was parsed has one plane.
func (p *Image) gray() bool { return p.Info.Components == 1 }

// Wait waits, asleep, for all work queued on the stream. Its errors are the GPU's.
func (d *Decoder) Wait() error {
	err := d.stream.Synchronize()
	clear(d.used[:])
	for i := range d.batches {
		d.batches[i].inFlight = false
	}
	for _, h := range d.handles {
		if h != nil {
			h.release()
		}
	}
	return err
}

// prepare parses an image with a slot of a backend and reports whether the backend accepts it. It
// records the reason if not, and out-of-memory errors.
func (d *Decoder) prepare(p *Image, b Backend, slot int) bool {
	info, s := d.parse(d.handles[b], slot, p.Data)
	if s == success {
		p.Info = info
		if p.Err = p.fits(); p.Err != nil {
			return false
		}
		var takes bool
		if takes, s = d.handles[b].supports(slot, p.gray()); s == success && takes {
			return true
		}
		if s == success {
			s = jpegNotSupported
		}
	}
	p.Err = refusal(s)
	return false
}

// one starts decoding an image with the first backend, other than the chip's, that accepts it.
func (d *Decoder) one(p *Image) error {
	p.Err = refusal(jpegNotSupported)
	for b := max(GPU, p.From); b < backends; b++ {
		for tries := 0; tries < 2 && d.handles[b] != nil; tries++ {
			if d.used[b] == slots {
				if err := d.Wait(); err != nil {
					return err
				}
			}
			slot := d.used[b]
			if !d.prepare(p, b, slot) {
				break
			}
			d.used[b]++
			s := d.handles[b].decode(slot, p.gray(), p.target(), d.stream.Handle())
			if s == success {
				p.Backend, p.Err = b, nil
				d.counts[b]++
				return nil
			}
			// Whatever of it was begun may use the planes.
			if err := d.Wait(); err != nil {
				return err
			}
			if s == allocatorFailure {
				return d.noRoom("decode a JPEG")
			}
			if err := d.refill(p); err != nil {
				return err
			}
			p.Err = refusal(s)
			if s.final() {
				break
			}
		}
	}
	return nil
}

// fits returns an error unless the planes have the wanted sizes and enough room.
func (p *Image) fits() error {
	for i := range p.Info.Components {
		if size := p.Info.Planes[i]; p.Want[i] != size && p.Want[0].Width > 0 {
			return fmt.Errorf("%w: it finds a plane of %dx%d where there is one of %dx%d", ErrRefused, size.Width, size.Height, p.Want[i].Width, p.Want[i].Height)
		}
		if err := p.planeFits(i, p.Info.Planes[i].Width, p.Info.Planes[i].Height); err != nil {
			return err
		}
	}
	return nil
}

func (p *Image) planeFits(i, row, rows int) error {
	q := p.Planes[i]
	if q.At < 0 || q.Pitch < row || row < 1 || rows < 1 || q.Pitch > math.MaxInt32 || q.At > p.To.Size() || q.Pitch*(rows-1)+row > p.To.Size()-q.At {
		return fmt.Errorf("plane %d of %d rows of %d bytes has no room at %d of %d bytes, %d from row to row", i, rows, row, q.At, p.To.Size(), q.Pitch)
	}
	return nil
}

func (p *Image) target() target {
	var t target
	for i, q := range p.Planes[:p.Info.Components] {
		t.address[i], t.pitch[i] = p.To.Address(q.At), q.Pitch
	}
	return t
}
