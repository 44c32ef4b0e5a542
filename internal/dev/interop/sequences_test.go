//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// randomStepSchema draws fields with steps and without. TensorFlow pads lists with zeros only.
func randomStepSchema(rnd *rand.Rand, steps columns.Steps) (columns.Schema, []field) {
	kinds := []tfrecord.Kind{tfrecord.KindInt64, tfrecord.KindFloat, tfrecord.KindBytes}
	shapes := [][]int{{}, {}, {1}, {3}, {2, 2}}
	var schema columns.Schema
	var fields []field
	for i := range 1 + rnd.IntN(5) {
		f := columns.Field{Key: fmt.Sprintf("%c/%s", 'a'+i, randomKey(rnd)), Kind: kinds[rnd.IntN(3)]}
		w := field{Key: f.Key, Kind: f.Kind.String(), Shape: []int{}}
		if i == 0 || rnd.IntN(3) > 0 {
			f.Steps, w.Steps = steps, map[columns.Steps]string{columns.ListSteps: "list", columns.FlatSteps: "flat"}[steps]
			f.AllowMissing = steps == columns.FlatSteps || rnd.IntN(2) == 0
		}
		if steps == columns.ListSteps && rnd.IntN(3) == 0 {
			f.Ragged, w.Ragged = true, true
			f.AllowMissing = f.Steps != columns.NoSteps // as TensorFlow does
		} else {
			w.Shape = shapes[rnd.IntN(len(shapes))]
			f.Shape = w.Shape
			if f.Steps != columns.NoSteps {
				f.Length = columns.Longest
			}
			if steps == columns.FlatSteps && f.Steps == steps {
				f.Default = randomValues(rnd, f.Kind, 1)
				w.Default = written(f.Default)[1:]
			}
		}
		w.Missing = f.AllowMissing
		schema, fields = append(schema, f), append(fields, w)
	}
	return schema, fields
}

// appendEntry appends an entry of Features or FeatureLists.
func appendEntry(dst []byte, key string, value []byte) []byte {
	entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
	entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), value)
	return protowire.AppendBytes(protowire.AppendTag(dst, 1, protowire.BytesType), entry)
}

// randomStepRecord draws a record of a schema: keys in any order, some missing or twice, lists of
// different lengths, and now and then a record that does not match.
func randomStepRecord(rnd *rand.Rand, s columns.Schema, oddity float64) []byte {
	var context, lists []byte
	for _, i := range rnd.Perm(len(s)) {
		f := s[i]
		if (f.AllowMissing || f.Ragged && f.Steps == columns.NoSteps) && rnd.IntN(5) == 0 {
			continue
		}
		steps, kind, n := []int{0, 1, 2, 9, 30}[rnd.IntN(5)], f.Kind, size(f.Shape)
		if rnd.Float64() < oddity {
			switch rnd.IntN(3) {
			case 0:
				kind = 1 + kind%3
			case 1:
				n++
			default:
				continue
			}
		}
		values := func() []byte {
			n := n
			if f.Ragged {
				n = []int{0, 0, 1, 2, 20}[rnd.IntN(5)]
			}
			return wire(randomValues(rnd, kind, n), rnd.IntN(4) > 0)
		}
		switch f.Steps {
		case columns.ListSteps:
			for range 1 + rnd.IntN(8)/7 { // the last one of a key wins
				var list []byte
				for range steps {
					step := values()
					if f.Ragged && rnd.IntN(10) == 0 {
						step = nil // no list is set
					}
					list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), step)
				}
				lists = appendEntry(lists, f.Key, list)
			}
		case columns.FlatSteps:
			context = appendEntry(context, f.Key, wire(randomValues(rnd, kind, steps*n), rnd.IntN(4) > 0))
		default:
			context = appendEntry(context, f.Key, values())
		}
		if rnd.IntN(5) == 0 {
			lists = appendEntry(lists, "not asked for", nil)
			context = appendEntry(context, "not asked for", nil)
		}
	}
	var record []byte
	if len(context) > 0 {
		record = protowire.AppendBytes(protowire.AppendTag(record, 1, protowire.BytesType), context)
	}
	if slices.ContainsFunc(s, func(f columns.Field) bool { return f.Steps == columns.ListSteps }) && len(lists) > 0 {
		record = protowire.AppendBytes(protowire.AppendTag(record, 2, protowire.BytesType), lists)
	}
	if rnd.Float64() < oddity/2 && len(record) > 0 {
		record = record[:rnd.IntN(len(record))]
	}
	return record
}

