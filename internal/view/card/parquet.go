package card

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/parquet"
	"github.com/tfrec/tfrec/manifest"
)

// Table is an export of the set as a Parquet file.
type Table struct {
	// Name is the path of the file relative to the card, with slashes.
	Name    string
	Bytes   int64
	SHA256  string
	Rows    int64
	Columns []table.Column
}

// ReadTable reads the schema of a Parquet file and computes its hash. The file must be in the
// directory of the card or below it, and its columns must be features of the set.
func ReadTable(ctx context.Context, dir, path string, m *manifest.Manifest) (Table, error) {
	name, err := below(dir, path)
	if err != nil {
		return Table{}, err
	}
	s, err := parquet.Open(ctx, storage.Parse(path))
	if err != nil {
		return Table{}, err
	}
	defer s.Close()
	scan, err := s.Scan(ctx, table.ScanOptions{Wanted: func(string) bool { return false }})
	if err != nil {
		return Table{}, err
	}
	for _, column := range scan.Columns {
		known := slices.ContainsFunc(m.Features, func(f manifest.Feature) bool { return f.Key == column.Name })
		if !known || column.Unfit != "" {
			return Table{}, fmt.Errorf("%s: column %q is not a feature of the set: want a file that tfrec export wrote of it", path, column.Name)
		}
	}
	if records := recordsOf(m); scan.Rows > records {
		return Table{}, fmt.Errorf("%s: has %d rows, and the set %d records: export it again", path, scan.Rows, records)
	}
	sum, size, err := Sum(ctx, path)
	return Table{Name: name, Bytes: size, SHA256: sum, Rows: scan.Rows, Columns: scan.Columns}, err
}

// Sum returns the SHA-256 and the size of a file.
func Sum(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, ctx.Err()
}

// below returns the path of a file relative to a directory that contains it.
func below(dir, path string) (string, error) {
	outside := fmt.Errorf("%s: want a file in %s, the directory of the card, or below it", path, dir)
	if storage.Remote(dir) != storage.Remote(path) {
		return "", outside
	}
	if !storage.Remote(dir) {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return "", err
		}
		if path, err = filepath.Abs(path); err != nil {
			return "", err
		}
	}
	name, err := storage.Rel(dir, path)
	name = filepath.ToSlash(name)
	if err != nil || name == ".." || strings.HasPrefix(name, "../") {
		return "", outside
	}
	return name, nil
}
