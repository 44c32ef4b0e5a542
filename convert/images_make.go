package convert

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

// sampleMaker makes records of samples.
type sampleMaker struct {
	*imageSet
	placer
	recordMaker
	codec   *augment.Codec
	backend augment.Backend
	decodes bool // the backend decodes JPEGs
	decoded plan.Tally
	workers int          // goroutines that make records
	busy    atomic.Int64 // workers with a task, and those that help to decode
}

// newSampleMaker returns a maker of records on this backend.
func newSampleMaker(set *imageSet, codec *augment.Codec, backend augment.Backend) *sampleMaker {
	return &sampleMaker{imageSet: set, placer: placer{set, codec}, recordMaker: recordMaker{set}, codec: codec, backend: backend}
}

// sampleWork is a sample being made into a record, with memory that is reused for the next one.
type sampleWork struct {
	sample   sample
	fetched  *fetch        // from a store; nil without fetching ahead
	beside   origin.Beside // stored with the image; valid as long as its file
	out      stored
	filtered bool
	bad      *setdir.BadSample
	// waits means that the task must run before there is something to encode.
	waits bool
	task  augment.Task
	input int // size of the JPEG that the backend decodes; 0 for others
	info  augment.Info
	alone bool // nothing else goes into its piece
	large largeResult

	file    []byte
	planes  augment.Planes
	decoded augment.Image
	resize  augment.Scratch
	encoded []byte
	record  recordBuilder

	objects      sampleObjects
	followed     followed      // of a record
	maskFile     []byte        // of the mask of classes
	maskInput    setdir.Input  // its identity; its key is empty if it may have changed
	segmentation []byte        // the mask as it is stored
	drawn        augment.Image // a mask as it is annotated
	maskTask     augment.Task

	// Of a variant that is mixed with other images, and of these.
	partners []*sampleWork
	mixture  augment.Draw // with the partners' images
	channels int          // of all of the images; 0 without partners
	data     []byte       // the image of a partner
}

var makings = sync.Pool{New: func() any { return new(sampleWork) }}

func getSampleWork(sample sample) *sampleWork {
	m := makings.Get().(*sampleWork)
	m.sample, m.fetched, m.beside, m.out, m.filtered, m.bad, m.waits, m.alone = sample, nil, origin.Beside{}, stored{}, false, nil, false, false
	m.task.Image, m.task.Planes, m.task.JPEGInfo, m.input = nil, nil, augment.Info{}, 0
	m.objects.reset()
	m.followed.active, m.followed.movesMasks = false, false
	m.maskInput = setdir.Input{}
	m.partners, m.mixture, m.channels = m.partners[:0], augment.Draw{}, 0
	return m
}

// newSampleWork begins a sample with its partners, given what was fetched ahead for them, if
// anything was.
func (s *sampleMaker) newSampleWork(sample sample, fetched []*fetch) *sampleWork {
	m := getSampleWork(sample)
	for _, image := range s.partners(sample) {
		m.partners = append(m.partners, getSampleWork(sampleOf(image)))
	}
	for i, f := range fetched {
		if i == 0 {
			m.fetched = f
		} else {
			m.partners[i-1].fetched = f
		}
	}
	return m
}

// sampleOf is the sample of an original.
func sampleOf(image int32) sample { return sample{image: image} }

// putSampleWork keeps the memory for reuse, unless a huge image has grown it.
func putSampleWork(m *sampleWork) {
	if m.fetched != nil {
		if m.fetched.mask.wanted {
			m.maskFile = nil // it is the fetcher's
		}
		m.fetched.done()
		m.fetched = nil
	}
	for _, partner := range m.partners {
		putSampleWork(partner)
	}
	m.partners, m.mixture, m.data = m.partners[:0], augment.Draw{}, nil
	m.large.free()
	m.task.Draw, m.maskTask.Draw = augment.Draw{}, augment.Draw{} // they may hold images of partners
	m.resize.Trim()
	planes := cap(m.planes.Y.Pix) + cap(m.task.YCbCr.Y.Pix) + 4*cap(m.task.Floats)
	if t := &m.task; m.input > 0 && t.Image != nil {
		planes += cap(t.Image.Pix)
	} else if m.input > 0 && t.Planes != nil {
		planes += 3 * cap(t.Planes.Y.Pix)
	}
	masks := cap(m.drawn.Pix) + cap(m.maskTask.Pixels.Pix) + cap(m.objects.masks) + cap(m.segmentation) + cap(m.maskFile)
	if planes+masks+cap(m.file)+cap(m.decoded.Pix)+cap(m.task.Pixels.Pix)+cap(m.encoded) <= 4*plan.KeepFrames {
		makings.Put(m)
	}
}

// batchBytes bounds the size of a batch of decoded images: at that size it runs before it is full.
const batchBytes = 32 << 20