// TensorFlow pads to no step at all where no record has one, we to one.
func atLeastOneStep(want []column, s columns.Schema, rows int) {
	for i, f := range s {
		if f.Length != columns.Longest || want[i].Shape[1] > 0 {
			continue
		}
		want[i].Shape[1] = 1
		pad := written(map[tfrecord.Kind]any{tfrecord.KindInt64: []int64{0}, tfrecord.KindFloat: []float32{0}, tfrecord.KindBytes: [][]byte{nil}}[f.Kind])[1:]
		if f.Default != nil {
			pad = written(f.Default)[1:]
		}
		want[i].Values = slices.Repeat(pad, rows*size(f.Shape))
	}
}

// The columns of sequences are those of tf.io.parse_sequence_example, and of
// tf.io.FixedLenSequenceFeature in tf.io.parse_example.
func TestSequencesAreThoseOfTensorFlow(t *testing.T) {
	j := startColumns(t)
	refused := 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		steps := columns.ListSteps
		if seed%3 == 0 {
			steps = columns.FlatSteps
		}
		schema, fields := randomStepSchema(rnd, steps)
		oddity := 0.0
		if seed%4 == 3 {
			oddity = 0.05
		}
		var records [][]byte
		for range 1 + rnd.IntN(15) {
			records = append(records, randomStepRecord(rnd, schema, oddity))
		}
		want, got := j.parseBoth(t, fmt.Sprintf("seed %d", seed), schema, fields, records)
		if got == nil {
			refused++
			continue
		}
		atLeastOneStep(want, schema, len(records))
		ours := writtenColumns(got)
		for i := range ours {
			if steps == columns.FlatSteps {
				ours[i].Splits = nil // parse_example has no lengths
			}
		}
		if diff := cmp.Diff(want, ours); diff != "" {
			t.Errorf("seed %d: columns differ (-TensorFlow +ours):\n%.2000s", seed, diff)
		}
	}
	if refused < 10 || refused > 100 {
		t.Errorf("%d of 200 batches were refused", refused)
	}
}

// Episodes in RLDS format, as TFDS writes them, are read with FlatSteps, their images as columns and
// as clips. Values that vary in number
// from step to step are two features: the values, and how many each step has.
func TestEpisodesAreThoseOfTFDS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "episodes.tfrecord")
	c := exec.Command(*python, "episodes.py", path)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s episodes.py: %v (make venv makes its environment)", *python, err)
	}
	var want map[string]column
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	decoded := want["decoded"]
	delete(want, "decoded")
	flat := func(key string, kind tfrecord.Kind, shape ...int) columns.Field {
		return columns.Field{Key: key, Kind: kind, Shape: shape, Steps: columns.FlatSteps}
	}
	schema := columns.Schema{
		{Key: "episode_metadata/id", Kind: tfrecord.KindInt64},
		flat("steps/observation/state", tfrecord.KindFloat, 3),
		flat("steps/observation/image", tfrecord.KindBytes),
		flat("steps/action", tfrecord.KindFloat, 2, 2),
		flat("steps/reward", tfrecord.KindFloat),
		flat("steps/is_last", tfrecord.KindInt64),
		flat("steps/language", tfrecord.KindBytes),
		{Key: "steps/tokens/ragged_flat_values", Kind: tfrecord.KindInt64, Ragged: true},
		flat("steps/tokens/ragged_row_lengths_0", tfrecord.KindInt64),
	}
	p, err := columns.NewParser(schema)
	if err != nil {
		t.Fatal(err)
	}
	var all columns.Columns
	var records [][]byte
	readFile(t, path, tfrecord.CompressionNone, func(r []byte) { records = append(records, bytes.Clone(r)) })
	if err := p.Parse(&all, records); err != nil {
		t.Fatal(err)
	}
	got := map[string]column{}
	for i, c := range writtenColumns(&all) {
		got[schema[i].Key] = c
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-TFDS +ours):\n%.3000s", diff)
	}

	clips := column{Shape: []int{0, -1, 2, 2, 3}, Splits: []int64{0}}
	for _, b := range imageBatches(t, reader.ImageSpec{
		Size: 2, NoLabels: true, ImageKey: "steps/observation/image", Steps: columns.FlatSteps, Frames: columns.Longest,
	}, records...) {
		clips.Shape[0]++
		clips.Splits = append(clips.Splits, clips.Splits[len(clips.Splits)-1]+b.Lengths[0])
		for _, x := range b.Bytes[:12*b.Lengths[0]] {
			clips.Values = append(clips.Values, strconv.Itoa(int(x)))
		}
	}
	if diff := cmp.Diff(decoded, clips); diff != "" {
		t.Errorf("(-TFDS +ours):\n%.3000s", diff)
	}
}
