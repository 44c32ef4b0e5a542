package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/setdir"
)

// Maker makes records of samples.
type Maker struct {
	*Set
	placer
	recordMaker
	codec   *augment.Codec
	Backend augment.Backend
	Decodes bool // the backend decodes JPEGs
	decoded plan.Tally
	Workers int          // goroutines that make records
	Busy    atomic.Int64 // workers with a task, and those that help to decode
}

// NewMaker returns a maker of records on this backend.
func NewMaker(set *Set, codec *augment.Codec, backend augment.Backend) *Maker {
	return &Maker{Set: set, placer: placer{set, codec}, recordMaker: recordMaker{set}, codec: codec, Backend: backend}
}

// Work is a sample being made into a record, with memory that is reused for the next one.
type Work struct {
	Sample   Sample
	Fetched  *Fetch        // from a store; nil without fetching ahead
	beside   origin.Beside // stored with the image; valid as long as its file
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

	Objects      Objects
	followed     followed      // of a record
	MaskFile     []byte        // of the mask of classes
	MaskInput    setdir.Input  // its identity; its key is empty if it may have changed
	Segmentation []byte        // the mask as it is stored
	drawn        augment.Image // a mask as it is annotated
	maskTask     augment.Task

	// Of a variant that is mixed with other images, and of these.
	partners []*Work
	mixture  augment.Draw // with the partners' images
	channels int          // of all of the images; 0 without partners
	data     []byte       // the image of a partner
}

var makings = sync.Pool{New: func() any { return new(Work) }}

// GetWork returns memory for the work on a sample, to be given back with PutWork.
func GetWork(sample Sample) *Work {
	m := makings.Get().(*Work)
	m.Sample, m.Fetched, m.beside, m.out, m.filtered, m.bad, m.waits, m.alone = sample, nil, origin.Beside{}, stored{}, false, nil, false, false
	m.Task.Image, m.Task.Planes, m.Task.JPEGInfo, m.input = nil, nil, augment.Info{}, 0
	m.Objects.reset()
	m.followed.active, m.followed.movesMasks = false, false
	m.MaskInput = setdir.Input{}
	m.partners, m.mixture, m.channels = m.partners[:0], augment.Draw{}, 0
	return m
}

// newSampleWork begins a sample with its partners, given what was fetched ahead for them, if
// anything was.
func (s *Maker) newSampleWork(sample Sample, fetched []*Fetch) *Work {
	m := GetWork(sample)
	for _, image := range s.Partners(sample) {
		m.partners = append(m.partners, GetWork(Of(image)))
	}
	for i, f := range fetched {
		if i == 0 {
			m.Fetched = f
		} else {
			m.partners[i-1].Fetched = f
		}
	}
	return m
}

// Of is the sample of an original.
func Of(image int32) Sample { return Sample{Image: image} }

// PutWork keeps the memory for reuse, unless a huge image has grown it.
func PutWork(m *Work) {
	if m.Fetched != nil {
		if m.Fetched.mask.wanted {
			m.MaskFile = nil // it is the fetcher's
		}
		m.Fetched.done()
		m.Fetched = nil
	}
	for _, partner := range m.partners {
		PutWork(partner)
	}
	m.partners, m.mixture, m.data = m.partners[:0], augment.Draw{}, nil
	m.large.free()
	m.Task.Draw, m.maskTask.Draw = augment.Draw{}, augment.Draw{} // they may hold images of partners
	m.resize.Trim()
	planes := cap(m.planes.Y.Pix) + cap(m.Task.YCbCr.Y.Pix) + 4*cap(m.Task.Floats)
	if t := &m.Task; m.input > 0 && t.Image != nil {
		planes += cap(t.Image.Pix)
	} else if m.input > 0 && t.Planes != nil {
		planes += 3 * cap(t.Planes.Y.Pix)
	}
	masks := cap(m.drawn.Pix) + cap(m.maskTask.Pixels.Pix) + cap(m.Objects.masks) + cap(m.Segmentation) + cap(m.MaskFile)
	if planes+masks+cap(m.file)+cap(m.decoded.Pix)+cap(m.Task.Pixels.Pix)+cap(m.encoded) <= 4*plan.KeepFrames {
		makings.Put(m)
	}
}

