package shard

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// Errors advise repair where it helps: not for intact records whose content cannot be used, which
// it keeps, nor for files that hold no records.
func TestRepairHint(t *testing.T) {
	at := func(part tfrecord.Part, err error) error {
		return &tfrecord.Error{Name: "x.tfrecord", Record: 3, Part: part, Err: err}
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{at(tfrecord.PartData, errors.New("checksum")), true},
		{at(tfrecord.PartLength, errors.New("too long")), true},
		{at(tfrecord.PartParse, errors.New("not an Example")), false},
		{at(tfrecord.PartLength, &tfrecord.ForeignError{Kind: "a PNG file"}), false},
	} {
		err := &DamagedError{Err: c.err}
		if got := strings.Contains(err.Error(), "repair.Copy"); got != c.want {
			t.Errorf("%v: advises repair: %v, want %v", err, got, c.want)
		}
	}
}
