package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// A piece has up to mostSamples samples, and ends when their sizes exceed pieceBytes.
const (
	mostSamples = 64
	pieceBytes  = 1 << 20
)

// Pieces implements plan.Source.
func (s *source) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	return func(yield func(plan.Fill, error) bool) {
		for rest := s.samples[shard]; len(rest) > 0; {
			n, bytes := 0, int64(0)
			for n < len(rest) && n < mostSamples && (n == 0 || bytes < pieceBytes) {
				bytes += rest[n].Size
				n++
			}
			part := rest[:n]
			rest = rest[n:]
			if !yield(func(p *plan.Piece) error { return s.fill(ctx, part, p) }, nil) {
				return
			}
		}
	}
}

// maker holds the memory of one goroutine that makes records.
type maker struct {
	b       tfrecord.Builder
	record  []byte
	example tfrecord.Example
}

var makers = sync.Pool{New: func() any { return new(maker) }}

// fill makes the records of some samples.
func (s *source) fill(ctx context.Context, samples []Sample, p *plan.Piece) error {
	m := makers.Get().(*maker)
	defer makers.Put(m)
	for i := range samples {
		one := &samples[i]
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.Samples++
		p.Identity = one.identity(p.Identity)
		err := s.make(ctx, one, m)
		var bad *SampleError
		if errors.As(err, &bad) {
			p.Bad = append(p.Bad, setdir.BadSample{Key: one.Key, Source: cmp.Or(one.Origin, one.Key), Stage: bad.stage(), Reason: bad.Err.Error()})
			continue
		}
		if err != nil {
			return fmt.Errorf("make sample %q: %w", one.Key, err)
		}
		p.Frame(m.record)
		p.BytesIn += int64(len(m.record))
		if id, ok := s.o.label(&m.example); ok {
			p.Labels = append(p.Labels, id)
		}
	}
	return nil
}

// make makes the record of a sample in m.record, which m.example has parsed.
func (s *source) make(ctx context.Context, one *Sample, m *maker) error {
	m.b.Reset()
	if err := s.src.Make(ctx, *one, &m.b); err != nil {
		return err
	}
	m.record = m.b.Append(m.record[:0])
	err := m.example.Parse(m.record)
	if err == nil {
		err = s.o.checkRecord(&m.example)
	}
	if err != nil {
		return &SampleError{Stage: "encode", Err: err}
	}
	return nil
}

// label returns the id of the label that manifests count: of the first feature of labels. It returns
// false for a record without one.
func (o *Options) label(e *tfrecord.Example) (id int32, ok bool) {
	if len(o.Labels) == 0 {
		return 0, false
	}
	first := slices.IndexFunc(o.Features, func(f manifest.Feature) bool { return f.Class == manifest.ClassLabel })
	value, ok := e.Get(o.Features[first].Key)
	if !ok || value.Len() != 1 {
		return 0, false
	}
	n, ok := value.Int64()
	return int32(n), ok
}

// checkRecord returns an error for a record that contradicts the stated features.
func (o *Options) checkRecord(e *tfrecord.Example) error {
	known := 0
	for i := range o.Features {
		f := &o.Features[i]
		value, ok := e.Get(f.Key)
		if !ok || value.Kind() == tfrecord.KindNone {
			if !f.Optional {
				return fmt.Errorf("it has no feature %q", f.Key)
			}
			continue
		}
		known++
		if kind := value.Kind().String(); kind != f.Kind {
			return fmt.Errorf("its feature %q is %s, and is stated as %s", f.Key, kind, f.Kind)
		}
		if want := f.Values(); want >= 0 && want != value.Len() {
			return fmt.Errorf("its feature %q has %d values, and is stated with %d", f.Key, value.Len(), want)
		}
		if f.Class == manifest.ClassLabel {
			for id := range value.Int64List() {
				if id < labels.Unlabelled || id >= int64(len(o.Labels)) {
					return fmt.Errorf("its label %d is not an id of the %d names, nor -1", id, len(o.Labels))
				}
			}
		}
	}
	if known == e.Len() {
		return nil
	}
	for i := range e.Len() {
		key, value := e.At(i)
		if value.Kind() != tfrecord.KindNone && !o.states(string(key)) {
			return fmt.Errorf("its feature %q is not stated", key)
		}
	}
	return nil
}

// states reports whether a feature is among those that are stated.
func (o *Options) states(key string) bool {
	for i := range o.Features {
		if o.Features[i].Key == key {
			return true
		}
	}
	return false
}
