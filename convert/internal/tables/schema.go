package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// CSVSchema returns the types that CSV would give to the columns of tables, and writes nothing.
func CSVSchema(ctx context.Context, srcs []string, o CSVOptions) (*Schema, error) {
	return TableSchema(ctx, srcs, TableOptions{CSVOptions: o, Format: tablefile.CSV})
}

// TableSchema returns the types that Table would give to the columns of tables, and writes nothing.
func TableSchema(ctx context.Context, srcs []string, o TableOptions) (*Schema, error) {
	t, err := o.open(ctx, srcs)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := t.Scan(ctx, ""); err != nil {
		return nil, err
	}
	c, err := o.resolve(t)
	if err != nil {
		return nil, err
	}
	s := new(Schema)
	for i, name := range t.Header() {
		if !o.drops(name) {
			s.Columns = append(s.Columns, SchemaColumn{name, c.types[i]})
		}
	}
	return s, nil
}

// Schema describes the columns of a table, in the format of a schema file.
type Schema struct {
	Columns []SchemaColumn `json:"columns"`
}

// SchemaColumn is a column of a Schema.
type SchemaColumn struct {
	Name string     `json:"name"`
	Type ColumnType `json:"type"`
}

// maxSchema bounds the size of a schema file.
const maxSchema = 64 << 20

// ReadSchema reads a schema file. Unknown fields are an error.
func ReadSchema(ctx context.Context, path string) (*Schema, error) {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, maxSchema))
	d.DisallowUnknownFields()
	var s struct {
		Version int `json:"schema_version"` // --print-schema --json adds it
		Schema
	}
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: not a schema in the form of %s: %w", path, optname.ConvertCSVSchema, err)
	}
	for _, c := range s.Columns {
		if _, err := ParseColumnType(string(c.Type)); err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", path, c.Name, err)
		}
	}
	return &s.Schema, nil
}
