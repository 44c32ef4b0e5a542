package reader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// written writes a file of n Examples into a new directory, and returns the directory and a
// function that removes it.
func written(n int, example func(b *tfrecord.Builder, i int)) (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "reader-example")
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "data.tfrecord"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	w, err := tfrecord.NewWriter(file, tfrecord.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range n {
		var b tfrecord.Builder
		example(&b, i)
		if err := w.WriteRecord(b.Append(nil)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// flowers builds Examples with an id, some sizes and a name.
func flowers(b *tfrecord.Builder, i int) {
	b.Int64("id", int64(i))
	b.Float("size", float32(i), float32(i)/2)
	b.String("name", []string{"rose", "tulip"}[i%2])
}

func Example() {
	dir, remove := written(10, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	var e tfrecord.Example
	for batch, err := range reader.Batch(set.Interleave(16, 1), 4, reader.BatchOptions{}).All(context.Background()) {
		if err != nil {
			log.Fatal(err) // the error names the file and the position
		}
		var ids []int64
		for _, record := range batch {
			if err := e.Parse(record.Data); err != nil {
				log.Fatal(set.Locate(record, err))
			}
			id, _ := e.Get("id")
			value, _ := id.Int64()
			ids = append(ids, value)
		}
		fmt.Println(ids)
	}
	// Output:
	// [0 1 2 3]
	// [4 5 6 7]
	// [8 9]
}

func ExampleParseColumns() {
	dir, remove := written(5, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	batches := reader.ParseColumns(set.Records(), reader.ColumnSpec{
		Schema: columns.Schema{
			{Key: "id", Kind: tfrecord.KindInt64},
			{Key: "size", Kind: tfrecord.KindFloat, Shape: []int{2}},
			{Key: "name", Kind: tfrecord.KindBytes},
		},
		Batch: 3,
	})
	for batch, err := range batches.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		size, name := batch.Get("size"), batch.Get("name")
		fmt.Println(batch.Get("id").Int64s, size.Shape, size.Floats, string(name.Value(0)))
	}
	// Output:
	// [0 1 2] [3 2] [0 0 1 0.5 2 1] rose
	// [3 4] [2 2] [3 1.5 4 2] tulip
}

// A batch is slices and a shape, which tensor libraries accept: Gorgonia and ONNX Runtime's binding
// without a copy, GoMLX for moving them to the device.
//
//	tensor.New(tensor.WithShape(c.Shape...), tensor.WithBacking(c.Floats)) // Gorgonia
//	ort.NewTensor(ort.NewShape(rows, columns), c.Floats)                    // ONNX Runtime
//	tensors.FromFlatDataAndDimensions(c.Floats, c.Shape...)                 // GoMLX
//
// Data used without a copy are valid until the next batch is requested.
func ExampleColumn() {
	dir, remove := written(4, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// What a binding gets: contiguous values in row-major order, and the shape.
	give := func(shape []int, values []float32) { fmt.Println(shape, len(values), values[2:4]) }

	for batch, err := range reader.ParseColumns(set.Records(), reader.ColumnSpec{Batch: 4}).All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		size := batch.Get("size")
		give(size.Shape, size.Floats)
	}
	// Output:
	// [4 2] 8 [1 0.5]
}

func ExampleImages() {
	// Images of one colour, each lighter than the previous one.
	dir, remove := written(4, func(b *tfrecord.Builder, i int) {
		im := image.NewGray(image.Rect(0, 0, 20, 10))
		for k := range im.Pix {
			im.Pix[k] = color.Gray{Y: uint8(51 * i)}.Y
		}
		var data bytes.Buffer
		if err := png.Encode(&data, im); err != nil {
			log.Fatal(err)
		}
		b.Bytes(reader.DefaultImageKey, data.Bytes())
		b.Int64(reader.DefaultLabelKey, int64(i%2))
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{
		Size: 8, Batch: 2, DType: reader.Float32, NCHW: true,
	})
	for batch, err := range images.Prefetch(0).All(context.Background()) { // 0: as many ahead as it takes
		if err != nil {
			log.Fatal(err)
		}
		last := batch.Pixels[len(batch.Pixels)-1]
		fmt.Println(batch.Shape, batch.DType, len(batch.Pixels), last, batch.Labels)
	}
	// Output:
	// [2 3 8 8] float32 384 0.2 [0 1]
	// [2 3 8 8] float32 384 0.6 [0 1]
}

// A job reads its data epoch by epoch, in one run.
func ExampleStream_NextEpoch() {
	dir, remove := written(6, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{Seed: 2})
	if err != nil {
		log.Fatal(err)
	}
	batches := reader.ParseColumns(set.Records().Shuffle(100), reader.ColumnSpec{Batch: 4})
	run, err := batches.Start(context.Background(), reader.From{})
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for run.Epoch() < 3 {
		for batch, err := range run.All() {
			if err != nil {
				log.Fatal(err)
			}
			ids, err := batch.Int64s("id")
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(batch.Epoch, ids)
		}
		if err := run.NextEpoch(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 0 [2 4 3 0]
	// 0 [5 1]
	// 1 [2 1 4 5]
	// 1 [0 3]
	// 2 [3 0 2 5]
	// 2 [4 1]
}

func ExampleMap() {
	dir, remove := written(5, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// Several goroutines call the function; the order is preserved.
	names := reader.Map(set.Records(), func(r reader.Record) (string, error) {
		var e tfrecord.Example
		if err := e.Parse(r.Data); err != nil {
			return "", err
		}
		f, _ := e.Get("name")
		name, _ := f.Bytes()
		return fmt.Sprintf("%s %d", name, r.Number), nil
	}, reader.MapOptions{})
	for some, err := range reader.Batch(names, 3, reader.BatchOptions{}).All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(some)
	}
	// Output:
	// [rose 0 tulip 1 rose 2]
	// [tulip 3 rose 4]
}

func ExampleFrom() {
	dir, remove := written(8, flowers)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{Seed: 3})
	if err != nil {
		log.Fatal(err)
	}
	pipe := set.Records().Shuffle(4).Repeat(2)
	numbers := func(s *reader.Stream[reader.Record], n int) (list []int64) {
		for range n {
			r, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				log.Fatal(err)
			}
			list = append(list, r.Number)
		}
		return list
	}

	// All elements, for comparison.
	whole, err := pipe.Start(context.Background(), reader.From{})
	if err != nil {
		log.Fatal(err)
	}
	defer whole.Close()
	want := numbers(whole, 16)

	// The first part, and a State after it: JSON, a few hundred bytes.
	part, err := pipe.Start(context.Background(), reader.From{})
	if err != nil {
		log.Fatal(err)
	}
	got := numbers(part, 11)
	saved, err := json.Marshal(part.State())
	if err != nil {
		log.Fatal(err)
	}
	part.Close()

	// Later, in another process: the rest.
	var state reader.State
	if err := json.Unmarshal(saved, &state); err != nil {
		log.Fatal(err)
	}
	rest, err := pipe.Start(context.Background(), reader.From{State: &state})
	if err != nil {
		log.Fatal(err)
	}
	defer rest.Close()
	got = append(got, numbers(rest, 16)...)

	fmt.Println(len(got), fmt.Sprint(got) == fmt.Sprint(want))
	// Output:
	// 16 true
}

func ExampleMix() {
	ctx := context.Background()
	var pipes []reader.Pipe
	for _, from := range []int{0, 100} {
		dir, remove := written(6, func(b *tfrecord.Builder, i int) { b.Int64("id", int64(from+i)) })
		defer remove()
		set, err := reader.Open(ctx, dir, reader.Options{Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		pipes = append(pipes, set.Records())
	}
	mixed := reader.Mix(reader.MixOptions{Weights: []float64{2, 1}}, pipes...)
	for batch, err := range reader.ParseColumns(mixed, reader.ColumnSpec{Batch: 6}).All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Get("id").Int64s)
	}
	// Output:
	// [0 1 100 2 101 3]
	// [4 102 103 5 104 105]
}

func ExampleWeightedSampler() {
	ctx := context.Background()
	dir, remove := written(1000, func(b *tfrecord.Builder, i int) {
		b.Int64("rare", map[bool]int64{true: 1}[i%100 == 0]) // 1% of the records
	})
	defer remove()
	set, err := reader.Open(ctx, dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// The labels of all records, in their order.
	var labels []int64
	count := map[int64]float64{}
	for batch, err := range reader.ParseColumns(set.Records(), reader.ColumnSpec{Batch: 500}).All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		labels = append(labels, batch.Get("rare").Int64s...)
	}
	for _, label := range labels {
		count[label]++
	}
	weights := make([]float64, len(labels))
	for i, label := range labels {
		weights[i] = 1 / count[label]
	}
	balanced := set.Sample(reader.WeightedSampler(weights, reader.WeightedOptions{Replacement: true}))
	rare := 0
	for batch, err := range reader.ParseColumns(balanced, reader.ColumnSpec{Batch: 500}).All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, label := range batch.Get("rare").Int64s {
			rare += int(label)
		}
	}
	fmt.Printf("%.0f%% of the records, %.0f%% of the draws\n", 100*count[1]/1000, float64(rare)/10)
	// Output: 1% of the records, 52% of the draws
}

func ExampleMergeStates() {
	ctx := context.Background()
	dir, remove := written(12, flowers)
	defer remove()
	// worker returns the batches of one of several workers.
	worker := func(rank, world int) reader.Flow[*reader.ColumnBatch] {
		set, err := reader.Open(ctx, dir, reader.Options{Worker: rank, Workers: world})
		if err != nil {
			log.Fatal(err)
		}
		return reader.ParseColumns(set.Records().Shuffle(3), reader.ColumnSpec{Batch: 2})
	}
	// Two workers stop after a step.
	var states []reader.State
	for rank := range 2 {
		run, err := worker(rank, 2).Start(ctx, reader.From{})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := run.Next(); err != nil {
			log.Fatal(err)
		}
		states = append(states, run.State())
		run.Close()
	}
	merged, err := reader.MergeStates(states)
	if err != nil {
		log.Fatal(err)
	}
	// Three continue.
	rest := 0
	for rank := range 3 {
		run, err := worker(rank, 3).Start(ctx, reader.From{State: &merged})
		if err != nil {
			log.Fatal(err)
		}
		for batch, err := range run.All() {
			if err != nil {
				log.Fatal(err)
			}
			rest += batch.Rows
		}
		run.Close()
	}
	fmt.Println(rest, "records were left of 12")
	// Output: 8 records were left of 12
}

// Episodes in RLDS format, with all steps of a feature in one list, become shuffled windows of two
// steps, as batches of one shape.
func ExampleWindows() {
	dir, remove := written(2, func(b *tfrecord.Builder, episode int) {
		var action []int64
		var state []float32
		for step := range 3 + 2*episode {
			action = append(action, int64(10*episode+step))
			state = append(state, float32(step), float32(step)/2)
		}
		b.Int64("episode_metadata/id", int64(episode))
		b.Int64("steps/action", action...)
		b.Float("steps/observation", state...)
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	schema := columns.Schema{
		{Key: "episode_metadata/id", Kind: tfrecord.KindInt64},
		{Key: "steps/action", Kind: tfrecord.KindInt64, Steps: columns.FlatSteps, Length: 2},
		{Key: "steps/observation", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: columns.FlatSteps, Length: 2},
	}
	windows := reader.Windows(set.Records(), columns.WindowSpec{Schema: schema, Length: 2, Stride: 1, DropRemainder: true})
	batches := reader.ParseColumns(windows.Shuffle(100), reader.ColumnSpec{Schema: schema, Batch: 3})
	for batch, err := range batches.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		id, action, state := batch.Get("episode_metadata/id"), batch.Get("steps/action"), batch.Get("steps/observation")
		fmt.Println(id.Int64s, action.Shape, action.Int64s, state.Shape)
	}
	// Output:
	// [0 1 0] [3 2] [1 2 10 11 0 1] [3 2 2]
	// [1 1 1] [3 2] [11 12 13 14 12 13] [3 2 2]
}
