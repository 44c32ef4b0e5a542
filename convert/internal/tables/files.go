package tables

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/storage"
)

// tables are the opened inputs of a conversion, all of one format.
type tables struct {
	format  tableFormat
	files   []*tableFile
	columns []inputColumn // of all files; nil before scan
	rows    int64
	bytes   int64
	scanned scanState       // results of scan to save
	account account.Account // of what the files have and the set does not
	now     func() time.Time
}

// tableFile is one of the tables.
type tableFile struct {
	tableReader
	name     string // relative to the common directory of all files, with /
	firstRow int64  // its number over all files
	hashers  rowHashers
	fresh    *freshScan // nil if there is none to confirm
}

// openTables opens the files that the arguments name.
func openTables(ctx context.Context, srcs []string, o *TableOptions) (*tables, error) {
	t := &tables{now: time.Now}
	if err := t.open(ctx, srcs, o); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *tables) open(ctx context.Context, srcs []string, o *TableOptions) error {
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
	if o.Format == "" {
		if o.Format, err = detectFormats(ctx, paths); err != nil {
			return err
		}
	}
	if t.format, err = o.newFormat(); err != nil {
		return err
	}
	for i, path := range paths {
		var r tableReader
		err := storage.Reread(ctx, path, func(ctx context.Context) (err error) {
			r, err = t.format.open(ctx, path)
			return err
		})
		if err != nil {
			return err
		}
		t.files = append(t.files, &tableFile{tableReader: r, name: names[i], hashers: newRowHashers(o.Seed, names[i])})
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

// header returns the names of the columns.
func (t *tables) header() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// name derives a dataset name from the first file's name.
func (t *tables) name() string {
	base := storage.Base(t.files[0].Name())
	for _, suffix := range t.format.suffixes() {
		if len(base) > len(suffix) && strings.EqualFold(base[len(base)-len(suffix):], suffix) {
			base = base[:len(base)-len(suffix)]
		}
	}
	return naming.SnakeCase(base)
}

func (t *tables) close() {
	for _, f := range t.files {
		_ = f.Close() // it was read
	}
}

// path is the location of the file, on this machine or in a store.
func (f *tableFile) path() string {
	if storage.Remote(f.Name()) {
		return storage.Clean(f.Name())
	}
	abs, err := filepath.Abs(f.Name())
	if err != nil {
		return f.Name()
	}
	return abs
}
