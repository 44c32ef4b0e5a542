package flows

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Zip returns the elements that f makes of the next record of each pipe, and the set of all of them.
func Zip[T any](f func([]pipeline.Record) (T, error), pipes []stages.Pipe) (*fileset.Set, Flow[T]) {
	n := int64(len(pipes))
	turns := stages.Mix(stages.MixOptions{StopOnEmpty: true, Choose: func(_, k int64) int { return int(k % n) }}, pipes)
	all := Map(RecordBatches(turns, max(len(pipes), 1), BatchOptions{DropRemainder: true}), func() func([]pipeline.Record) (T, error) { return f }, pipeline.MapOptions{})
	return turns.Set, func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		switch {
		case f == nil:
			return nil, errors.New("reader: Zip without a function")
		case len(pipes) == 0:
			return nil, errors.New("reader: Zip without a Pipe: want one or more")
		case from.State != nil && len(from.State.Merged) > 0:
			return nil, fmt.Errorf("resume: %w: MergeStates divides records one by one, and Zip needs them together", pipeline.ErrState)
		}
		for i, p := range pipes {
			if p.Set == nil {
				continue // Mix says so
			}
			if err := pairable(p.Set); err != nil {
				return nil, fmt.Errorf("reader: Zip: pipe %d: %w", i, err)
			}
		}
		return all.Begin(ctx, from)
	}
}

// pairable returns an error if records of the set, or of those that it was joined from, may not be
// at the same place in each run.
func pairable(s *fileset.Set) error {
	for _, of := range s.Joined {
		if err := pairable(of); err != nil {
			return err
		}
	}
	switch o := s.Opts; {
	case pipeline.MaySkip(o.SkipBad):
		return errors.New("its set may skip records (SkipBad), and would pair later ones with the wrong partners: repair it first")
	case o.Unordered:
		return errors.New("its set is Unordered, and would pair records with the wrong partners")
	case o.Workers > 1:
		return fmt.Errorf("its set is divided among %d workers, and would not have the places that those of the others have: write the pairs as records of one set, or let each worker read all", o.Workers)
	}
	return nil
}
