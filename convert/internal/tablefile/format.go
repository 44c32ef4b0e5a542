package tablefile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/textfile"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/arrow"
	"github.com/tfrec/tfrec/internal/table/jsonl"
	"github.com/tfrec/tfrec/internal/table/npy"
	"github.com/tfrec/tfrec/internal/table/parquet"
)

// Format is a format of tables.
type Format string

// The formats of tables.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl" // JSON lines: an object a line
	Parquet Format = "parquet"
	Arrow   Format = "arrow" // Arrow IPC: a file, which Feather is too, or a stream
	NPY     Format = "npy"   // an array of NumPy
	NPZ     Format = "npz"   // arrays of NumPy
)

// TextOptions are for the files of formats that are text.
type TextOptions struct {
	MaxRow int64                    // the maximum length of a row in bytes; 0: the default of the format
	Skip   func(column string) bool // columns whose values are not read; nil: none
}

// Openers open the files of all formats but CSV, which is text without types.
var Openers = map[Format]func(ctx context.Context, path string, o TextOptions) (table.Source, error){
	JSONL: func(ctx context.Context, path string, o TextOptions) (table.Source, error) {
		return jsonl.Open(ctx, path, jsonl.Options{MaxRow: o.MaxRow, Skip: o.Skip})
	},
	Parquet: func(ctx context.Context, path string, _ TextOptions) (table.Source, error) {
		return parquet.Open(ctx, storage.Parse(path))
	},
	Arrow: func(ctx context.Context, path string, _ TextOptions) (table.Source, error) {
		return arrow.Open(ctx, storage.Parse(path))
	},
	NPY: openNumPy,
	NPZ: openNumPy,
}

// magics are how the files of binary formats but Arrow begin.
var magics = []struct {
	head   string
	format Format
}{
	{"PAR1", Parquet},
	{"\x93NUMPY", NPY}, {"PK\x03\x04", NPZ},
}

// openNumPy opens a file of one array or of several, depending on its content.
func openNumPy(ctx context.Context, path string, _ TextOptions) (table.Source, error) {
	return npy.Open(ctx, storage.Parse(path))
}

// Formats returns the names of all formats, sorted.
func Formats() []string {
	names := []string{string(CSV)}
	for name := range Openers {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// detectAll infers the format of a table from the content of its files. Files without content,
// such as empty parts, have none.
func detectAll(ctx context.Context, paths []string) (format Format, err error) {
	first := ""
	for _, path := range paths {
		f, err := Detect(ctx, path)
		switch {
		case err != nil:
			return "", err
		case f == "":
		case format == "":
			format, first = f, path
		case f != format:
			return "", fmt.Errorf("%s is %s and %s is %s: all files of a table need the same format; %s gives it if one is not what it looks like", first, format, path, f, optname.TableOptionsFormat)
		}
	}
	return cmp.Or(format, CSV), nil
}

// Detect infers the format of a file from its content; "" if that is blank. Unknown formats count
// as CSV, whose reader returns an error that names the format of binary files.
func Detect(ctx context.Context, path string) (Format, error) {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return "", err
	}
	if format := FormatOfHead(f.Head()); format != "" {
		return format, nil
	}
	in, err := f.Stream(ctx)
	if err != nil {
		return CSV, nil // its errors explain the fault
	}
	defer in.Close()
	sample := make([]byte, 4<<10)
	n, err := io.ReadFull(in, sample)
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && len(bytes.TrimSpace(sample[:n])) == 0 {
		return "", nil
	}
	if err != nil && n == 0 {
		return CSV, nil
	}
	if isObject(sample[:n]) {
		return JSONL, nil
	}
	return CSV, nil
}

// FormatOfHead returns the binary format of a file that begins so; "" for others.
func FormatOfHead(head []byte) Format {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.head)) {
			return m.format
		}
	}
	if arrow.Is(head) {
		return Arrow
	}
	return ""
}

// isObject reports whether a text begins as a JSON object.
func isObject(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	rest, opens := bytes.CutPrefix(text, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return opens && len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}
