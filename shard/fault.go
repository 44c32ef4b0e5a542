package shard

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// Fault is one problem and its location.
type Fault struct {
	Path string `json:"path"`
	// Record is the record number from 0; -1 if the fault does not concern a single record.
	Record int64 `json:"record"`
	// Offset is where the record's frame begins in the uncompressed stream; -1 if Record is -1.
	Offset  int64         `json:"offset"`
	Part    tfrecord.Part `json:"part"`
	Message string        `json:"message"`
	// Kind is the actual type of a file that has no records, as named by [tfrecord.ForeignError].
	Kind string `json:"kind,omitempty"`
}

// FileFault returns a fault of a whole file.
func FileFault(path string, part tfrecord.Part, format string, args ...any) Fault {
	return Fault{Path: path, Record: -1, Offset: -1, Part: part, Message: fmt.Sprintf(format, args...)}
}

// FaultOf returns the fault for an error of reading the records of the file at path.
func FaultOf(path string, err *tfrecord.Error) Fault {
	f := Fault{Path: path, Record: err.Record, Offset: err.Offset, Part: err.Part, Message: err.Err.Error()}
	var other *tfrecord.ForeignError
	if errors.As(err, &other) {
		f.Kind = other.Kind
	}
	return f
}

// RepairHint returns advice about damage; "" if the file has no records to save, or if the record
// itself is intact and only its content cannot be used.
func RepairHint(err error) string {
	var other *tfrecord.ForeignError
	var fault *tfrecord.Error
	if errors.As(err, &other) || errors.As(err, &fault) && fault.Part == tfrecord.PartParse {
		return ""
	}
	return fmt.Sprintf(" (%s saves the records that survive)", optname.RepairCopy)
}

// DamagedError says that an input cannot be reshaped because its data is damaged. It unwraps to the
// *tfrecord.Error with the location.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	return e.Err.Error() + "; nothing was written" + RepairHint(e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// Damaged wraps an error about the data in a DamagedError and returns other errors unchanged.
func Damaged(err error) error {
	var fault *tfrecord.Error
	var known *DamagedError
	if errors.As(err, &fault) && !errors.As(err, &known) && recordscan.IsDamage(err) {
		return &DamagedError{err}
	}
	return err
}
