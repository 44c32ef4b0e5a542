package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// The features of a picture's record, sorted.
const (
	keyCopy        = "augment/copy"
	keyOps         = "augment/ops"
	keyChannels    = "image/channels"
	keyLabel       = "image/class/label"
	keyText        = "image/class/text"
	keyColorspace  = "image/colorspace"
	keyEncoded     = "image/encoded"
	keyFilename    = "image/filename"
	keyFormat      = "image/format"
	keyHeight      = "image/height"
	keyOrientation = "image/orientation"
	keyWidth       = "image/width"
)

var imageKeys = []string{keyCopy, keyOps, keyChannels, keyLabel, keyText, keyColorspace, keyEncoded, keyFilename, keyFormat, keyHeight, keyOrientation, keyWidth}

// maxInput is the largest file that is read as a picture: a record that holds
// a larger one would be refused by most readers.
const maxInput = 1 << 30

// maxStored is the largest picture that is stored: it leaves room for the
// other features of a record.
const maxStored = maxInput - 1<<20

// settled is how old a file must be for its time to tell a later change. File
// systems keep times in coarse steps, so of a file that changed a moment ago
// the time may not move when it changes again.
const settled = time.Second

// scratch is what a worker needs to make a record, kept for the next one.
type scratch struct {
	file                  []byte
	planes, resizedPlanes augment.Planes
	decoded               augment.Image
	augmented             augment.Image
	resized               augment.Image
	resize                augment.Scratch
	encoded               []byte
	builder               tfrecord.Builder
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// putScratch keeps a scratch for reuse, unless a huge picture has grown it.
func putScratch(sc *scratch) {
	planes := cap(sc.planes.Y.Pix) + cap(sc.resizedPlanes.Y.Pix)
	if planes+cap(sc.file)+cap(sc.decoded.Pix)+cap(sc.augmented.Pix)+cap(sc.resized.Pix)+cap(sc.encoded) <= 4*keepFrames {
		scratches.Put(sc)
	}
}

// make makes the record of one sample, or says in the piece why there is none.
func (s *imageSource) make(sample sample, p *piece) error {
	p.samples = 1
	pic := &s.pictures[sample.picture]
	if pic.bad != nil {
		p.bad = append(p.bad, *pic.bad)
		p.identity = s.identity(p.identity, sample, unusedHash(pic.bad))
		return nil
	}
	sc := scratches.Get().(*scratch)
	defer putScratch(sc)
	data, st, err := sc.read(s.path(pic))
	if err != nil {
		p.identity = s.identity(p.identity, sample, unreadHash(err))
		p.bad = append(p.bad, s.unusable(sample, "read", withoutPath(err)))
		return nil
	}
	p.bytesIn = int64(len(data))
	hash, input := pic.input(data, st)
	p.identity = s.identity(p.identity, sample, hash)
	if input.Key != "" {
		p.inputs = append(p.inputs, input)
	}
	out, filtered, fault := s.store(sc, data, sample)
	switch {
	case fault != nil:
		p.bad = append(p.bad, s.unusable(sample, fault.stage, fault.err))
	case filtered:
		p.filtered = 1
	default:
		s.build(&sc.builder, sample, out)
		p.frame(&sc.builder)
		if s.labels != nil {
			p.labels = append(p.labels, pic.id)
		}
	}
	return nil
}

// unusable makes a line of the ledger.
func (s *imageSource) unusable(sample sample, stage string, err error) shard.BadSample {
	return shard.BadSample{
		Key: shard.Readable(s.key(sample)), Source: shard.Readable(s.pictures[sample.picture].path),
		Stage: stage, Reason: err.Error(),
	}
}

// withoutPath drops the path from a file error: the ledger names its source
// relative to the source folder, whatever machine the run was on.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}

// read reads a file into the scratch, and its size and time before that. The
// bytes are valid until the next read.
func (sc *scratch) read(path string) ([]byte, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, errors.New("not a file")
	}
	if st.Size() > maxStored {
		return nil, nil, errSize
	}
	n := int(st.Size())
	if cap(sc.file) <= n {
		sc.file = make([]byte, n+n/4+512)
	}
	// One byte more than there should be tells a file that grows.
	buf := sc.file[:n+1]
	got, err := io.ReadFull(f, buf)
	if err != io.ErrUnexpectedEOF && err != io.EOF && err != nil {
		return nil, nil, err
	}
	if got != n {
		return nil, nil, fmt.Errorf("the file changed while it was read: %d bytes, then %d", n, got)
	}
	return buf[:n], st, nil
}

// fault is what is wrong with a sample, and at which stage it was found.
type fault struct {
	stage string
	err   error
}

