package gomlx

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestMain(m *testing.M) { settest.Main(m) }

// The set of most tests has this many files and records in each.
const (
	files   = 3
	perFile = 21
	records = files * perFile
)

// writeSet writes records with an id, a label, three numbers x, a word, a list of varying length
// and an image of 4x4 pixels, and returns their directory.
func writeSet(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for f := range files {
		settest.ExampleFile(t, filepath.Join(dir, fmt.Sprintf("set-%d.tfrecord", f)), perFile, func(i int, b *tfrecord.Builder) {
			id := int64(perFile*f + i)
			b.Int64("id", id)
			b.Int64("big", id<<40)
			b.Float("x", float32(id), float32(id)/3, -1)
			b.Bytes("word", []byte{byte(id)})
			b.Int64("list", make([]int64, id%3)...)
			b.Int64(reader.DefaultLabelKey, id)
			b.Bytes(reader.DefaultImageKey, tinyPNG(t, byte(id)))
		})
	}
	return dir
}

func tinyPNG(t testing.TB, sample byte) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 4, 4))
	for i := range m.Pix {
		m.SetGray(i%4, i/4, color.Gray{Y: 3*sample + byte(i)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openSet(t testing.TB, dir string, o reader.Options) *reader.Set {
	t.Helper()
	o.PoisonRecycled = true // what is used too late is noticed
	set, err := reader.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// shuffled returns batches of columns in an order that differs from epoch to epoch.
func shuffled(set *reader.Set, batch int) reader.Flow[*reader.ColumnBatch] {
	return reader.ParseColumns(set.Interleave(2, 1).Shuffle(20), reader.ColumnSpec{Batch: batch})
}

var ids = Columns{Inputs: []Column{{Key: "id"}}, Labels: []Column{{Key: "x", DType: dtypes.Float64}}}

// begin starts a dataset of ids, which is closed with the test.
func begin(t testing.TB, flow reader.Flow[*reader.ColumnBatch]) *Dataset[*reader.ColumnBatch] {
	t.Helper()
	ds, err := New(t.Context(), "ids", flow, reader.From{}, ids)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ds.Close() })
	return ds
}

// flat returns a copy of the values of a tensor.
func flat[T gotype.Supported](t testing.TB, x *tensors.Tensor) []T {
	t.Helper()
	values, err := tensors.CopyFlatData[T](x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// some returns the ids of the next n batches, or up to the end of the epoch.
func some(t testing.TB, ds train.Dataset, n int) (batches [][]int64) {
	t.Helper()
	for batch, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, flat[int64](t, batch.Inputs[0]))
		if len(batches) == n {
			break
		}
	}
	return batches
}

// rest returns the ids up to the end of the epoch.
func rest(t testing.TB, ds train.Dataset) []int64 {
	t.Helper()
	return slices.Concat(some(t, ds, -1)...)
}

// failure returns the error that ends an iterator.
func failure(ds train.Dataset) error {
	for _, err := range ds.Iter() {
		if err != nil {
			return err
		}
	}
	return nil
}

// noGoroutineLeft calls run, and waits until there are no more goroutines than before.
func noGoroutineLeft(t *testing.T, run func(ctx context.Context)) {
	t.Helper()
	before := runtime.NumGoroutine()
	run(t.Context())
	testwait.Until(func() bool { return runtime.NumGoroutine() <= before })
}