// make makes the records of consecutive samples, or records in the piece why there are none, in
// batches of the size that suits the backend. The images come from fetched, if that is not nil.
func (s *sampleMaker) make(ctx context.Context, samples []sample, fetched [][]*fetch, p *plan.Piece) error {
	p.Samples = 0
	batch := make([]*sampleWork, 0, len(samples))
	held := 0
	for i, sample := range samples {
		if !s.isLoose(sample) {
			p.Samples++
		}
		var ahead []*fetch
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
			putSampleWork(m)
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
func (s *sampleMaker) render(batch []*sampleWork) error {
	tasks := make([]*augment.Task, 0, len(batch))
	for _, m := range batch {
		if m.waits {
			tasks = append(tasks, &m.task)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	return s.backend.Render(tasks)
}

// begin reads and decodes an image. An error ends the run.
func (s *sampleMaker) begin(ctx context.Context, m *sampleWork, p *plan.Piece) error {
	pic := &s.images[m.sample.image]
	if bad := pic.Bad(); bad != nil {
		m.bad = listed(bad)
		p.Identity = s.identity(p.Identity, m.sample, unusedHash(bad))
		return nil
	}
	if err := p.Reserve(pic.Size); err != nil {
		return err
	}
	data, hash, input, err := s.read(ctx, m, pic)
	if err != nil {
		if s.endsRun(err) {
			return err
		}
		p.Identity = s.identity(p.Identity, m.sample, unread)
		m.bad = listed(s.unusable(m.sample, "read", origin.WithoutPath(err)))
		return nil
	}
	p.BytesIn += int64(len(data))
	p.Identity = s.identity(p.Identity, m.sample, hash)
	p.AddInputs(input, m.maskInput)
	partnerFault, err := s.readPartners(ctx, m, p)
	if err != nil {
		return err
	}
	info, err := s.codec.Stat(data)
	if err != nil {
		m.bad = s.unusable(m.sample, "decode", err)
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
		s.placeOwnObjects(m, p, s.placement(m, info)) // for their faults
	}
	if fault != nil {
		m.bad, m.waits = s.unusable(m.sample, fault.stage, fault.err), false
		m.bad.Listed = fault.partner && fault.stage == "read"
	}
	return nil
}

// end encodes the resulting image and makes the record.
func (s *sampleMaker) end(m *sampleWork, p *plan.Piece) {
	p.Identity = s.strand(p.Identity, m)
	if m.bad == nil && !m.filtered {
		if fault := s.store(m); fault != nil {
			m.bad = s.unusable(m.sample, fault.stage, fault.err)
		} else if int64(len(m.out.data)) > int64(origin.MaxStored-len(m.objects.masks))-s.keypointBytes()*int64(len(m.objects.placed)) {
			m.bad = s.unusable(m.sample, "encode", fmt.Errorf("with its masks and keypoints, %w", origin.ErrSize))
		}
	}
	switch {
	case m.bad != nil:
		p.Bad = append(p.Bad, *m.bad)
		if s.isLoose(m.sample) {
			p.Dropped++
		}
	case m.filtered:
		p.Filtered++
		p.Dropped += m.objects.dropped
	default:
		if s.decodes {
			m.out.decoder = s.decoderOf(m)
		}
		s.build(m)
		s.frame(m, p)
		countDepth(p, m)
		p.Annotations += int64(len(m.objects.placed))
		p.Dropped += m.objects.dropped
		if s.countsLabels() {
			p.Labels = append(p.Labels, s.images[m.sample.image].ID)
		}
	}
}

// unusable returns a ledger entry.
func (s *imageSet) unusable(sample sample, stage string, err error) *setdir.BadSample {
	return &setdir.BadSample{
		Key: jsontext.Readable(s.key(sample)), Source: jsontext.Readable(s.origin.Source(&s.images[sample.image])),
		Stage: stage, Reason: err.Error(),
	}
}

// fault is the error of a sample, and the stage that found it.
type fault struct {
	stage   string
	err     error
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
func (s *sampleMaker) develop(m *sampleWork, data []byte, info augment.Info) *fault {
	var err error
	m.info = info
	switch keep := s.o.Encode.Format == options.Keep; {
	case keep && info.Keepable:
		if !s.o.Encode.NoCheck {
			if info, err = s.codec.Check(data); err != nil {
				return &fault{stage: "decode", err: err}
			}
		}
		m.out = stored{data: data, format: string(info.Format), width: info.Width, height: info.Height, channels: info.Channels, deep: info.Deep, orientation: info.Orientation}
		return nil
	case keep && info.Deep:
		return s.keepDeep(m, data)
	}
	draw := m.mixture
	if len(m.partners) == 0 {
		draw = s.draw(m, info)
	}
	if s.o.Augment.Policy != nil {
		if m.out.ops, err = json.Marshal(draw); err != nil {
			return &fault{stage: "transform", err: err}
		}
	}
	if fault := s.decodePartners(m); fault != nil {
		return fault
	}
	if err := s.decode(m, data, draw, info); err != nil {
		return &fault{stage: "decode", err: err}
	}
	return nil
}

// keepDeep stores an image of more than 8 bits a sample as a PNG of 16.
func (s *sampleMaker) keepDeep(m *sampleWork, data []byte) *fault {
	var err error
	if m.encoded, _, err = s.codec.AppendDeepPNG(m.encoded[:0], data); err != nil {
		return &fault{stage: "decode", err: err}
	}
	if err := checkStored(m.encoded, string(options.PNG)); err != nil {
		return &fault{stage: "encode", err: err}
	}
	w, h := m.info.Oriented()
	m.out = stored{data: m.encoded, format: string(options.PNG), width: w, height: h, channels: m.info.Channels, deep: true, orientation: 1}
	return nil
}

// store encodes the resulting image, unless the original is kept.
func (s *sampleMaker) store(m *sampleWork) *fault {
	if m.out.data != nil {
		return nil
	}
	if m.waits && m.task.Err != nil {
		return &fault{stage: "transform", err: m.task.Err}
	}
	out, err := s.encode(m)
	if err != nil {
		return &fault{stage: "encode", err: err}
	}
	out.ops = m.out.ops
	m.out = out
	return nil
}

// leavesOut reports whether an option drops images of this size.
func (s *sampleMaker) leavesOut(w, h int) bool {
	short, long := min(w, h), max(w, h)
	return short < s.o.Select.MinSize || s.o.Select.MaxAspect > 0 && float64(long) > s.o.Select.MaxAspect*float64(short)
}
