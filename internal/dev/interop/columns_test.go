//go:build interop

package interop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/tfrecord"
)

// field is a field of a schema in the form of columns.py.
type field struct {
	Key     string  `json:"key"`
	Kind    string  `json:"kind"`
	Shape   []int   `json:"shape"`
	Ragged  bool    `json:"ragged"`
	Default feature `json:"default"`
	Steps   string  `json:"steps"`   // "", "list" or "flat"
	Missing bool    `json:"missing"` // records may lack the steps
}

// column is what columns.py answers.
type column struct {
	Shape      []int    `json:"shape"`
	Values     []string `json:"values"`
	Splits     []int64  `json:"splits"`
	StepSplits []int64  `json:"step_splits"`
}

// randomValues draws n values of a kind.
func randomValues(rnd *rand.Rand, kind tfrecord.Kind, n int) any {
	switch kind {
	case tfrecord.KindInt64:
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(rnd.Uint64()) >> rnd.IntN(64)
		}
		return v
	case tfrecord.KindFloat:
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rnd.NormFloat64())
		}
		return v
	default:
		v := make([][]byte, n)
		for i := range v {
			v[i] = make([]byte, []int{0, 1, 9, 127, 128, 300}[rnd.IntN(6)])
			for k := range v[i] {
				v[i][k] = byte(rnd.Uint32())
			}
		}
		return v
	}
}

// wire writes a Feature with those values; numbers one by one when not packed.
func wire(v any, packed bool) []byte {
	var list, number []byte
	var n protowire.Number
	switch v := v.(type) {
	case [][]byte:
		n = 1
		for _, x := range v {
			list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), x)
		}
	case []float32:
		n = 2
		for _, x := range v {
			bits := math.Float32bits(x)
			number = protowire.AppendFixed32(number, bits)
			if !packed {
				list = protowire.AppendFixed32(protowire.AppendTag(list, 1, protowire.Fixed32Type), bits)
			}
		}
	case []int64:
		n = 3
		for _, x := range v {
			number = protowire.AppendVarint(number, uint64(x))
			if !packed {
				list = protowire.AppendVarint(protowire.AppendTag(list, 1, protowire.VarintType), uint64(x))
			}
		}
	default:
		return nil // no list is set
	}
	if packed && n != 1 {
		list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), number)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), list)
}

// randomSchema draws fields of all kinds.
func randomSchema(rnd *rand.Rand) (columns.Schema, []field) {
	kinds := []tfrecord.Kind{tfrecord.KindInt64, tfrecord.KindFloat, tfrecord.KindBytes}
	shapes := [][]int{{}, {}, {1}, {3}, {2, 2}}
	var schema columns.Schema
	var fields []field
	for i := range 1 + rnd.IntN(6) {
		f := columns.Field{Key: fmt.Sprintf("%c/%s", 'a'+i, randomKey(rnd)), Kind: kinds[rnd.IntN(3)]}
		w := field{Key: f.Key, Kind: f.Kind.String(), Shape: []int{}}
		if rnd.IntN(3) == 0 {
			f.Ragged, w.Ragged = true, true
		} else {
			w.Shape = shapes[rnd.IntN(len(shapes))]
			f.Shape = w.Shape
			if rnd.IntN(3) > 0 {
				f.Default = randomValues(rnd, f.Kind, size(w.Shape))
				w.Default = written(f.Default)[1:]
			}
		}
		schema, fields = append(schema, f), append(fields, w)
	}
	return schema, fields
}

func size(shape []int) int {
	n := 1
	for _, side := range shape {
		n *= side
	}
	return n
}

