//go:build interop

package interop

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// sentence is a record with the length of its list.
type sentence struct {
	data   []byte
	length int
}

func sentenceOf(r reader.Record) (sentence, error) {
	var e tfrecord.Example
	if err := e.Parse(r.Data); err != nil {
		return sentence{}, err
	}
	ids, _ := e.Get("ids")
	return sentence{r.Data, ids.Len()}, nil
}

// padded makes one tensor of a batch, as rows.
func padded(batch []sentence) ([][]int64, error) {
	parser, err := columns.NewParser(columns.Schema{{Key: "ids", Kind: tfrecord.KindInt64, Ragged: true}})
	if err != nil {
		return nil, err
	}
	var ragged columns.Columns
	parser.Reset(&ragged)
	for _, s := range batch {
		if err := parser.Append(&ragged, s.data); err != nil {
			return nil, err
		}
	}
	var dense columns.Column
	if err := ragged.Get("ids").Dense(&dense, 0, nil); err != nil {
		return nil, err
	}
	rows := make([][]int64, dense.Shape[0])
	for i := range rows {
		rows[i] = dense.Int64s[i*dense.Shape[1] : (i+1)*dense.Shape[1]]
	}
	return rows, nil
}

// Buckets and padded batches are those of tf.data, in the same order.
func TestPaddedBatchesAreThoseOfTFData(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		var records [][]byte
		for i := range rnd.IntN(300) {
			ids := make([]int64, 1+rnd.IntN(1+rnd.IntN(60)))
			for k := range ids {
				ids[k] = int64(i + 1)
			}
			var b tfrecord.Builder
			b.Int64("ids", ids...)
			records = append(records, b.Append(nil))
		}
		o := reader.BucketOptions{BatchSizes: []int{1 + rnd.IntN(20)}, DropRemainder: rnd.IntN(2) == 0}
		if seed%5 > 0 {
			for at := 1 + rnd.IntN(20); len(o.Boundaries) == 0 || rnd.IntN(4) > 0; at += 1 + rnd.IntN(20) {
				o.Boundaries = append(o.Boundaries, at)
				o.BatchSizes = append(o.BatchSizes, 1+rnd.IntN(20))
			}
		}
		path := writeFile(t, tfrecord.CompressionNone, records)
		want := [][][]int64{}
		ask(t, &want, "padded", map[string]any{"path": path, "boundaries": o.Boundaries, "sizes": o.BatchSizes, "drop": o.DropRemainder})

		set, err := reader.Open(t.Context(), path, reader.Options{PoisonRecycled: true})
		if err != nil {
			t.Fatal(err)
		}
		sentences := reader.Map(set.Records(), sentenceOf, reader.MapOptions{})
		batches := reader.Batch(sentences, o.BatchSizes[0], reader.BatchOptions{DropRemainder: o.DropRemainder})
		if len(o.Boundaries) > 0 {
			batches = reader.BucketByLength(sentences, func(s sentence) int { return s.length }, o)
		}
		got := [][][]int64{}
		for b, err := range reader.Map(batches, padded, reader.MapOptions{}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, %+v (-TensorFlow +ours):\n%.2000s", seed, o, diff)
		}
	}
}
