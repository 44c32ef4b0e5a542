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
