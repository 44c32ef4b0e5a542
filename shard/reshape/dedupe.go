package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// DedupeOptions are the options of Dedupe.
type DedupeOptions struct {
	Options
	// By is the key of a feature: records with the same values of it are duplicates. Records
	// without the feature are all kept. Default: none; records are duplicates if all of their bytes
	// are equal.
	By string
	// Dropped, if not nil, is called with each record that is left out, in order. If it returns an
	// error, the run fails with it.
	Dropped func(d Duplicate) error
}

// Duplicate is a dropped record, and the first record equal to it, which is kept.
type Duplicate struct{ Dropped, Kept Position }

// DedupeReport is the result of Dedupe.
type DedupeReport struct {
	Report
	// Duplicates is the number of records left out.
	Duplicates int64 `json:"duplicates"`
}

// Dedupe makes a new set in the directory out from the records without duplicates: of equal records
// the first one is kept, in the order of the inputs, whatever splits they are in. Records are
// compared by 128-bit hashes. Hashes that do not fit in Memory are spilled to disk in OUT.
func Dedupe(ctx context.Context, in []string, out string, o DedupeOptions) (*DedupeReport, error) {
	v := newVerb("dedupe")
	v.Unknown = o.Dropped != nil
	var found *duplicates
	if o.By != "" {
		v.Resolve = func(ctx context.Context, in *source.Inputs) (err error) {
			o.By, err = in.Feature(ctx, optname.DedupeOptionsBy, o.By)
			v.Options = map[string]any{"by": o.By}
			return err
		}
	}
	v.Prepare = func(ctx context.Context, in *source.Inputs, dir *setdir.Dir) error {
		var err error
		if found, err = findDuplicates(ctx, in, dir, &o); err != nil {
			return err
		}
		v.Chooser = &firstOnes{duplicates: found, in: in, dropped: o.Dropped}
		return nil
	}
	report, err := rearrange.Make(ctx, in, out, &o.Options, v)
	if found != nil {
		found.close()
	}
	if err != nil {
		return nil, err
	}
	return &DedupeReport{*report, report.RecordsIn - report.Records}, nil
}

// firstOnes is a chooser that keeps all records but the duplicates.
type firstOnes struct {
	*duplicates
	in      *source.Inputs
	dropped func(Duplicate) error
}

func (*firstOnes) Look(*source.Record) (digest.Hash, error) { return digest.Hash{}, nil }

func (*firstOnes) Begin(int64) error { return nil }

func (f *firstOnes) Choose(n int64, split int, _ digest.Hash) (int, error) {
	first, repeated, err := f.repeats(n)
	switch {
	case err != nil:
		return source.Drop, err
	case !repeated:
		return split, nil
	case f.dropped != nil:
		err = f.dropped(Duplicate{Dropped: f.in.Position(n), Kept: f.in.Position(first)})
	}
	return source.Drop, err
}
