package reader

import (
	"context"
	"errors"
	"fmt"
)

// flowZip returns the elements that f makes of the next record of each pipe.
func flowZip[T any](f func([]Record) (T, error), pipes []chain) flow[T] {
	n := int64(len(pipes))
	turns := recordMix(MixOptions{Name: "zip", StopOnEmpty: true, Choose: func(_, k int64) int { return int(k % n) }}, pipes)
	all := flowMap(flowRecordBatches(turns, max(len(pipes), 1), true), func(b *RecordBatch) (T, error) { return f(b.Records) }, MapOptions{})
	return func(ctx context.Context, from origin) (source[T], error) {
		switch {
		case f == nil:
			return nil, errors.New("reader: Zip without a function")
		case len(pipes) == 0:
			return nil, errors.New("reader: Zip without a Pipe: want one or more")
		case from.state != nil && len(from.state.Merged) > 0:
			return nil, fmt.Errorf("resume: %w: MergeStates divides records one by one, and Zip needs them together", ErrState)
		}
		for i, p := range pipes {
			if p.set == nil {
				continue // Mix says so
			}
			if err := pairable(p.set); err != nil {
				return nil, fmt.Errorf("reader: Zip: pipe %d: %w", i, err)
			}
		}
		return all.begin(ctx, from)
	}
}

// pairable returns an error if records of the set, or of those that it was joined from, may not be
// at the same place in each run.
func pairable(s *fileSet) error {
	for _, of := range s.joined {
		if err := pairable(of); err != nil {
			return err
		}
	}
	switch o := s.opts; {
	case maySkip(o.SkipBad):
		return errors.New("its set may skip records (SkipBad), and would pair later ones with the wrong partners: repair it first")
	case o.Unordered:
		return errors.New("its set is Unordered, and would pair records with the wrong partners")
	case o.Workers > 1:
		return fmt.Errorf("its set is divided among %d workers, and would not have the places that those of the others have: write the pairs as records of one set, or let each worker read all", o.Workers)
	}
	return nil
}