// batchBytes bounds the size of a batch of decoded images: at that size it runs before it is full.
const batchBytes = 32 << 20

// Make makes the records of consecutive samples, or records in the piece why there are none, in
// batches of the size that suits the backend. The images come from fetched, if that is not nil.
func (s *Maker) Make(ctx context.Context, samples []Sample, fetched [][]*Fetch, p *plan.Piece) error {
	p.Samples = 0
	batch := make([]*Work, 0, len(samples))
	held := 0
	for i, sample := range samples {
		if !s.isLoose(sample) {
			p.Samples++
		}
		var ahead []*Fetch
		if fetched != nil {
			ahead = fetched[i]
		}
		m := s.newSampleWork(sample, ahead)
		m.alone = len(samples) == 1
		before := p.Mark()
		err := s.begin(ctx, m, p)
		if err == nil && s.suspect(m) {
			m, err = s.beginAgain(ctx, m, p, before)
		}
		batch = append(batch, m)
		if i+1 < len(samples) && err == nil {
			if held += m.held(); held <= batchBytes {
				continue
			}
		}
		if err == nil {
			err = ctx.Err() // rendering and encoding may take longer than decoding
		}
		if err == nil {
			err = s.render(batch)
		}
		for _, m := range batch {
			if err == nil {
				s.end(m, p)
			}
			PutWork(m)
		}
		p.Settle()
		if err != nil {
			return err
		}
		batch, held = batch[:0], 0
	}
	return nil
}

