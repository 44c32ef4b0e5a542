package reader

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Pipe describes a pipeline: a [Set] in some order, and stages on top. Pipes are values: each
// method returns a new one, and nothing is read before Start, Resume or All. An invalid setting is
// an error there.
type Pipe struct {
	set  *Set
	last *pipeline.Link
}

// then returns the pipe with the stages of last.
func (p Pipe) then(last *pipeline.Link) Pipe { return Pipe{p.set, last} }

// seed is the default seed of stages.
func (p Pipe) seed() uint64 {
	if p.set == nil {
		return 0
	}
	return p.set.files.Opts.Seed
}

// chain is the pipe for the stages of several sets, and for flows.
func (p Pipe) chain() stages.Pipe {
	if p.set == nil {
		return stages.Pipe{Last: p.last}
	}
	return stages.Pipe{Set: p.set.files, Last: p.last}
}

// chains are the pipes for the stages of several sets.
func chains(pipes []Pipe) []stages.Pipe {
	all := make([]stages.Pipe, len(pipes))
	for i, p := range pipes {
		all[i] = p.chain()
	}
	return all
}

// pipeOf is the pipe of a chain with a set.
func pipeOf(c stages.Pipe) Pipe { return Pipe{&Set{c.Set}, c.Last} }

// Set returns the set that [Record.File] of the records of the pipe refers to. After [Mix] and
// [Concat] it has the files of all their pipes, and [Set.Input] tells them apart; to read it in
// another order, open the sets again.
func (p Pipe) Set() *Set { return p.set }

// Start starts the pipeline at the beginning of epoch 0. The caller must Close the result; when ctx
// ends, Next returns its error.
func (p Pipe) Start(ctx context.Context) (*RecordStream, error) { return p.StartEpoch(ctx, 0) }

// StartEpoch starts the pipeline at the beginning of an epoch, counted from 0. An epoch is what the
// pipeline returns up to io.EOF; each one has its own order, and its own draws of
// [ImageSpec.Policy]. A job that starts a process per epoch passes the number of the epoch here:
// Start would repeat epoch 0. [RecordStream.NextEpoch] continues with the next epoch in the same
// run.
//
// With a [Pipe.Repeat] of n in the pipeline, epoch e begins with pass e*n over the set (pass e if n
// is -1), and [Record.Epoch] is the number of the pass.
func (p Pipe) StartEpoch(ctx context.Context, epoch int64) (*RecordStream, error) {
	return p.start(ctx, pipeline.Origin{Epoch: epoch})
}

// Resume starts the pipeline after what state records as received. A state of another dataset or of
// other stages is refused with [ErrState].
//
// A state is of one worker of a number of them. With a different number, all resume from what
// [MergeStates] makes of the states of all former workers. The state of a global order
// ([Set.ShuffleAll]) may be resumed so without the others if only Repeat follows it: all workers at
// the same step, from the state of any one of them. In both cases the rest of the epoch is divided
// among the new workers.
func (p Pipe) Resume(ctx context.Context, state State) (*RecordStream, error) {
	if len(state.Making) > 0 {
		return nil, fmt.Errorf("resume: %w: it is of a flow made with %s: resume that flow", ErrState, state.Making[0])
	}
	return p.start(ctx, pipeline.Origin{State: &state})
}

// All returns the records of the pipeline, each valid until the next iteration. An error comes with
// an empty Record and ends the loop. Breaking out of the loop stops everything.
func (p Pipe) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s, err := p.Start(ctx)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer s.Close()
		for {
			record, err := s.Next()
			if err == io.EOF || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func (p Pipe) start(ctx context.Context, from pipeline.Origin) (*RecordStream, error) {
	s, err := p.chain().Start(ctx, from)
	if err != nil {
		return nil, err
	}
	return &RecordStream{s}, nil
}
