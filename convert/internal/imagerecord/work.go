package imagerecord

import (
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Work is a sample being made into a record, with memory that is reused for the next one.
type Work struct {
	Sample   sample.Sample
	Fetched  *prefetch.Fetch // from a store; nil without fetching ahead
	beside   origin.Beside   // stored with the image; valid as long as its file
	out      stored
	filtered bool
	bad      *setdir.BadSample
	// waits is set if the task must run before the image can be encoded.
	waits bool
	Task  augment.Task
	input int // size of the JPEG that the backend decodes; 0 for others
	info  augment.Info
	alone bool // nothing else goes into its piece
	large largeResult

	file    []byte
	planes  augment.Planes
	decoded augment.Image
	resize  augment.Scratch
	encoded []byte
	Record  recordBuilder

	Objects   placed.Objects
	MaskFile  []byte       // of the mask of classes
	MaskInput setdir.Input // its identity; its key is empty if it may have changed

	// Of a variant that is mixed with other images, and of these.
	partners []*Work
	mixture  augment.Draw // with the partners' images
	channels int          // of all of the images; 0 without partners
	data     []byte       // the image of a partner
}

var makings = sync.Pool{New: func() any { return new(Work) }}

// GetWork returns memory for the work on a sample, to be given back with PutWork.
func GetWork(of sample.Sample) *Work {
	m := makings.Get().(*Work)
	m.Sample, m.Fetched, m.beside, m.out, m.filtered, m.bad, m.waits, m.alone = of, nil, origin.Beside{}, stored{}, false, nil, false, false
	m.Task.Image, m.Task.Planes, m.Task.JPEGInfo, m.input = nil, nil, augment.Info{}, 0
	m.Objects.Reset(&m.resize)
	m.MaskInput = setdir.Input{}
	m.partners, m.mixture, m.channels = m.partners[:0], augment.Draw{}, 0
	return m
}

// PutWork keeps the memory for reuse, unless a huge image has grown it.
func PutWork(m *Work) {
	if m.Fetched != nil {
		if m.Fetched.HoldsMask() {
			m.MaskFile = nil // it is the fetcher's
		}
		m.Fetched.Done()
		m.Fetched = nil
	}
	for _, partner := range m.partners {
		PutWork(partner)
	}
	m.partners, m.mixture, m.data = m.partners[:0], augment.Draw{}, nil
	m.large.free()
	m.Task.Draw = augment.Draw{} // it may hold images of partners
	m.resize.Trim()
	planes := cap(m.planes.Y.Pix) + cap(m.Task.YCbCr.Y.Pix) + 4*cap(m.Task.Floats)
	if t := &m.Task; m.input > 0 && t.Image != nil {
		planes += cap(t.Image.Pix)
	} else if m.input > 0 && t.Planes != nil {
		planes += 3 * cap(t.Planes.Y.Pix)
	}
	masks := m.Objects.Release() + cap(m.MaskFile)
	if planes+masks+cap(m.file)+cap(m.decoded.Pix)+cap(m.Task.Pixels.Pix)+cap(m.encoded) <= 4*plan.KeepFrames {
		makings.Put(m)
	}
}

// held is the approximate number of bytes that wait for the backend or for encoding, including the
// expected output of the backend.
func (m *Work) held() int {
	n := len(m.out.data) + m.input
	if m.waits {
		w, h := m.resultSize()
		if m.Task.Form == augment.Floats {
			w *= 4
		}
		n += 3 * w * h
	}
	for _, partner := range m.partners {
		n += len(partner.Task.Pixels.Pix) + partner.held()
	}
	if m.Task.Image != nil {
		n += len(m.decoded.Pix)
	}
	if p := &m.planes; m.Task.Planes != nil {
		n += len(p.Y.Pix) + len(p.Cb.Pix) + len(p.Cr.Pix)
	}
	return n
}

// resultSize is the size of the pixels that the task makes.
func (m *Work) resultSize() (w, h int) {
	t := &m.Task
	w, h = t.Draw.Size(t.Width, t.Height)
	if t.Resize != nil {
		g := t.Resize.Geometry(w, h)
		w, h = g.Width, g.Height
	}
	return w, h
}

// Fault is the error of a sample, and the stage that found it.
type Fault struct {
	Stage   string
	Err     error
	partner bool // of the sample, not of its image
}

// stored is an image as stored in its record.
type stored struct {
	data                    []byte // valid until the next image
	format                  string
	width, height, channels int
	deep                    bool   // 16 bits a sample
	orientation             int    // 0: not stored
	ops                     []byte // steps applied to a variant, JSON; nil in sets without variants
	decoder                 string // name of the decoder; "" in sets that only the codec decodes
}

// PartnerFault is a fault of a partner, and of what it is mixed into.
func PartnerFault(stage string, pic *origin.Image, err error) *Fault {
	return &Fault{Stage: stage, Err: fmt.Errorf("partner %s: %w", jsontext.Readable(pic.Path), err), partner: true}
}
