package write_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/write"
)

// Write rows, such as those of a database, as a set with two splits and named labels.
func Example() {
	temp, err := os.MkdirTemp("", "write-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)

	set, err := write.Create(context.Background(), filepath.Join(temp, "birds"), write.Options{
		Splits:     []shard.SplitShare{{Name: "train", Share: 0.8}, {Name: "test", Share: 0.2}},
		Labels:     []string{"heron", "kite", "stork"},
		Supervised: &manifest.Supervised{Input: "wings", Target: "label"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close() // removes everything unless Finish succeeded
	for i := range 100 {
		e := set.Example(fmt.Sprintf("bird %d", i))
		e.Label("label", []string{"heron", "kite", "stork"}[i%3])
		e.Float("wings", float32(i), float32(2*i))
		if err := e.Write(); err != nil {
			log.Fatal(err)
		}
	}
	report, err := set.Finish()
	if err != nil {
		log.Fatal(err)
	}
	for _, split := range report.Manifest.Splits {
		fmt.Println(split.Name, split.Records, split.Shards[0].File, split.Shards[0].Labels)
	}
	for _, f := range report.Manifest.Features {
		fmt.Println(f.Key, f.Kind, f.Class, f.Shape)
	}
	// Output:
	// train 86 birds-train.tfrecord-00000-of-00001 map[heron:28 kite:31 stork:27]
	// test 14 birds-test.tfrecord-00000-of-00001 map[heron:6 kite:2 stork:6]
	// label int64 label []
	// wings float vector [2]
}
