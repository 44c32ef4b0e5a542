package flows

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// PadOptions are the options of Pad; the zero value pads with zeros to the longest sequence of a batch.
type PadOptions[N int32 | int64 | float32] struct {
	// Length pads to that many values. Default: the longest sequence of each batch.
	Length int
	// Boundaries, ascending, pad to one value less than the first boundary above the longest
	// sequence of a batch. The Boundaries of BucketOptions give as many shapes as there are
	// buckets. Not with Length.
	Boundaries []int
	// Value is the padding. Default: 0.
	Value N
}

// maxPadded bounds the values of a batch.
const maxPadded = 1 << 31

func (o *PadOptions[N]) check() error {
	switch {
	case o.Length < 0 || o.Length > maxPadded:
		return fmt.Errorf("reader: Pad to a Length of %d: want 1 to %d, or 0 for the longest of each batch", o.Length, maxPadded)
	case o.Length > 0 && o.Boundaries != nil:
		return fmt.Errorf("reader: Pad with a Length of %d and Boundaries: want one of them", o.Length)
	}
	for i, b := range o.Boundaries {
		if b < 2 || i > 0 && b <= o.Boundaries[i-1] {
			return fmt.Errorf("reader: Pad with the boundaries %v: want ascending numbers from 2", o.Boundaries)
		}
	}
	return nil
}

// length returns the length of the rows of a batch whose longest sequence has n values.
func (o *PadOptions[N]) length(n int) (int, error) {
	most := n
	if o.Length > 0 {
		most = o.Length
	} else if o.Boundaries != nil {
		i, _ := slices.BinarySearch(o.Boundaries, n+1)
		if i == len(o.Boundaries) {
			return 0, fmt.Errorf("reader: Pad: a sequence has %d values: want less than the last boundary, %d", n, o.Boundaries[len(o.Boundaries)-1])
		}
		most = o.Boundaries[i] - 1
	}
	if n > most {
		return 0, fmt.Errorf("reader: Pad: a sequence has %d values: want %d at most", n, most)
	}
	return most, nil
}

// PaddedBatch is a batch of sequences of the same length. It is valid until the next batch is
// requested, which reuses its memory: keep a Clone.
type PaddedBatch[N int32 | int64 | float32] struct {
	// Shape is {sequences, length}.
	Shape []int
	// Values of the sequences in row-major order, each followed by padding.
	Values []N
	// Lengths are the numbers of values of the sequences, without padding.
	Lengths []int64
	// Epoch is the epoch of the last record (see Record.Epoch); -1 if it is not known.
	Epoch int32

	place
}

// Clone returns a copy of the batch that stays valid, with its State.
func (b *PaddedBatch[N]) Clone() *PaddedBatch[N] {
	c := *b
	c.Shape, c.Values, c.Lengths = slices.Clone(b.Shape), slices.Clone(b.Values), slices.Clone(b.Lengths)
	c.place = CopyPlace(&b.place)
	return &c
}

func (b *PaddedBatch[N]) poison() {
	n := int64(pipeline.PoisonInt64)
	switch values := any(b.Values).(type) {
	case []float32:
		pipeline.Fill(values, pipeline.PoisonFloat)
	default:
		pipeline.Fill(b.Values, N(n))
	}
	pipeline.Fill(b.Lengths, n)
}

// Pad returns batches of sequences as tensors.
func Pad[N int32 | int64 | float32](f Flow[[][]N], o PadOptions[N]) Flow[*PaddedBatch[N]] {
	o.Boundaries = slices.Clone(o.Boundaries)
	return func(ctx context.Context, from pipeline.Origin) (Source[*PaddedBatch[N]], error) {
		if err := o.check(); err != nil {
			return nil, err
		}
		in, err := f.Begin(ctx, from)
		if err != nil {
			return nil, err
		}
		in.Running().Makes(fmt.Sprintf("pad(length=%d,boundaries=%v,value=%v)", o.Length, o.Boundaries, o.Value))
		return &padded[N]{Source: in, PadOptions: o, stats: in.Running().Stats("pad")}, nil
	}
}

// padded is a running Pad.
type padded[N int32 | int64 | float32] struct {
	Source[[][]N]
	PadOptions[N]
	stats *pipeline.Counters
	idle  idle[*Element[*PaddedBatch[N]]]
}

func (p *padded[N]) recycle() func(*PaddedBatch[N]) { return (*PaddedBatch[N]).poison }

func (p *padded[N]) Next() (*Element[*PaddedBatch[N]], error) {
	watch := p.stats.Watch()
	of, err := p.Source.Next()
	watch.Waited()
	if err != nil {
		return nil, err
	}
	defer of.Drop()
	longest := 0
	for _, s := range of.Value {
		longest = max(longest, len(s))
	}
	length, err := p.length(longest)
	if err == nil && len(of.Value) > maxPadded/max(length, 1) {
		err = fmt.Errorf("reader: Pad: %d sequences of %d values are too many for a batch", len(of.Value), length)
	}
	if err != nil {
		return nil, locateElement(p.Running(), of.Last(), err)
	}
	e := p.element()
	p.fill(e.Value, of.Value, length)
	e.Value.Epoch = of.Epoch()
	e.marks = append(e.marks, of.Last().retain())
	e.Value.place = PlaceAt(e.marks[0])
	p.stats.Elements.Add(1)
	watch.Busy()
	return e, nil
}

// element returns one to fill.
func (p *padded[N]) element() *Element[*PaddedBatch[N]] {
	if e, ok := p.idle.take(); ok {
		return e
	}
	e := &Element[*PaddedBatch[N]]{Value: &PaddedBatch[N]{}}
	e.free = func() {
		if p.Running().Opts.PoisonRecycled {
			e.Value.poison()
		}
		p.idle.put(e)
	}
	return e
}

// fill writes sequences to rows of a length.
func (p *padded[N]) fill(b *PaddedBatch[N], sequences [][]N, length int) {
	b.Shape = append(b.Shape[:0], len(sequences), length)
	b.Values, b.Lengths = Resized(b.Values, len(sequences)*length), Resized(b.Lengths, len(sequences))
	for i, s := range sequences {
		row := b.Values[i*length:][:length]
		for k := copy(row, s); k < length; k++ {
			row[k] = p.Value
		}
		b.Lengths[i] = int64(len(s))
	}
}
