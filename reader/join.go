package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// join returns the set of the files of all pipes, one pipe after another, and a pipe of it whose
// first stage is fed by them.
func join(kind, name string, pipes []Pipe, open func(r *run, in []input) (stage, error)) Pipe {
	all := &Set{files: &files{}}
	first := &link{name: name, inputs: slices.Clone(pipes), passes: 1}
	for _, p := range pipes {
		if p.set == nil {
			continue // refused below
		}
		if len(all.joined) == 0 {
			all.opts, first.passes = p.set.opts, p.last.passes
		} else {
			all.opts.SkipBad.Count = all.opts.SkipBad.count() + p.set.opts.SkipBad.count()
			all.opts.SkipBad.Share = max(all.opts.SkipBad.Share, p.set.opts.SkipBad.Share)
		}
		if p.last.passes != first.passes {
			first.passes = -1
		}
		first.repeats = first.repeats || p.last.anyRepeats()
		p.set.mu.Lock()
		all.sources = append(all.sources, p.set.sources...)
		all.stamps = append(all.stamps, p.set.stamps...)
		all.indexes = append(all.indexes, p.set.indexes...)
		p.set.mu.Unlock()
		all.joined = append(all.joined, p.set)
	}
	first.open = func(r *run, _ stage) (stage, error) {
		in, err := openInputs(r, kind, first.inputs)
		if err != nil {
			return nil, err
		}
		return open(r, in)
	}
	return Pipe{all, first}
}

// anyRepeats reports whether there is a Repeat in the stage or before it.
func (l *link) anyRepeats() bool {
	for ; l != nil; l = l.prev {
		if l.repeats {
			return true
		}
	}
	return false
}

// Set returns the set that [Record.File] of the records of the pipe refers to. After [Mix] and
// [Concat] it has the files of all their pipes, and [Set.Input] tells them apart; to read it in
// another order, open the sets again.
func (p Pipe) Set() *Set { return p.set }

// Input returns which of the pipes of [Mix] or [Concat] the record came from, counted from 0. For a
// set of Open it is 0.
func (s *Set) Input(r Record) int {
	n, end := len(s.joined), 0
	for i, of := range s.joined {
		if end += len(of.sources); int(r.File) < end {
			return i
		}
	}
	return max(n-1, 0)
}

// errJoined refuses to read the set of a joined pipe in another order.
var errJoined = errors.New("reader: the Set of a Mix or Concat has files of several sets, with options of their own: open the files as one set")

// input is a running pipeline that feeds a stage.
type input struct {
	stage
	sections int   // of its position: one for each of its stages
	file     int32 // index of its first file in the set of the run

	ended bool     // io.EOF was returned, and the stage stopped
	at    position // of the current block, with all sections; nil at the beginning of the epoch
	i     int      // elements after it that were taken
	blk   *Block   // the current block; nil if the next one has to be fetched
	held  int64    // number of the block that adopted blk last
}

// openInputs opens the pipes that feed the stage whose name was added last, of a kind.
func openInputs(r *run, kind string, pipes []Pipe) ([]input, error) {
	if len(pipes) == 0 {
		return nil, fmt.Errorf("reader: %s without a Pipe: want one or more", kind)
	}
	own := r.names[len(r.names)-1]
	r.names = r.names[:len(r.names)-1]
	in, file := make([]input, len(pipes)), int32(0)
	for i, p := range pipes {
		if p.set == nil {
			return nil, fmt.Errorf("reader: %s: pipe %d has no Set: begin with Open", kind, i)
		}
		o, first := p.set.opts, pipes[0].set.opts
		if o.Worker != first.Worker || o.Workers != first.Workers {
			return nil, fmt.Errorf("reader: %s: pipe %d is of worker %d of %d, pipe 0 of %d of %d: open all sets for the same worker",
				kind, i, o.Worker, o.Workers, first.Worker, first.Workers)
		}
		if err := p.set.identify(r.ctx); err != nil {
			return nil, err
		}
		of, err := r.input(p.set, r.set.opts, len(pipes))
		if err != nil {
			return nil, err
		}
		// A block of Mix spans stretches of the weights of another one before it.
		of.rereads = of.rereads || kind == "Mix"
		s, err := p.last.build(of)
		if err != nil {
			return nil, err
		}
		in[i] = input{stage: s, sections: len(of.names), file: file}
		r.names = append(r.names, of.names...)
		file += int32(len(p.set.sources))
	}
	r.names = append(r.names, own)
	return in, nil
}

// begin starts the input: lead elements after a position, or at the beginning of the epoch if at is
// nil.
func (in *input) begin(ctx context.Context, epoch int64, at position, lead int64) error {
	in.leave()
	if err := in.start(ctx, epoch, at); err != nil {
		return err
	}
	in.at = slices.Clone(at)
	for left := lead; left > 0; {
		err := in.fill()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it is %d records past a position with only %d after it", ErrState, lead, lead-left)
		}
		if err != nil {
			return err
		}
		n := min(left, int64(len(in.blk.Records)-in.i))
		in.take(int(n))
		left -= n
	}
	return nil
}

// fill ensures that there is a next element; io.EOF at the end of the epoch.
func (in *input) fill() error {
	if in.ended {
		return io.EOF
	}
	if in.blk != nil {
		return nil
	}
	b, err := in.next()
	if err == io.EOF {
		in.ended = true
		in.stop() // nothing more is needed of it in this epoch
	}
	if err != nil {
		return err
	}
	in.blk, in.i = b, 0
	in.at = b.at.fill(in.at[:0], in.sections)
	return nil
}

// take moves past n elements of the current block.
func (in *input) take(n int) {
	in.i += n
	if in.i == len(in.blk.Records) {
		in.blk.Release()
		in.blk, in.held = nil, 0
	}
}

// give moves the next element to out, which is block number of its stage, from 1.
func (in *input) give(out *Block, number int64) {
	if in.held != number {
		out.adopt(in.blk)
		in.held = number
	}
	r := in.blk.Records[in.i]
	r.File += in.file
	out.Records = append(out.Records, r)
	in.take(1)
}

// end stops the input.
func (in *input) end() {
	in.stop()
	in.leave()
}

// leave forgets the epoch.
func (in *input) leave() {
	if in.blk != nil {
		in.blk.Release()
	}
	in.ended, in.at, in.blk, in.i, in.held = false, nil, nil, 0, 0
}

// Of an input in a position, instead of a number of elements after its own.
const (
	inputAtStart = -1
	inputEnded   = -2
)

// place returns where the input stands: the number of elements taken after the position that
// appendAt appends, or one of the constants.
func (in *input) place() int64 {
	switch {
	case in.ended:
		return inputEnded
	case in.at == nil && in.i == 0:
		return inputAtStart
	}
	return int64(in.i)
}

// appendAt appends the sections of the input to a position.
func (in *input) appendAt(dst position) position {
	if in.ended || in.at == nil {
		return position(nil).fill(dst, in.sections)
	}
	return append(dst, in.at...)
}

// resume starts the input where place and appendAt said that it stood.
func (in *input) resume(ctx context.Context, epoch int64, at position, place int64) error {
	switch {
	case place == inputEnded:
		in.end()
		in.ended = true
		return nil
	case place == inputAtStart:
		return in.begin(ctx, epoch, nil, 0)
	}
	return in.begin(ctx, epoch, at, place)
}
