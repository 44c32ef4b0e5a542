package imagerecord

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/sample"
)

// newSampleWork begins a sample with its partners, given what was fetched ahead for them, if
// anything was.
func (s *Maker) newSampleWork(one sample.Sample, fetched []*prefetch.Fetch) *Work {
	m := GetWork(one)
	for _, image := range s.Partners(one) {
		m.partners = append(m.partners, GetWork(sample.Of(image)))
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

// batchBytes bounds the size of a batch of decoded images: at that size it runs before it is full.
const batchBytes = 32 << 20

// Make makes the records of consecutive samples, or records in the piece why there are none, in
// batches of the size that suits the backend. The images come from fetched, if that is not nil.
func (s *Maker) Make(ctx context.Context, samples []sample.Sample, fetched [][]*prefetch.Fetch, p *plan.Piece) error {
	p.Samples = 0
	batch := make([]*Work, 0, len(samples))
	held := 0
	for i, one := range samples {
		if !s.IsLoose(one) {
			p.Samples++
		}
		var ahead []*prefetch.Fetch
		if fetched != nil {
			ahead = fetched[i]
		}
		m := s.newSampleWork(one, ahead)
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
		m.bad = sample.Listed(bad)
		p.Identity = s.Identity(p.Identity, m.Sample, sample.UnusedHash(bad))
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
		p.Identity = s.Identity(p.Identity, m.Sample, sample.Unread)
		m.bad = sample.Listed(s.Unusable(m.Sample, "read", origin.WithoutPath(err)))
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
	need += s.Placer().Memory(pic, info, s.carriedMasks(m))
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
		s.placeOwnObjects(m, p, s.Mapping(m, info)) // for their faults
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
		} else if int64(len(m.out.data))+s.Placer().Stored(&m.Objects) > origin.MaxStored {
			m.bad = s.Unusable(m.Sample, "encode", fmt.Errorf("with its masks and keypoints, %w", origin.ErrSize))
		}
	}
	switch {
	case m.bad != nil:
		p.Bad = append(p.Bad, *m.bad)
		if s.IsLoose(m.Sample) {
			p.Dropped++
		}
	case m.filtered:
		p.Filtered++
		p.Dropped += m.Objects.Dropped
	default:
		if s.Decodes {
			m.out.decoder = s.decoderOf(m)
		}
		m.Record.build(s.Set, m, s.Placer())
		m.Record.frame(s.Set, m, p)
		countDepth(p, m)
		if m.info.Alpha && s.Options.Codec.Background == nil {
			p.AlphaDropped++
		}
		p.Annotations += int64(m.Objects.Len())
		p.Dropped += m.Objects.Dropped
		if s.CountsLabels() {
			p.Labels = append(p.Labels, s.Images[m.Sample.Image].ID)
		}
	}
}

// leavesOut reports whether an option drops images of this size.
func (s *Maker) leavesOut(w, h int) bool {
	short, long := min(w, h), max(w, h)
	return short < s.Options.Select.MinSize || s.Options.Select.MaxAspect > 0 && float64(long) > s.Options.Select.MaxAspect*float64(short)
}

// countDepth counts a record by the bits of its samples, as stored and in its source images.
func countDepth(p *plan.Piece, m *Work) {
	hasMore := func(m *Work) bool { return m.info.Deep || m.info.Floats }
	switch {
	case m.out.deep:
		p.Deep++
	case hasMore(m), slices.ContainsFunc(m.partners, hasMore):
		p.Narrowed++
	}
}
