package flows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// PackOptions are the options of [Pack].
type PackOptions struct {
	// Length is the number of tokens in a row, 1 or more.
	Length int
	// Batch is the number of rows in a batch. Default: 1.
	Batch int
	// OpenRows is the number of rows filled at the same time, 1 to 4096. More of them leave less
	// padding, take more memory, and hold sequences back longer. Default: 64.
	OpenRows int
	// Split divides a sequence longer than a row into pieces of Length tokens and a rest, each a
	// sequence of its own. Truncate keeps its first Length tokens. Default: such a sequence is an
	// error.
	Split, Truncate bool
	// Pad is the token of padding. Default: 0.
	Pad int32
	// DropRemainder drops a smaller last batch.
	DropRemainder bool
}

// PackedBatch is a batch of rows with several sequences each. It is valid until the next batch is
// requested, which reuses its memory: keep a Clone. Tokens, Segments and Positions are tensors of
// Shape in row-major order, which tensor libraries take without a copy.
type PackedBatch[N int32 | int64] struct {
	// Shape is {rows, length}.
	Shape []int
	// Tokens of the sequences, one after the other, then padding.
	Tokens []N
	// Segments are the numbers of the sequences in their row: 1, 2 and so on, 0 for padding.
	Segments []int32
	// Positions has the index of each token in its sequence, from 0; 0 for padding.
	Positions []int32
	// Filled is the number of tokens that are not padding: Filled / len(Tokens) is the share used.
	Filled int
	// Epoch is the epoch of the first sequence of the first row (see Record.Epoch).
	Epoch int32

	place
}

// Clone returns a copy of the batch that stays valid, with its State.
func (b *PackedBatch[N]) Clone() *PackedBatch[N] {
	c := *b
	c.Shape, c.Tokens = slices.Clone(b.Shape), slices.Clone(b.Tokens)
	c.Segments, c.Positions = slices.Clone(b.Segments), slices.Clone(b.Positions)
	c.place = CopyPlace(&b.place)
	return &c
}

func (b *PackedBatch[N]) poison() {
	n := int64(pipeline.PoisonInt64)
	pipeline.Fill(b.Tokens, N(n))
	pipeline.Fill(b.Segments, int32(n))
	pipeline.Fill(b.Positions, int32(n))
}

// Pack returns rows of tokens that sequences fill.
func Pack[N int32 | int64](f Flow[[]N], o PackOptions) Flow[*PackedBatch[N]] {
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.OpenRows == 0 {
		o.OpenRows = 64
	}
	return func(ctx context.Context, from pipeline.Origin) (Source[*PackedBatch[N]], error) {
		if err := o.check(); err != nil {
			return nil, err
		}
		in, at, err := beginStage(ctx, f, from, o.name(), 2, 1+o.Batch+o.OpenRows)
		if err != nil {
			return nil, err
		}
		in.Running().Makes(fmt.Sprintf("%s,pad=%d", o.name(), o.Pad))
		p := &packed[N]{PackOptions: o}
		p.replayed = replayed[[]N]{
			in: in, stage: flowStage{name: o.name()}, stats: in.Running().Stats("pack"),
			fill: p.fill, within: in.Running().Opts.BatchWithinEpoch,
		}
		if err := p.resume(at); err != nil {
			p.Close()
			return nil, err
		}
		return p, nil
	}
}

const (
	// MaxOpenRows bounds the length of a State.
	MaxOpenRows = 1 << 12
	// MaxPacked bounds the tokens of a batch, and of all open rows.
	MaxPacked = 1 << 28
)

func (o *PackOptions) check() error {
	switch {
	case o.Length < 1 || o.Length > MaxPacked:
		return fmt.Errorf("reader: Pack with a Length of %d: want 1 to %d", o.Length, MaxPacked)
	case o.Batch < 1 || o.Batch > MaxPacked/o.Length:
		return fmt.Errorf("reader: Pack with a Batch of %d rows of %d tokens: want 1 row or more, and at most %d tokens", o.Batch, o.Length, MaxPacked)
	case o.OpenRows < 1 || o.OpenRows > min(MaxOpenRows, MaxPacked/o.Length):
		return fmt.Errorf("reader: Pack with %d OpenRows of %d tokens: want 1 to %d, and at most %d tokens", o.OpenRows, o.Length, MaxOpenRows, MaxPacked)
	case o.Split && o.Truncate:
		return errors.New("reader: Pack with Split and Truncate: want one of them")
	}
	return nil
}

