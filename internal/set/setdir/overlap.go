package setdir

import (
	"errors"
	"fmt"
	"os"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// ErrIsInput means that a directory is both input and output.
var ErrIsInput = errors.New("is the input")

// MustDiffer returns an error that unwraps to ErrIsInput if the output directory is an input, by this
// name or another. Neither needs to exist.
func MustDiffer(out, in string) error {
	a, b := storage.Parse(out), storage.Parse(in)
	same := a.Remote() && b.Remote() && a.Join() == b.Join()
	if !a.Remote() && !b.Remote() {
		x, errX := os.Stat(a.String())
		y, errY := os.Stat(b.String())
		same = errX == nil && errY == nil && os.SameFile(x, y)
	}
	if same {
		return fmt.Errorf("%s %w: choose another output directory", out, ErrIsInput)
	}
	return nil
}

// MustBeApart returns an error if the output directory is an input, is inside one or contains one:
// inputs must not change while they are read, and sets must not be nested. The error unwraps to
// ErrIsInput in the first case.
func MustBeApart(out string, inputs ...string) error {
	to, err := Resolve(out)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if err := MustDiffer(out, in); err != nil {
			return err
		}
		from, err := Resolve(in)
		switch {
		case err != nil:
			return err
		case LiesIn(to, from):
			return fmt.Errorf("%s is inside the input %s: choose another output directory", out, in)
		case LiesIn(from, to):
			return fmt.Errorf("%s contains the input %s: choose another output directory", out, in)
		}
	}
	return nil
}
