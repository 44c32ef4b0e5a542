package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// TakeOptions are the options of Take. At least one of Skip and Count must be set.
type TakeOptions struct {
	Options
	// Skip is the number of records to skip at the beginning. Default: none.
	Skip int64
	// Count is the maximum number of records to take after those skipped. Default: all.
	Count int64
}

// Take makes a new set in the directory out from the first records of the inputs, in order,
// whatever splits they are in.
func Take(ctx context.Context, in []string, out string, o TakeOptions) (*Report, error) {
	switch {
	case o.Skip < 0:
		return nil, source.OptionError(optname.TakeOptionsSkip, "%d is negative", o.Skip)
	case o.Count < 0:
		return nil, source.OptionError(optname.TakeOptionsCount, "%d is negative", o.Count)
	case o.Skip == 0 && o.Count == 0:
		return nil, source.OptionError(optname.TakeOptionsCount, "want how many records to take, or %s", optname.TakeOptionsSkip)
	}
	v := newVerb("take")
	v.Chooser, v.Options = &taker{&o}, map[string]any{"count": o.Count, "skip": o.Skip}
	return rearrange.Make(ctx, in, out, &o.Options, v)
}

type taker struct{ o *TakeOptions }

func (*taker) Begin(int64) error                        { return nil }
func (*taker) Look(*source.Record) (digest.Hash, error) { return digest.Hash{}, nil }

func (t *taker) Choose(n int64, split int, _ digest.Hash) (int, error) {
	if n < t.o.Skip || t.o.Count > 0 && n-t.o.Skip >= t.o.Count {
		return source.Drop, nil
	}
	return split, nil
}
