package shard

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// Fault is one thing that is wrong, and where.
type Fault struct {
	Path string `json:"path"`
	// Record is its number from 0; -1 when the fault is not of one record.
	Record int64 `json:"record"`
	// Offset is where the record's frame begins in the uncompressed stream; -1
	// when Record is.
	Offset  int64         `json:"offset"`
	Part    tfrecord.Part `json:"part"`
	Message string        `json:"message"`
	// Kind is what the file holds where it holds no records, as [tfrecord.ForeignError]
	// names it.
	Kind string `json:"kind,omitempty"`
}

// FileFault is a fault of a file as a whole.
func FileFault(path string, part tfrecord.Part, format string, args ...any) Fault {
	return Fault{Path: path, Record: -1, Offset: -1, Part: part, Message: fmt.Sprintf(format, args...)}
}

// FaultOf describes an error of reading the records of the file at path.
func FaultOf(path string, err *tfrecord.Error) Fault {
	f := Fault{Path: path, Record: err.Record, Offset: err.Offset, Part: err.Part, Message: err.Err.Error()}
	var other *tfrecord.ForeignError
	if errors.As(err, &other) {
		f.Kind = other.Kind
	}
	return f
}

// RepairHint says what can be done about damage; nothing where a file has no records.
func RepairHint(err error) string {
	var other *tfrecord.ForeignError
	if errors.As(err, &other) {
		return ""
	}
	return " (repair.Repair saves the records that survive)"
}

// DamagedError says that an input cannot be reshaped because its data have
// faults. It unwraps to the *tfrecord.Error that says where.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	return e.Err.Error() + "; nothing was written" + RepairHint(e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// Damaged makes a DamagedError of an error about the data, and leaves others.
func Damaged(err error) error {
	var fault *tfrecord.Error
	var known *DamagedError
	if errors.As(err, &fault) && !errors.As(err, &known) && recordscan.IsDamage(err) {
		return &DamagedError{err}
	}
	return err
}
