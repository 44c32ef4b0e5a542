package convert_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// bird is a row of a database.
type bird struct {
	id      string
	updated string // a version: the time of the last change
	class   int64
	wings   []float32
}

// birds is a table of the database.
type birds []bird

// List yields keys and versions only: `SELECT id, updated FROM birds`.
func (b birds) List(context.Context) iter.Seq2[convert.Sample, error] {
	return func(yield func(convert.Sample, error) bool) {
		for _, row := range b {
			if !yield(convert.Sample{Key: row.id, Version: row.updated}, nil) {
				return
			}
		}
	}
}

// Make reads one row: `SELECT class, wings FROM birds WHERE id = ?`.
func (b birds) Make(_ context.Context, s convert.Sample, e *tfrecord.Builder) error {
	for _, row := range b {
		if row.id == s.Key {
			e.Int64("class", row.class)
			e.Float("wings", row.wings...)
			return nil
		}
	}
	return &convert.SampleError{Stage: "read", Err: fmt.Errorf("the row is gone")} // a line of errors.jsonl
}

// Keep a set up to date with a table of a database: a changed row redoes one shard.
func ExampleSamples() {
	temp, err := os.MkdirTemp("", "samples-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	var table birds
	for i := range 1000 {
		table = append(table, bird{fmt.Sprintf("bird-%04d", i), "monday", int64(i % 2), []float32{float32(i), 1}})
	}
	o := convert.SampleOptions{
		Labels: []string{"heron", "kite"},
		Features: []manifest.Feature{
			{Key: "class", Kind: "int64", Class: manifest.ClassLabel},
			{Key: "wings", Kind: "float", Class: manifest.ClassVector, Shape: []int{2}},
		},
	}
	o.Shards = 10
	for _, day := range []string{"monday", "monday", "tuesday"} {
		table[500].updated = day
		sum, err := convert.Samples(context.Background(), table, filepath.Join(temp, "birds"), o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sum.Status, sum.Records, "records,", sum.ShardsWritten, "shards written")
	}
	// Output:
	// written 1000 records, 10 shards written
	// up_to_date 1000 records, 0 shards written
	// updated 1000 records, 1 shards written
}
