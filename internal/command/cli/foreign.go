package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// What to do with files that hold no records.
const (
	imagesAdvice     = "to turn a directory of images into TFRecords: tfrec convert images DIR OUT"
	tablesAdvice     = "to turn it into TFRecords: tfrec convert csv FILE OUT"
	typedAdvice      = "to turn it into TFRecords: tfrec convert table FILE OUT"
	archiveAdvice    = "to turn its images into TFRecords: tfrec convert images FILE OUT; for tables, unpack it, then: tfrec convert table FILE... OUT"
	unpackAdvice     = "unpack it, then for images: tfrec convert images DIR OUT; for tables: tfrec convert table FILE... OUT"
	columnsAdvice    = "tfrec does not read such files: write it as CSV, then: tfrec convert csv FILE OUT"
	compressedAdvice = "decompress it: tfrec reads files compressed with gzip, zlib or zstd"
)

// ForeignAdvice is the advice for files without records, by their kind (see tfrecord.ForeignError).
var ForeignAdvice = map[string]string{
	"jpeg": imagesAdvice, "png": imagesAdvice, "gif": imagesAdvice, "bmp": imagesAdvice, "webp": imagesAdvice, "tiff": imagesAdvice,
	"zip": archiveAdvice, "tar": archiveAdvice, "7z": unpackAdvice,
	"csv": tablesAdvice, "text": "if it is a table, " + tablesAdvice,
	"json": "if it is JSON lines, " + typedAdvice, "parquet": typedAdvice, "arrow": typedAdvice, "npy": typedAdvice, "npz": typedAdvice,
	"hdf5": columnsAdvice, "lmdb": columnsAdvice, "sqlite": columnsAdvice,
	"pdf": "tfrec does not read documents",
	"xz":  compressedAdvice, "bzip2": compressedAdvice,
}

// foreignRemedy returns the advice for an error caused by a file without records; "" for other
// errors.
func foreignRemedy(err error) string {
	var other *tfrecord.ForeignError
	if !errors.As(err, &other) {
		return ""
	}
	return ForeignAdvice[other.Kind]
}

// PrintAdvice prints the advice for the files without records, once for each kind.
func PrintAdvice(w io.Writer, faults []shard.Fault) {
	var said []string
	for _, f := range faults {
		if advice := ForeignAdvice[f.Kind]; advice != "" && !slices.Contains(said, advice) {
			said = append(said, advice)
			fmt.Fprintf(w, "  %s: %s\n", f.Kind, advice)
		}
	}
}
