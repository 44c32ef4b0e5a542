package convert

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// tables are the opened inputs of a conversion, all with the same columns.
type tables struct {
	files   []*csvFile
	missing *csvscan.Missing
	columns []csvscan.Column // merged over all files
	rows    int64
	scanned scanState // results of scan to save
}

// csvFile is one of the tables.
type csvFile struct {
	src      *csvscan.Source
	name     string // relative to the common directory of all files, with /
	table    *csvscan.Table
	firstRow int64 // its number over all files
	hashers  rowHashers
}

// openTables opens the files that the arguments name.
func openTables(ctx context.Context, srcs []string, o *CSVOptions) (*tables, error) {
	t := new(tables)
	if err := t.open(ctx, srcs, o); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *tables) open(ctx context.Context, srcs []string, o *CSVOptions) error {
	paths, err := expandSources(ctx, srcs)
	if err != nil {
		return err
	}
	names, err := relativeNames(paths)
	if err != nil {
		return err
	}
	for i, path := range paths {
		st, err := storage.Stat(ctx, path)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		if st.IsDir() {
			return fmt.Errorf("source %s is a directory: give files or a glob such as '%s'", path, storage.Join(path, "*.csv"))
		}
		src, err := csvscan.Open(ctx, path, csvscan.Options{Delimiter: o.Delimiter, NoHeader: o.NoHeader, Columns: o.Columns, MaxRow: o.MaxRow})
		if err != nil {
			return err
		}
		t.files = append(t.files, &csvFile{src: src, name: names[i], hashers: newRowHashers(o.Seed, names[i])})
		if err := sameHeader(t.files[0].src, src); err != nil {
			return err
		}
	}
	return nil
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

// sameHeader returns an error if the columns of two tables differ.
func sameHeader(a, b *csvscan.Source) error {
	x, y := a.Header(), b.Header()
	if slices.Equal(x, y) {
		return nil
	}
	if len(x) != len(y) {
		return fmt.Errorf("%s has %s, %s has %d: all tables of a set need the same", a.Name(), plural.Of(len(x), "column"), b.Name(), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			return fmt.Errorf("column %d is %q in %s and %q in %s: all tables of a set need the same; CSVOptions.Columns gives other names", i+1, x[i], a.Name(), y[i], b.Name())
		}
	}
	return nil
}

func (t *tables) header() []string { return t.files[0].src.Header() }

// name derives a dataset name from the first file's name.
func (t *tables) name() string {
	base := storage.Base(t.files[0].src.Name())
	for _, suffix := range []string{".gz", ".zst", ".csv", ".tsv", ".txt"} {
		if len(base) > len(suffix) && strings.EqualFold(base[len(base)-len(suffix):], suffix) {
			base = base[:len(base)-len(suffix)]
		}
	}
	return naming.SnakeCase(base)
}

func (t *tables) close() {
	for _, f := range t.files {
		f.src.Close()
	}
}

// scanFile is the state file with the results of scanning, so that a run with nothing to do need
// not read the input.
const scanFile = "scan.json"

// scanState is the content of scanFile.
type scanState struct {
	// Options that the scan result depends on.
	Options string                `json:"options"`
	Files   map[string]scanResult `json:"files"` // by absolute path or URL
}

// scanResult is the scan result of a file as it was then.
type scanResult struct {
	Size    int64          `json:"size"`
	ModTime int64          `json:"mod_time"` // nanoseconds since 1970
	Version string         `json:"version,omitempty"`
	Table   *csvscan.Table `json:"table"`
}

// of reports whether the result is of the file as it is now, with this many columns.
func (r *scanResult) of(src *csvscan.Source, columns int) bool {
	return r.Table != nil && len(r.Table.Columns) == columns && r.Size == src.Size() && r.Version == src.Version() &&
		(r.Version != "" || r.ModTime == src.ModTime().UnixNano())
}

// settledBy reports whether a version of a file written after the given time could be distinguished
// from this one. Stores report times in whole seconds.
func settledBy(src *csvscan.Source, began time.Time) bool {
	age := began.Sub(src.ModTime())
	if v := src.Version(); v != "" {
		return !strings.HasPrefix(v, storage.Modified) || age > 2*settled
	}
	return age > settled
}

// scan finds the column types and row boundaries. For unchanged files it takes them from the state
// of an earlier run into the directory out, if one is given.
func (t *tables) scan(ctx context.Context, o *CSVOptions, out string) error {
	t.missing = csvscan.NewMissing(o.MissingValues)
	opts := csvscan.ScanOptions{Workers: o.workers(), Missing: t.missing}
	if o.Vocab && o.Vocabulary == nil {
		label, err := columnNumber("CSVOptions.Label", o.Label, t.header())
		if err != nil {
			return err
		}
		opts.Distinct = []int{label}
	}
	t.scanned = scanState{
		Options: fmt.Sprintf("1 %q %v %q %d %q %v", o.Delimiter, o.NoHeader, o.Columns, o.MaxRow, o.MissingValues, opts.Distinct),
		Files:   map[string]scanResult{},
	}
	var before scanState
	if !o.HashInputs && out != "" {
		before = readScan(ctx, out)
	}
	t.columns = make([]csvscan.Column, len(t.header()))
	var blank int64
	for _, f := range t.files {
		path := f.path()
		result := before.Files[path]
		if before.Options != t.scanned.Options || !result.of(f.src, len(t.columns)) {
			began := time.Now()
			table, err := f.src.Scan(ctx, opts)
			if err != nil {
				return err
			}
			result = scanResult{Size: f.src.Size(), ModTime: f.src.ModTime().UnixNano(), Version: f.src.Version(), Table: table}
			if settledBy(f.src, began) {
				t.scanned.Files[path] = result
			}
		} else {
			t.scanned.Files[path] = result
		}
		f.table, f.firstRow = result.Table, t.rows
		t.rows += f.table.Rows
		blank += f.table.Blank
		for i := range t.columns {
			t.columns[i].Merge(&f.table.Columns[i])
		}
	}
	if blank > 0 {
		o.note("blank lines skipped: %d", blank)
	}
	if t.rows == 0 {
		return fmt.Errorf("%s: a header and no rows: nothing to convert", t.files[0].src.Name())
	}
	return nil
}

// path is the location of the file, on this machine or in a store.
func (f *csvFile) path() string {
	if storage.Remote(f.src.Name()) {
		return storage.Clean(f.src.Name())
	}
	abs, err := filepath.Abs(f.src.Name())
	if err != nil {
		return f.src.Name()
	}
	return abs
}

// readScan reads the state of earlier scans; a failure is never an error.
func readScan(ctx context.Context, out string) scanState {
	var s scanState
	data, err := storage.ReadFile(ctx, storage.Join(out, shard.StateDir, scanFile), setdir.MaxState)
	if err != nil || setdir.DecodeState(data, &s) != nil {
		return scanState{}
	}
	return s
}