// randomRecord draws a record of a schema: keys in any order, some missing,
// twice, or not in the schema, and now and then one that does not suit it.
func randomRecord(rnd *rand.Rand, s columns.Schema, oddity float64) []byte {
	var features []byte
	add := func(key string, feature []byte) {
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), feature)
		features = protowire.AppendBytes(protowire.AppendTag(features, 1, protowire.BytesType), entry)
	}
	for _, i := range rnd.Perm(len(s)) {
		f := s[i]
		if (f.Ragged || f.Default != nil) && rnd.IntN(4) == 0 {
			if rnd.IntN(2) == 0 {
				add(f.Key, nil)
			}
			continue
		}
		n := size(f.Shape)
		if f.Ragged {
			n = []int{0, 0, 1, 2, 5, 40}[rnd.IntN(6)]
		}
		kind := f.Kind
		if rnd.Float64() < oddity {
			switch rnd.IntN(3) {
			case 0:
				kind = 1 + (kind % 3)
			case 1:
				n++
			default:
				continue
			}
		}
		if rnd.IntN(8) == 0 {
			add(f.Key, wire(randomValues(rnd, f.Kind, n+rnd.IntN(2)), true))
		}
		add(f.Key, wire(randomValues(rnd, kind, n), rnd.IntN(4) > 0))
		if rnd.IntN(4) == 0 {
			add("not asked for", wire(randomValues(rnd, kind, 3), true))
		}
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), features)
}

// columnsJudge is columns.py.
type columnsJudge struct {
	ask func(t *testing.T, request, answer any)
}

func startColumns(t *testing.T) *columnsJudge {
	t.Helper()
	return &columnsJudge{startScript(t, *python, "columns.py")}
}

// parse returns tf.io.parse_example's columns of all records of a file, or what
// is wrong with them.
func (j *columnsJudge) parse(t *testing.T, path string, fields []field) (columns []column, says string) {
	t.Helper()
	var answer struct {
		Columns []column
		Error   string
	}
	j.ask(t, map[string]any{"path": path, "fields": fields}, &answer)
	return answer.Columns, answer.Error
}

// parseBoth parses records as TensorFlow and as we do. If both refuse them, both results are nil; if
// only one does, so are they, and that is an error of the test.
func (j *columnsJudge) parseBoth(t *testing.T, what string, schema columns.Schema, fields []field, records [][]byte) (want []column, got *columns.Columns) {
	t.Helper()
	want, says := j.parse(t, writeFile(t, tfrecord.CompressionNone, records), fields)
	p, err := columns.NewParser(schema)
	if err != nil {
		t.Fatal(err)
	}
	got = new(columns.Columns)
	if err = p.Parse(got, records); (err != nil) != (says != "") {
		t.Errorf("%s: we say %v, TensorFlow %q", what, err, says)
	}
	if err != nil || says != "" {
		return nil, nil
	}
	return want, got
}

// writtenColumns returns columns as columns.py does.
func writtenColumns(c *columns.Columns) []column {
	var out []column
	for i := range c.Columns {
		col := &c.Columns[i]
		w := column{Shape: col.Shape, Splits: col.Splits, StepSplits: col.StepSplits}
		switch col.Kind {
		case tfrecord.KindInt64:
			w.Values = written(col.Int64s)[1:]
		case tfrecord.KindFloat:
			w.Values = written(col.Floats)[1:]
		default:
			values := [][]byte{}
			for k := range col.Len() {
				values = append(values, col.Value(k))
			}
			w.Values = written(values)[1:]
		}
		if len(w.Splits) == 0 {
			w.Splits = nil
		}
		if len(w.StepSplits) == 0 {
			w.StepSplits = nil
		}
		out = append(out, w)
	}
	return out
}

func TestColumnsAreParseExamples(t *testing.T) {
	j := startColumns(t)
	refused := 0
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		schema, fields := randomSchema(rnd)
		oddity := 0.0
		if seed%3 == 2 {
			oddity = 0.02
		}
		var records [][]byte
		for range 1 + rnd.IntN(20) {
			records = append(records, randomRecord(rnd, schema, oddity))
		}
		want, got := j.parseBoth(t, fmt.Sprintf("seed %d", seed), schema, fields, records)
		if got == nil {
			refused++
			continue
		}
		if diff := cmp.Diff(want, writtenColumns(got)); diff != "" {
			t.Errorf("seed %d: columns differ (-TensorFlow +ours):\n%.2000s", seed, diff)
		}
	}
	if refused == 0 || refused > 75 {
		t.Errorf("%d of 150 batches were refused", refused)
	}
}