// stored is a picture as its record holds it.
type stored struct {
	data                    []byte // valid as long as the scratch is
	format                  string
	width, height, channels int
	orientation             int    // 0: not stored
	ops                     []byte // what was done to a variant, JSON; nil in sets without variants
}

// store decodes, transforms and encodes a picture as the options say.
func (s *imageSource) store(sc *scratch, data []byte, sample sample) (out stored, filtered bool, f *fault) {
	info, err := s.codec.Stat(data)
	if err != nil {
		return stored{}, false, &fault{"decode", err}
	}
	w, h := info.Oriented()
	if s.leavesOut(w, h) {
		return stored{}, true, nil
	}
	if s.o.Encode == Keep && info.Keepable {
		if !s.o.NoCheck {
			if info, err = s.codec.Check(data); err != nil {
				return stored{}, false, &fault{"decode", err}
			}
		}
		return stored{data: data, format: string(info.Format), width: info.Width, height: info.Height, channels: info.Channels, orientation: info.Orientation}, false, nil
	}
	draw := s.draw(sample, w, h)
	var ops []byte
	if s.o.Augment != nil {
		if ops, err = json.Marshal(draw); err != nil {
			return stored{}, false, &fault{"transform", err}
		}
	}
	planar := s.takesPlanes(info)
	if planar && len(draw.Steps) == 0 && s.o.Encode == JPEG && s.resizesPlanes() {
		out, f = s.storePlanes(sc, data, w, h)
	} else {
		out, f = s.storePixels(sc, data, draw, planar, w, h)
	}
	out.ops = ops
	return out, false, f
}

// leavesOut reports whether an option leaves out pictures of this size.
func (s *imageSource) leavesOut(w, h int) bool {
	short, long := min(w, h), max(w, h)
	return short < s.o.MinSize || s.o.MaxAspect > 0 && float64(long) > s.o.MaxAspect*float64(short)
}

func (s *imageSource) encode(sc *scratch, im *augment.Image) (stored, error) {
	var err error
	size := int64(im.Width) * int64(im.Height) * int64(im.Channels)
	if s.o.Encode == Float32 {
		size *= 4
	}
	if (s.o.Encode == Raw || s.o.Encode == Float32) && size > maxStored {
		return stored{}, fmt.Errorf("%d bytes as %s: readers take records up to %d; resize it, or store it as jpeg or png", size, s.o.Encode, maxInput)
	}
	out := stored{width: im.Width, height: im.Height, channels: im.Channels}
	if s.o.Encode == Keep {
		out.orientation = 1 // decoding turned it upright
	}
	switch s.o.Encode {
	case JPEG:
		out.format = string(JPEG)
		sc.encoded, err = s.codec.AppendJPEG(sc.encoded[:0], im, s.o.Quality, s.o.Subsampling)
	case Raw:
		out.format = string(Raw)
		if im.Stride == im.Width*im.Channels { // as it is
			out.data = im.Pix[:size]
			return out, nil
		}
		sc.encoded = augment.AppendRaw(sc.encoded[:0], im)
	case Float32:
		out.format = string(Float32)
		sc.encoded = augment.AppendFloat32(sc.encoded[:0], im, s.o.Normalize)
	default:
		out.format = string(PNG)
		sc.encoded, err = augment.AppendPNG(sc.encoded[:0], im)
	}
	if err == nil && len(sc.encoded) > maxStored {
		err = fmt.Errorf("%d bytes as %s: readers take records up to %d", len(sc.encoded), out.format, maxInput)
	}
	out.data = sc.encoded
	return out, err
}

// build makes the Example. The keys are added in sorted order, which spares
// the builder a sort unless some were renamed.
func (s *imageSource) build(b *tfrecord.Builder, sample sample, out stored) {
	pic := &s.pictures[sample.picture]
	colorspace := "RGB"
	if out.channels == 1 {
		colorspace = "grayscale"
	}
	b.Reset()
	if out.ops != nil {
		b.Int64(s.o.key(keyCopy), int64(sample.copy))
		b.Bytes(s.o.key(keyOps), out.ops)
	}
	b.Int64(s.o.key(keyChannels), int64(out.channels))
	if s.labels != nil {
		b.Int64(s.o.key(keyLabel), int64(pic.id))
		b.String(s.o.key(keyText), pic.label)
	}
	b.String(s.o.key(keyColorspace), colorspace)
	b.Bytes(s.o.key(keyEncoded), out.data)
	b.String(s.o.key(keyFilename), pic.path)
	b.String(s.o.key(keyFormat), out.format)
	b.Int64(s.o.key(keyHeight), int64(out.height))
	if out.orientation != 0 {
		b.Int64(s.o.key(keyOrientation), int64(out.orientation))
	}
	b.Int64(s.o.key(keyWidth), int64(out.width))
}