// render runs the tasks of a batch of images. An error is the backend's.
func (s *Maker) render(batch []*Work) error {
	tasks := make([]*augment.Task, 0, len(batch))
	for _, m := range batch {
		if m.waits {
			tasks = append(tasks, &m.Task)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	return s.Backend.Render(tasks)
}

// begin reads and decodes an image. An error ends the run.
func (s *Maker) begin(ctx context.Context, m *Work, p *plan.Piece) error {
	pic := &s.Images[m.Sample.Image]
	if bad := pic.Bad(); bad != nil {
		m.bad = Listed(bad)
		p.Identity = s.Identity(p.Identity, m.Sample, UnusedHash(bad))
		return nil
	}
	if err := p.Reserve(pic.Size); err != nil {
		return err
	}
	data, hash, input, err := s.Read(ctx, m, pic)
	if err != nil {
		if s.EndsRun(err) {
			return err
		}
		p.Identity = s.Identity(p.Identity, m.Sample, Unread)
		m.bad = Listed(s.Unusable(m.Sample, "read", origin.WithoutPath(err)))
		return nil
	}
	p.BytesIn += int64(len(data))
	p.Identity = s.Identity(p.Identity, m.Sample, hash)
	p.AddInputs(input, m.MaskInput)
	partnerFault, err := s.readPartners(ctx, m, p)
	if err != nil {
		return err
	}
	info, err := s.codec.Stat(data)
	if err != nil {
		m.bad = s.Unusable(m.Sample, "decode", err)
		return nil
	}
	if s.leavesOut(info.Oriented()) { // whatever its partners are
		m.filtered = true
		return nil
	}
	need := s.memory(info, len(data)) + 2*m.beside.Size() // in the record, and in its frame
	need += s.annotationMemory(pic, info, s.carriedMasks(m))
	fault := partnerFault
	if len(m.partners) > 0 && fault == nil {
		var more int64
		more, fault = s.drawMixture(m, info)
		need += more
	}
	if err := p.Reserve(need); err != nil {
		return err
	}
	if fault == nil {
		fault = s.develop(m, data, info)
	}
	switch {
	case fault == nil:
		fault = s.annotate(m, p, info)
	case fault.partner:
		s.placeOwnObjects(m, p, s.Placement(m, info)) // for their faults
	}
	if fault != nil {
		m.bad, m.waits = s.Unusable(m.Sample, fault.Stage, fault.Err), false
		m.bad.Listed = fault.partner && fault.Stage == "read"
	}
	return nil
}

// end encodes the resulting image and makes the record.
func (s *Maker) end(m *Work, p *plan.Piece) {
	p.Identity = s.strand(p.Identity, m)
	if m.bad == nil && !m.filtered {
		if fault := s.store(m); fault != nil {
			m.bad = s.Unusable(m.Sample, fault.Stage, fault.Err)
		} else if int64(len(m.out.data)) > int64(origin.MaxStored-len(m.Objects.masks))-s.keypointBytes()*int64(len(m.Objects.placed)) {
			m.bad = s.Unusable(m.Sample, "encode", fmt.Errorf("with its masks and keypoints, %w", origin.ErrSize))
		}
	}
	switch {
	case m.bad != nil:
		p.Bad = append(p.Bad, *m.bad)
		if s.isLoose(m.Sample) {
			p.Dropped++
		}
	case m.filtered:
		p.Filtered++
		p.Dropped += m.Objects.Dropped
	default:
		if s.Decodes {
			m.out.decoder = s.decoderOf(m)
		}
		s.build(m)
		s.frame(m, p)
		countDepth(p, m)
		p.Annotations += int64(len(m.Objects.placed))
		p.Dropped += m.Objects.Dropped
		if s.CountsLabels() {
			p.Labels = append(p.Labels, s.Images[m.Sample.Image].ID)
		}
	}
}

// Unusable returns a ledger entry.
func (s *Set) Unusable(sample Sample, stage string, err error) *setdir.BadSample {
	return &setdir.BadSample{
		Key: jsontext.Readable(s.Key(sample)), Source: jsontext.Readable(s.Origin.Source(&s.Images[sample.Image])),
		Stage: stage, Reason: err.Error(),
	}
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

// develop decodes an image and prepares the steps that the options require. An image that is kept is
// finished.
func (s *Maker) develop(m *Work, data []byte, info augment.Info) *Fault {
	var err error
	m.info = info
	switch keep := s.Options.Encode.Format == options.Keep; {
	case keep && info.Keepable:
		if !s.Options.Encode.NoCheck {
			if info, err = s.codec.Check(data); err != nil {
				return &Fault{Stage: "decode", Err: err}
			}
		}
		m.out = stored{data: data, format: string(info.Format), width: info.Width, height: info.Height, channels: info.Channels, deep: info.Deep, orientation: info.Orientation}
		return nil
	case keep && info.Deep:
		return s.keepDeep(m, data)
	}
	draw := m.mixture
	if len(m.partners) == 0 {
		draw = s.Draw(m, info)
	}
	if s.Options.Augment.Policy != nil {
		if m.out.ops, err = json.Marshal(draw); err != nil {
			return &Fault{Stage: "transform", Err: err}
		}
	}
	if fault := s.decodePartners(m); fault != nil {
		return fault
	}
	if err := s.decode(m, data, draw, info); err != nil {
		return &Fault{Stage: "decode", Err: err}
	}
	return nil
}

// keepDeep stores an image of more than 8 bits a sample as a PNG of 16.
func (s *Maker) keepDeep(m *Work, data []byte) *Fault {
	var err error
	if m.encoded, _, err = s.codec.AppendDeepPNG(m.encoded[:0], data); err != nil {
		return &Fault{Stage: "decode", Err: err}
	}
	if err := checkStored(m.encoded, string(options.PNG)); err != nil {
		return &Fault{Stage: "encode", Err: err}
	}
	w, h := m.info.Oriented()
	m.out = stored{data: m.encoded, format: string(options.PNG), width: w, height: h, channels: m.info.Channels, deep: true, orientation: 1}
	return nil
}

// store encodes the resulting image, unless the original is kept.
func (s *Maker) store(m *Work) *Fault {
	if m.out.data != nil {
		return nil
	}
	if m.waits && m.Task.Err != nil {
		return &Fault{Stage: "transform", Err: m.Task.Err}
	}
	out, err := s.encode(m)
	if err != nil {
		return &Fault{Stage: "encode", Err: err}
	}
	out.ops = m.out.ops
	m.out = out
	return nil
}

// leavesOut reports whether an option drops images of this size.
func (s *Maker) leavesOut(w, h int) bool {
	short, long := min(w, h), max(w, h)
	return short < s.Options.Select.MinSize || s.Options.Select.MaxAspect > 0 && float64(long) > s.Options.Select.MaxAspect*float64(short)
}
