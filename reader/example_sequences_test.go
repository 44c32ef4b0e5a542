package reader_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// sentences builds Examples with 1 to 7 words and their language.
func sentences(b *tfrecord.Builder, i int) {
	b.Int64("words", slices.Repeat([]int64{int64(i + 1)}, 1+i*5%7)...)
	b.Int64("language", int64(i%2))
}

// sentence is a record with its number of words.
type sentence struct {
	record reader.Record
	words  int
}

// padded is a batch of sentences as tensors: words of shape {rows, width}, padded with 0.
type padded struct {
	rows, width     int
	words           []int64
	lengths, labels []int64
}

// From records to padded batches of similar lengths: several goroutines find the lengths, then
// parse and pad one batch each.
func ExampleBucketByLength() {
	dir, remove := written(9, sentences)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	lengths := reader.MapWith(set.Records(), func() func(reader.Record) (sentence, error) {
		var e tfrecord.Example // reused
		return func(r reader.Record) (sentence, error) {
			if err := e.Parse(r.Data); err != nil {
				return sentence{}, err
			}
			words, _ := e.Get("words")
			return sentence{r, words.Len()}, nil
		}
	}, reader.MapOptions{})
	buckets := reader.BucketByLength(lengths, func(s sentence) int { return s.words }, reader.BucketOptions{
		Boundaries: []int{4}, // 1 to 3 words, and 4 or more
		BatchSizes: []int{4, 2},
	})
	batches := reader.Map(buckets, func(batch []sentence) (p padded, err error) {
		parser, err := columns.NewParser(columns.Schema{
			{Key: "words", Kind: tfrecord.KindInt64, Ragged: true},
			{Key: "language", Kind: tfrecord.KindInt64},
		})
		if err != nil {
			return p, err
		}
		var ragged columns.Columns
		var dense columns.Column
		parser.Reset(&ragged)
		for _, s := range batch {
			if err := parser.Append(&ragged, s.record.Data); err != nil {
				return p, err
			}
		}
		words := ragged.Get("words")
		if err := words.Dense(&dense, 0, nil); err != nil { // as wide as the longest sentence
			return p, err
		}
		p = padded{rows: dense.Shape[0], width: dense.Shape[1], words: dense.Int64s, lengths: words.Lengths(nil)}
		p.labels, err = ragged.Int64s("language")
		return p, err
	}, reader.MapOptions{})
	for b, err := range batches.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.words, "by", b.width, "lengths", b.lengths, "labels", b.labels)
	}
	// Output:
	// [2 2 2 2 2 2 3 3 3 3 0 0] by 6 lengths [6 4] labels [1 0]
	// [5 5 5 5 5 5 5 6 6 6 6 6 0 0] by 7 lengths [7 5] labels [0 1]
	// [1 0 0 4 4 0 7 7 7 8 0 0] by 3 lengths [1 2 3 1] labels [0 1 0 1]
	// [9 9 9 9 9 9] by 6 lengths [6] labels [0]
}

func ExamplePack() {
	dir, remove := written(9, sentences)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	tokens := reader.Map(set.Records(), func(r reader.Record) ([]int64, error) {
		var e tfrecord.Example
		if err := e.Parse(r.Data); err != nil {
			return nil, err
		}
		words, _ := e.Get("words")
		return words.AppendInt64s(nil), nil
	}, reader.MapOptions{})
	size, filled := 0, 0
	for b, err := range reader.Pack(tokens, reader.PackOptions{Length: 8, Batch: 2}).All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		for row := range b.Shape[0] {
			from, to := row*b.Shape[1], (row+1)*b.Shape[1]
			fmt.Println(b.Tokens[from:to], b.Segments[from:to], b.Positions[from:to])
		}
		size, filled = size+len(b.Tokens), filled+b.Filled
	}
	fmt.Printf("%d%% filled\n", 100*filled/size)
	// Output:
	// [6 6 6 6 6 7 7 7] [1 1 1 1 1 2 2 2] [0 1 2 3 4 0 1 2]
	// [1 2 2 2 2 2 2 8] [1 2 2 2 2 2 2 3] [0 0 1 2 3 4 5 0]
	// [3 3 3 3 4 4 0 0] [1 1 1 1 2 2 0 0] [0 1 2 3 0 1 0 0]
	// [5 5 5 5 5 5 5 0] [1 1 1 1 1 1 1 0] [0 1 2 3 4 5 6 0]
	// [9 9 9 9 9 9 0 0] [1 1 1 1 1 1 0 0] [0 1 2 3 4 5 0 0]
	// 87% filled
}
