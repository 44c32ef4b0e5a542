package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/tfrec/tfrec/tfrecord"
)

// Damage makes an error in the data a fault. One of the operating system, such
// as a disk that cannot be read, stays what it is.
func Damage(err error) error {
	var located *tfrecord.Error
	var system *fs.PathError
	if errors.As(err, &located) && !errors.As(err, &system) {
		return FaultError(err)
	}
	return err
}

// MeasureError returns the error of a verb that measures. With --json, it first prints an error of
// damaged data.
func MeasureError(cmd *cobra.Command, err error) error {
	var located *tfrecord.Error
	if !errors.As(err, &located) {
		return WithoutRemedy(err)
	}
	if JSONFlag(cmd) {
		if err := PrintJSON(cmd, benchFailure{Error: err.Error()}); err != nil {
			return err
		}
	}
	return Damage(err)
}

// benchFailure is the output of --json for damaged data.
type benchFailure struct {
	Error string `json:"error"`
}
