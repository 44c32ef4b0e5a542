package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// csvRows are the rows of chunks of CSV files.
type csvRows struct {
	absent  *csvscan.Missing // values
	header  []string
	tok     *csvscan.Tokenizer // nil before begin
	dialect csvscan.Dialect    // of tok
}

func (r *csvRows) begin(c *tablefile.Chunk) error {
	text, d := c.Text()
	if r.tok == nil || r.dialect != d {
		r.tok, r.dialect = csvscan.NewTokenizer(d, len(r.header)), d
	}
	r.tok.Reset(text, c.FirstLine)
	return nil
}

func (r *csvRows) next() bool { return r.tok.Next() }

func (r *csvRows) line() int64 { return r.tok.Line() }

func (r *csvRows) key(column int) string {
	if r.tok.Bad() {
		return ""
	}
	return string(r.tok.Field(column))
}

func (r *csvRows) encode(e *rowEncoder) (reason string) {
	if r.tok.Bad() {
		err := r.tok.Err()
		var located *csvscan.Error
		if errors.As(err, &located) {
			err = located.Err // the ledger has a field for the line
		}
		return err.Error()
	}
	body := e.body
	for i := range e.features {
		f := &e.features[i]
		if f.Vector {
			body, reason = r.vector(e, body, f)
		} else {
			body, reason = r.scalar(e, body, f)
		}
		if reason != "" {
			return reason
		}
	}
	e.body = body
	return ""
}

func (r *csvRows) scalar(e *rowEncoder, body []byte, f *featureEncoder) ([]byte, string) {
	column := f.Columns[0]
	field := r.tok.Field(column)
	missing := r.missing(f, field)
	if e.isLabel(f) && !missing {
		missing = len(bytes.TrimSpace(field)) == 0 || (f.Label || f.Type == TypeFloat) && csvscan.IsNaN(field)
	}
	switch {
	case f.Label:
		return e.appendLabel(body, f, r.header[column], field, missing)
	case missing:
		return e.appendMissing(body, f, r.header[column])
	case f.isRead(0):
		var ok bool
		if e.values, ok = f.appendNumber(e.values[:0], 0, field); !ok {
			return body, r.unparsable(column, f.Texts[0], field)
		}
		return f.appendList(body, e.values), ""
	case f.Type == TypeFloat:
		if v, ok := csvscan.ParseFloat64(field); ok {
			return f.appendFloat(body, v), ""
		}
	case f.Type == TypeInt64:
		if v, ok := csvscan.ParseIntOrBool(field); ok {
			return f.appendInt64(body, v), ""
		}
	default:
		return f.appendText(body, field), ""
	}
	return body, r.unparsable(column, f.Type, field)
}

// missing reports whether a feature's field means a missing value.
func (r *csvRows) missing(f *featureEncoder, field []byte) bool {
	if f.Type == TypeBytes || f.Label {
		return r.absent.Is(field)
	}
	return r.absent.IsPadded(field)
}

func (r *csvRows) vector(e *rowEncoder, body []byte, f *featureEncoder) ([]byte, string) {
	values := e.values[:0]
	for k, column := range f.Columns {
		field := r.tok.Field(column)
		missing := r.missing(f, field)
		if missing && e.o.Missing == MissingDrop {
			return body, ""
		}
		if missing && e.o.Missing == MissingError {
			return body, isMissing(r.header[column])
		}
		if f.isRead(k) && !missing {
			var ok bool
			if values, ok = f.appendNumber(values, k, field); !ok {
				return body, r.unparsable(column, f.Texts[k], field)
			}
			continue
		}
		switch f.Type {
		case TypeFloat:
			v, ok := 0.0, true
			if !missing {
				v, ok = csvscan.ParseFloat64(field)
			}
			if !ok {
				return body, r.unparsable(column, f.Type, field)
			}
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(v)))
		case TypeInt64:
			v, ok := int64(0), true
			if !missing {
				v, ok = csvscan.ParseIntOrBool(field)
			}
			if !ok {
				return body, r.unparsable(column, f.Type, field)
			}
			values = binary.AppendUvarint(values, uint64(v))
		default:
			if missing {
				field = nil
			}
			values = binary.AppendUvarint(append(values, tagFeature), uint64(len(field)))
			values = append(values, field...)
		}
	}
	e.values = values
	return f.appendList(body, values), ""
}

func (r *csvRows) unparsable(column int, t ColumnType, field []byte) string {
	return fmt.Sprintf("column %q: %.40q is not of type %s", r.header[column], field, t)
}
