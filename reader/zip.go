package reader

import (
	"context"
	"errors"
	"fmt"
)

// Zip describes the elements that f makes of the next record of each pipe: images of one set with
// the labels of another, or two views of the same. It is tf.data.Dataset.zip, and ends with the
// pipe that ends first. f gets one record of each pipe, in their order; its result may alias their
// data, which stay valid as long as the element. Several goroutines call f. An error of f ends the
// flow with the location of the last of the records.
//
// A [State] covers all pipes. What [Mix] says of options, of [Record.File] and of memory holds here,
// too. Whatever would pair a record with the wrong partner is an error: SkipBad, Unordered, a State
// of [MergeStates], and several workers, who would not get the same places of different sets.
func Zip[T any](f func([]Record) (T, error), pipes ...Pipe) Flow[T] {
	n := int64(len(pipes))
	turns := Mix(MixOptions{Name: "zip", StopOnEmpty: true, Choose: func(_, k int64) int { return int(k % n) }}, pipes...)
	all := MapFlow(turns.Batch(max(len(pipes), 1), true), func(b *RecordBatch) (T, error) { return f(b.Records) }, MapOptions{})
	return Flow[T]{func(ctx context.Context, from origin) (source[T], error) {
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
			if err := p.set.pairable(); err != nil {
				return nil, fmt.Errorf("reader: Zip: pipe %d: %w", i, err)
			}
		}
		return all.begin(ctx, from)
	}}
}

// pairable returns an error if records of the set, or of those that it was joined from, may not be
// at the same place in each run.
func (s *Set) pairable() error {
	for _, of := range s.joined {
		if err := of.pairable(); err != nil {
			return err
		}
	}
	switch o := s.opts; {
	case o.SkipBad.asked():
		return errors.New("its set may skip records (SkipBad), and would pair later ones with the wrong partners: repair it first")
	case o.Unordered:
		return errors.New("its set is Unordered, and would pair records with the wrong partners")
	case o.Workers > 1:
		return fmt.Errorf("its set is divided among %d workers, and would not have the places that those of the others have: write the pairs as records of one set, or let each worker read all", o.Workers)
	}
	return nil
}
