package tablefile

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Tables are the opened files of a conversion, all of one format.
type Tables struct {
	Format  Format
	Files   []*File
	Columns []Column // of all files; nil before Scan
	Rows    int64
	Bytes   int64
	Account account.Account  // of parts of the files that are not in records
	Now     func() time.Time // replaced by tests
	o       Options
	format  format
	state   scanState // results of Scan to save
	saved   int       // how many of them Save has saved
}

// Open opens the files that the arguments name, files or globs.
func Open(ctx context.Context, srcs []string, o Options) (*Tables, error) {
	t := &Tables{o: o, Now: time.Now}
	if err := t.open(ctx, srcs); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tables) open(ctx context.Context, srcs []string) error {
	paths, err := expandSources(ctx, srcs)
	if err != nil {
		return err
	}
	names, err := relativeNames(paths)
	if err != nil {
		return err
	}
	for _, path := range paths {
		st, err := storage.Stat(ctx, path)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		if st.IsDir() {
			return fmt.Errorf("source %s is a directory: give files or a glob such as '%s'", path, storage.Join(path, "*.csv"))
		}
	}
	if t.o.Format == "" {
		if t.o.Format, err = detectAll(ctx, paths); err != nil {
			return err
		}
	}
	t.Format = t.o.Format
	if t.format, err = newFormat(&t.o); err != nil {
		return err
	}
	for i, path := range paths {
		var r reader
		err := storage.Reread(ctx, path, func(ctx context.Context) (err error) {
			r, err = t.format.open(ctx, path)
			return err
		})
		if err != nil {
			return err
		}
		t.Files = append(t.Files, &File{reader: r, As: names[i]})
	}
	return nil
}

// newFormat returns the format of the options. Options for CSV are errors for others.
func newFormat(o *Options) (format, error) {
	if o.Format == CSV {
		return newCSVFormat(o), nil
	}
	for _, option := range []struct {
		field optname.Name
		given bool
	}{
		{optname.CSVOptionsDelimiter, o.Delimiter != 0}, {optname.CSVOptionsNoHeader, o.NoHeader},
		{optname.CSVOptionsColumns, o.Columns != nil}, {optname.CSVOptionsMissingValues, o.MissingValues != nil},
	} {
		if option.given {
			return nil, plan.OptionErrorf(option.field, "is for CSV, and the format is %s", o.Format)
		}
	}
	return &typedFormat{o: o}, nil
}

// expandSources replaces globs by their matches. An argument that names an existing file is used
// literally, whatever characters it has.
func expandSources(ctx context.Context, srcs []string) ([]string, error) {
	var paths []string
	for _, src := range srcs {
		if _, err := storage.Stat(ctx, src); err == nil || !strings.ContainsAny(src, "*?[") {
			paths = append(paths, src)
			continue
		}
		matches, err := storage.Glob(ctx, src)
		if err != nil {
			return nil, fmt.Errorf("glob %s: %w", src, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("source %s: no file matches: %w", src, fs.ErrNotExist)
		}
		paths = append(paths, matches...) // Glob sorts them
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no source is given")
	}
	return paths, nil
}

// relativeNames returns names for the files that are the same on any machine: their paths relative
// to their common directory.
func relativeNames(paths []string) ([]string, error) {
	absolute := make([]string, len(paths))
	seen := map[string]bool{}
	for i, path := range paths {
		abs, err := absolutePath(path)
		if err != nil {
			return nil, err
		}
		if seen[abs] {
			return nil, fmt.Errorf("source %s is given twice", path)
		}
		seen[abs] = true
		absolute[i] = abs
	}
	root := filepath.Dir(absolute[0])
	inside := func(abs string) bool {
		return strings.HasPrefix(abs, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	}
	for !allOf(absolute, inside) && root != filepath.Dir(root) {
		root = filepath.Dir(root)
	}
	names := make([]string, len(paths))
	for i, abs := range absolute {
		rel, err := filepath.Rel(root, abs)
		if err != nil {
			rel = abs // another volume
		}
		names[i] = filepath.ToSlash(rel)
	}
	return names, nil
}

// absolutePath names a file independently of the working directory: for an object in a store, a
// path that begins with the scheme and the bucket.
func absolutePath(path string) (string, error) {
	if storage.Remote(path) {
		return filepath.FromSlash("/" + strings.Replace(storage.Clean(path), "//", "/", 1)), nil
	}
	return filepath.Abs(path)
}

func allOf(s []string, f func(string) bool) bool {
	return !slices.ContainsFunc(s, func(s string) bool { return !f(s) })
}

// Header returns the names of the columns.
func (t *Tables) Header() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Name derives a dataset name from the first file's name.
func (t *Tables) Name() string {
	base := storage.Base(t.Files[0].Name())
	for _, suffix := range t.format.suffixes() {
		if len(base) > len(suffix) && strings.EqualFold(base[len(base)-len(suffix):], suffix) {
			base = base[:len(base)-len(suffix)]
		}
	}
	return naming.SnakeCase(base)
}

// Missing returns the missing values of CSV, and whether Options.MissingValues gives them; nil for
// other formats.
func (t *Tables) Missing() (values *csvscan.Missing, given bool) {
	if csv, ok := t.format.(*csvFormat); ok {
		return csv.missing, csv.given
	}
	return nil, false
}

// Distinct yields the distinct values of Options.Distinct, file by file.
func (t *Tables) Distinct() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range t.Files {
			for _, value := range f.scanned.distinct {
				if !yield(value) {
					return
				}
			}
		}
	}
}

// Close closes the files.
func (t *Tables) Close() {
	for _, f := range t.Files {
		_ = f.Close() // it was read
	}
}
