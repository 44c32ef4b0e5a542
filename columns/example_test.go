package columns_test

import (
	"fmt"
	"log"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/tfrecord"
)

// Sequences of words become a tensor of ids: padding makes all rows of a batch equally long, and a
// vocabulary numbers the words.
func ExampleColumn_Dense() {
	var records [][]byte
	for _, words := range [][]string{{"to", "be"}, {"or", "not", "to", "be"}} {
		var b tfrecord.Builder
		b.String("words", words...)
		records = append(records, b.Append(nil))
	}

	parser, err := columns.NewParser(columns.Schema{{Key: "words", Kind: tfrecord.KindBytes, Ragged: true}})
	if err != nil {
		log.Fatal(err)
	}
	var batch columns.Columns
	if err := parser.Parse(&batch, records); err != nil {
		log.Fatal(err)
	}
	vocabulary, err := columns.NewVocabulary([]string{"<pad>", "be", "not", "or", "to"})
	if err != nil {
		log.Fatal(err)
	}
	words := batch.Get("words")
	var dense columns.Column
	if err := words.Dense(&dense, 0, "<pad>"); err != nil {
		log.Fatal(err)
	}
	ids, err := vocabulary.Lookup(nil, &dense)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dense.Shape, ids, words.Lengths(nil))
	// Output: [2 4] [4 1 0 0 3 2 4 1] [2 4]
}

// SequenceExamples become columns of steps: ragged, or padded to the longest record of the batch.
func ExampleParser_sequences() {
	var records [][]byte
	for id, steps := range []int{3, 1} {
		var b tfrecord.SequenceBuilder
		b.Context.Int64("id", int64(id))
		for i := range steps {
			b.Float("position", float32(i), float32(i)/2)
			b.Int64("action", int64(10+i))
		}
		records = append(records, b.Append(nil))
	}

	parser, err := columns.NewParser(columns.Schema{
		{Key: "id", Kind: tfrecord.KindInt64},
		{Key: "position", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: columns.ListSteps},
		{Key: "action", Kind: tfrecord.KindInt64, Steps: columns.ListSteps, Length: columns.Longest, Default: -1},
	})
	if err != nil {
		log.Fatal(err)
	}
	var batch columns.Columns
	if err := parser.Parse(&batch, records); err != nil {
		log.Fatal(err)
	}
	position, action := batch.Get("position"), batch.Get("action")
	fmt.Println(position.Shape, position.Floats, position.Splits)
	fmt.Println(action.Shape, action.Int64s, action.Lengths(nil))
	// Output:
	// [2 -1 2] [0 0 1 0.5 2 1 0 0] [0 3 4]
	// [2 3] [10 11 12 10 -1 -1] [3 1]
}
