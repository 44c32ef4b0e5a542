package tables

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/table/npy"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxText is the most characters that a text may have in an array of texts,
// all of which take the space of the longest.
const maxText = 128

// npz writes a zip of arrays in NumPy's format 1.0 (NEP 1), for numpy.load without pickle. For a
// feature KEY that all N records have with n values there is one array KEY,
//
//	int64, float32   (N) or (N, n)
//	texts            (N) of <U, up to 128 characters without NUL, one a record
//	bytes            (N, length) of uint8, one a record and all of one length; by the comment of
//	                 the zip, reading them back tells them from numbers
//
// and for each other feature, as in tf.RaggedTensor, the values of all records one after another
// and the positions at which those values begin and end:
//
//	KEY.values       int64, float32, <U, or uint8 for bytes
//	KEY.row_splits   (N+1): record i has values[row_splits[i]:row_splits[i+1]]
//	KEY.value_splits where records have several bytes: value j is values[value_splits[j]:value_splits[j+1]],
//	                 and row_splits count values
//	KEY.present      (N) of bool, where some records do not have the feature
type npz struct {
	w       io.Writer
	spool   spool
	columns []npzColumn
	scratch []byte
	ints    []int64
	floats  []float32
	bytes   [][]byte
}

// npzColumn is a feature as arrays; nil are those that it does without.
type npzColumn struct {
	*column
	texts                            bool // as <U
	values, splits, starts, presents *array
	count, offset                    int64 // values and bytes so far
}

func newNPZ(w io.Writer, temp string, s *inputScan) (*npz, error) {
	t := &npz{w: w, spool: spool{dir: temp}}
	for _, c := range s.columns {
		t.columns = append(t.columns, t.plan(c, s.records))
	}
	taken := map[string]bool{}
	for _, a := range t.spool.arrays {
		if taken[a.name] {
			return nil, fmt.Errorf("two arrays would be named %s: tfrec features rename gives one another key", a.name)
		}
		taken[a.name] = true
	}
	for _, c := range t.columns {
		for _, splits := range []*array{c.splits, c.starts} {
			if splits != nil {
				splits.write(appendInt64(nil, 0))
			}
		}
	}
	return t, nil
}

// plan says of what arrays a column is made.
func (t *npz) plan(c *column, records int64) npzColumn {
	all := c.records == records
	p := npzColumn{column: c, texts: c.kind == tfrecord.KindBytes && c.text && !c.zeros && c.runes <= maxText}
	array := func(suffix, descr string, shape ...int64) *array {
		return t.spool.array(arrayName(c.key)+suffix, descr, shape...)
	}
	descr := map[tfrecord.Kind]string{tfrecord.KindInt64: "<i8", tfrecord.KindFloat: "<f4", tfrecord.KindBytes: "|u1"}[c.kind]
	if p.texts {
		descr = "<U" + strconv.Itoa(max(c.runes, 1))
	}
	blobs := c.kind == tfrecord.KindBytes && !p.texts
	switch {
	case all && blobs && c.single() && !c.text && c.shortest == c.longest:
		p.values = array("", descr, records, int64(c.longest))
		return p
	case all && !blobs && c.single():
		p.values = array("", descr, records)
		return p
	case all && !blobs && c.fewest == c.most:
		p.values = array("", descr, records, int64(c.most))
		return p
	}
	p.splits = array(".row_splits", "<i8", records+1)
	if !all {
		p.presents = array(".present", "|b1", records)
	}
	switch {
	case !blobs:
		p.values = array(".values", descr, c.values)
	case all && c.single(): // the splits are of bytes
		p.values = array(".values", descr, c.size)
	default:
		p.values = array(".values", descr, c.size)
		p.starts = array(".value_splits", "<i8", c.values+1)
	}
	return p
}

// arrayName returns a key as a path in the zip, which must not lead out of the directory that the
// zip is unpacked in.
func arrayName(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		parts[i] = safename.Of(part)
	}
	return strings.Join(parts, "/")
}

func (t *npz) row(cells []tfrecord.Feature) error {
	for i, f := range cells {
		c := &t.columns[i]
		c.values.write(t.encode(c, f))
		if c.splits != nil {
			end := c.count
			if c.starts == nil && c.kind == tfrecord.KindBytes && !c.texts {
				end = c.offset
			}
			c.splits.write(appendInt64(nil, end))
		}
		if c.presents != nil {
			present := byte(1)
			if f.Kind() == tfrecord.KindNone {
				present = 0
			}
			c.presents.write([]byte{present})
		}
	}
	return t.spool.trim()
}

// encode returns the elements of a feature's values, valid until the next call,
// and counts them.
func (t *npz) encode(c *npzColumn, f tfrecord.Feature) []byte {
	b := t.scratch[:0]
	switch f.Kind() {
	case tfrecord.KindInt64:
		t.ints = f.AppendInt64s(t.ints[:0])
		for _, v := range t.ints {
			b = appendInt64(b, v)
		}
	case tfrecord.KindFloat:
		t.floats = f.AppendFloats(t.floats[:0])
		for _, v := range t.floats {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	case tfrecord.KindBytes:
		t.bytes = f.AppendBytes(t.bytes[:0])
		for _, v := range t.bytes {
			if c.texts {
				b = appendUTF32(b, v, max(c.runes, 1))
				continue
			}
			b = append(b, v...)
			c.offset += int64(len(v))
			if c.starts != nil {
				c.starts.write(appendInt64(nil, c.offset))
			}
		}
	}
	c.count += int64(f.Len())
	t.scratch = b
	return b
}

func appendInt64(b []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

// appendUTF32 appends a text of up to n characters as an element of <Un.
func appendUTF32(b, text []byte, n int) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
		text = text[size:]
		n--
	}
	for ; n > 0; n-- {
		b = append(b, 0, 0, 0, 0)
	}
	return b
}

// close makes the zip of the arrays.
func (t *npz) close() error {
	z := zip.NewWriter(t.w)
	if err := z.SetComment(npy.ExportComment); err != nil {
		return err
	}
	for _, a := range t.spool.arrays {
		if a.written != a.bytes {
			return input.ErrChanged
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := w.Write(a.header()); err != nil {
			return err
		}
		if err := a.copyTo(w); err != nil {
			return err
		}
	}
	return z.Close()
}