// name identifies the stage in a State.
func (o *PackOptions) name() string {
	name := fmt.Sprintf("pack(length=%d,batch=%d,open=%d", o.Length, o.Batch, o.OpenRows)
	if o.Split {
		name += ",split"
	}
	if o.Truncate {
		name += ",truncate"
	}
	if o.DropRemainder {
		name += ",drop"
	}
	return name + ")"
}

// packed is a running Pack.
type packed[N int32 | int64] struct {
	replayed[[]N]
	PackOptions
	rows    []*packedRow[N] // closed ones, in order, then open ones, oldest first
	closed  int
	resting bool // at the end of a pass: all are closed
	spare   []*packedRow[N]
	idle    idle[*Element[*PackedBatch[N]]]
}

func (p *packed[N]) recycle() func(*PackedBatch[N]) { return (*PackedBatch[N]).poison }

// packedRow is a row that was not given.
type packedRow[N int32 | int64] struct {
	tokens []N
	ends   []int   // of the sequences, in tokens
	before int     // tokens before the position that was resumed: they only count
	anchor *anchor // before its first sequence
	epoch  int32   // of its first sequence
}

func (r *packedRow[N]) len() int { return r.before + len(r.tokens) }

// fill appends the number of closed rows, and the number of tokens in each row.
func (p *packed[N]) fill(dst []int64) []int64 {
	dst = append(dst, int64(p.closed))
	for _, r := range p.rows {
		dst = append(dst, int64(r.len()))
	}
	return dst
}

func (p *packed[N]) resume(at []int64) error {
	p.begin(at)
	if at == nil {
		return nil
	}
	closed, lengths := at[1], at[2:]
	if closed >= int64(p.Batch) || closed > int64(len(lengths)) || len(lengths)-int(closed) > p.OpenRows {
		return pipeline.ErrPosition(p.stage.name)
	}
	for _, n := range lengths {
		if n < 1 || n > int64(p.Length) {
			return pipeline.ErrPosition(p.stage.name)
		}
		r := p.row()
		r.before = int(n)
		p.rows = append(p.rows, r)
	}
	p.closed = int(closed)
	if err := replay(&p.replayed, p, at[0]); err != nil {
		return err
	}
	for _, r := range p.rows {
		if r.before > 0 {
			return pipeline.ErrPosition(p.stage.name)
		}
	}
	return nil
}

func (p *packed[N]) Next() (*Element[*PackedBatch[N]], error) {
	for {
		if p.closed >= p.Batch {
			return p.give(p.Batch), nil
		}
		if p.resting {
			p.resting = false
			if p.closed > 0 && !p.DropRemainder {
				return p.give(p.closed), nil
			}
			p.drop(p.closed)
		}
		e, err := p.receive()
		if err != nil {
			return nil, err
		}
		if e == nil {
			p.closed, p.resting = len(p.rows), true
			continue
		}
		err = p.add(e)
		e.Drop()
		if err != nil {
			return nil, err
		}
	}
}

