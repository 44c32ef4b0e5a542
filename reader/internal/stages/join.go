package stages

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// join returns the set of the files of all pipes, one pipe after another, and a pipe of it whose
// first stage is fed by them.
func join(kind, name string, pipes []Pipe, open func(r *pipeline.Run, in []input) (pipeline.Stage, error)) Pipe {
	all := fileset.NewJoined()
	pipes = slices.Clone(pipes)
	first := &pipeline.Link{Name: name, Passes: 1}
	for _, p := range pipes {
		if p.Set == nil {
			continue // refused below
		}
		first.Inputs = append(first.Inputs, p.Last)
		if len(all.Joined) == 0 {
			first.Passes = p.Last.Passes
		}
		all.Join(p.Set)
		if p.Last.Passes != first.Passes {
			first.Passes = -1
		}
		first.Repeats = first.Repeats || p.Last.AnyRepeats()
	}
	first.Open = func(r *pipeline.Run, _ pipeline.Stage) (pipeline.Stage, error) {
		in, err := openInputs(r, kind, pipes)
		if err != nil {
			return nil, err
		}
		return open(r, in)
	}
	return Pipe{all, first}
}

// input is a running pipeline that feeds a stage.
type input struct {
	pipeline.Stage
	sections int   // of its position: one for each of its stages
	file     int32 // index of its first file in the set of the run

	ended bool              // io.EOF was returned, and the stage stopped
	at    pipeline.Position // of the current block, with all sections; nil at the beginning of the epoch
	i     int               // elements after it that were taken
	blk   *pipeline.Block   // the current block; nil if the next one has to be fetched
	held  int64             // number of the block that adopted blk last
}

// openInputs opens the pipes that feed the stage whose name was added last, of a kind.
func openInputs(r *pipeline.Run, kind string, pipes []Pipe) ([]input, error) {
	if len(pipes) == 0 {
		return nil, fmt.Errorf("reader: %s without a Pipe: want one or more", kind)
	}
	own := r.Names[len(r.Names)-1]
	r.Names = r.Names[:len(r.Names)-1]
	in, file := make([]input, len(pipes)), int32(0)
	for i, p := range pipes {
		if p.Set == nil {
			return nil, fmt.Errorf("reader: %s: pipe %d has no Set: begin with Open", kind, i)
		}
		o, first := p.Set.Opts, pipes[0].Set.Opts
		if o.Worker != first.Worker || o.Workers != first.Workers {
			return nil, fmt.Errorf("reader: %s: pipe %d is of worker %d of %d, pipe 0 of %d of %d: open all sets for the same worker",
				kind, i, o.Worker, o.Workers, first.Worker, first.Workers)
		}
		of, err := r.Input(p.Set, o, r.Opts, len(pipes))
		if err != nil {
			return nil, err
		}
		// A block of Mix spans stretches of the weights of another one before it.
		of.Rereads = of.Rereads || kind == "Mix"
		s, err := p.Last.Build(of)
		if err != nil {
			return nil, err
		}
		in[i] = input{Stage: s, sections: len(of.Names), file: file}
		r.Names = append(r.Names, of.Names...)
		r.Calls = r.Calls || of.Calls
		file += int32(len(p.Set.Sources()))
	}
	r.Names = append(r.Names, own)
	return in, nil
}

// begin starts the input: lead elements after a position, or at the beginning of the epoch if at is
// nil.
func (in *input) begin(ctx context.Context, epoch int64, at pipeline.Position, lead int64) error {
	in.leave()
	if err := in.Start(ctx, epoch, at); err != nil {
		return err
	}
	in.at = slices.Clone(at)
	for left := lead; left > 0; {
		err := in.fill()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it is %d records past a position with only %d after it", pipeline.ErrState, lead, lead-left)
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
	b, err := in.Next()
	if err == io.EOF {
		in.ended = true
		in.Stop() // nothing more is needed of it in this epoch
	}
	if err != nil {
		return err
	}
	in.blk, in.i = b, 0
	in.at = b.At.Fill(in.at[:0], in.sections)
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
func (in *input) give(out *pipeline.Block, number int64) {
	if in.held != number {
		out.Adopt(in.blk)
		in.held = number
	}
	r := in.blk.Records[in.i]
	r.File += in.file
	out.Records = append(out.Records, r)
	in.take(1)
}

// end stops the input.
func (in *input) end() {
	in.Stop()
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
func (in *input) appendAt(dst pipeline.Position) pipeline.Position {
	if in.ended || in.at == nil {
		return pipeline.Position(nil).Fill(dst, in.sections)
	}
	return append(dst, in.at...)
}

// resume starts the input where place and appendAt said that it stood.
func (in *input) resume(ctx context.Context, epoch int64, at pipeline.Position, place int64) error {
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
