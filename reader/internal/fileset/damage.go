package fileset

import (
	"errors"
	"io"
	"io/fs"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// errChanged is returned when data that failed a check are good when read again.
var errChanged = errors.New("the file changed while it was read")

// Explain returns the error that tfrecord.Reader gives for the damage at an offset.
func Explain(file io.ReaderAt, o tfrecord.ReaderOptions, at pipeline.Cursor) error {
	o.BufferSize = 4 << 10
	err := tfrecord.NewSalvager(file, o).Fault(at.Number, at.Offset)
	if located := new(tfrecord.Error); errors.As(err, &located) {
		return located
	}
	return &tfrecord.Error{Name: o.Name, Record: at.Number, Offset: at.Offset, Part: tfrecord.PartData, Err: errChanged}
}

// InData reports whether err is damage in the data rather than an operating system error.
func InData(err error) bool {
	var located *tfrecord.Error
	var system *fs.PathError
	return errors.As(err, &located) && !errors.As(err, &system)
}

// isDataCRC reports whether err is about the data of one record, after which a tfrecord.Reader
// continues.
func isDataCRC(err error) bool {
	var located *tfrecord.Error
	return errors.As(err, &located) && located.Part == tfrecord.PartDataCRC && errors.Is(err, tfrecord.ErrChecksum)
}