// add adds a sequence to the rows.
func (p *packed[N]) add(e *Element[[]N]) error {
	tokens := e.Value
	if len(tokens) > p.Length && !p.Split {
		if !p.Truncate {
			return locateElement(p.Running(), e.Last(), fmt.Errorf("a sequence of %d tokens, in rows of %d: set Split or Truncate in PackOptions", len(tokens), p.Length))
		}
		tokens = tokens[:p.Length]
	}
	var a *anchor
	if len(tokens) > p.Length || p.room(len(tokens)) == len(p.rows) {
		a = p.anchor()
	}
	p.arrived(e)
	for len(tokens) > 0 {
		n := min(len(tokens), p.Length)
		i := p.room(n)
		if i == len(p.rows) {
			if i-p.closed == p.OpenRows {
				p.closed++
			}
			r := p.row()
			r.anchor, r.epoch = a, e.Epoch()
			p.rows = append(p.rows, r)
		}
		r := p.rows[i]
		r.tokens = append(r.tokens, tokens[:n]...)
		r.ends = append(r.ends, len(r.tokens))
		tokens = tokens[n:]
		if r.len() == p.Length {
			copy(p.rows[p.closed+1:i+1], p.rows[p.closed:i])
			p.rows[p.closed] = r
			p.closed++
		}
	}
	return nil
}

// room returns the first open row with room for n tokens; len(p.rows) if there is none.
func (p *packed[N]) room(n int) int {
	for i := p.closed; i < len(p.rows); i++ {
		if p.rows[i].len()+n <= p.Length {
			return i
		}
	}
	return len(p.rows)
}

// row returns an empty row.
func (p *packed[N]) row() *packedRow[N] {
	if n := len(p.spare); n > 0 {
		r := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return r
	}
	return &packedRow[N]{tokens: make([]N, 0, p.Length)}
}

// give makes a batch of the first n rows.
func (p *packed[N]) give(n int) *Element[*PackedBatch[N]] {
	e, ok := p.idle.take()
	if !ok {
		e = &Element[*PackedBatch[N]]{Value: &PackedBatch[N]{}}
		e.free = func() {
			if p.Running().Opts.PoisonRecycled {
				e.Value.poison()
			}
			p.idle.put(e)
		}
	}
	b := e.Value
	size := n * p.Length
	b.Shape = append(b.Shape[:0], n, p.Length)
	b.Tokens, b.Segments, b.Positions = Resized(b.Tokens, size), Resized(b.Segments, size), Resized(b.Positions, size)
	b.Filled, b.Epoch = 0, p.rows[0].epoch
	for i, r := range p.rows[:n] {
		from, to := i*p.Length, (i+1)*p.Length
		r.write(b.Tokens[from:to], b.Segments[from:to], b.Positions[from:to], N(p.Pad))
		b.Filled += len(r.tokens)
	}
	p.drop(n)
	var oldest *anchor
	for _, r := range p.rows {
		if a := r.anchor; a != nil && (oldest == nil || a.came < oldest.came) {
			oldest = a
		}
	}
	b.place = PlaceAt(p.mark(oldest))
	e.marks = append(e.marks, b.place.mark)
	p.stats.Elements.Add(1)
	return e
}

// write writes the row of a batch.
func (r *packedRow[N]) write(tokens []N, segments, positions []int32, pad N) {
	n := copy(tokens, r.tokens)
	from := 0
	for i, to := range r.ends {
		for k := from; k < to; k++ {
			segments[k], positions[k] = int32(i+1), int32(k-from)
		}
		from = to
	}
	clear(segments[n:])
	clear(positions[n:])
	for i := range tokens[n:] {
		tokens[n+i] = pad
	}
}

// drop removes the first n rows, which are closed.
func (p *packed[N]) drop(n int) {
	for _, r := range p.rows[:n] {
		*r = packedRow[N]{tokens: r.tokens[:0], ends: r.ends[:0]}
	}
	if room := p.Batch + p.OpenRows - len(p.spare); room > 0 { // a long sequence has more rows
		p.spare = append(p.spare, p.rows[:min(n, room)]...)
	}
	p.rows = slices.Delete(p.rows, 0, n)
	p.closed -= n
}

// reset drops the held sequences and rows.
func (p *packed[N]) reset() {
	p.forget()
	p.closed, p.resting = len(p.rows), false
	p.drop(p.closed)
}

func (p *packed[N]) StartEpoch(epoch int64) error {
	p.reset()
	if err := p.in.StartEpoch(epoch); err != nil {
		return err
	}
	p.begin(nil)
	return nil
}

func (p *packed[N]) Close() {
	p.reset()
	p.end()
}
