package shard_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Write the two shards of a split, then read them in order.
func Example() {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "shard-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	out := filepath.Join(temp, "birds")

	dir, err := shard.OpenDir(ctx, out, shard.DirOptions{}) // creates and locks it
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	for i, names := range [][]string{{"heron", "kite"}, {"stork"}} {
		w, err := dir.Create(fmt.Sprintf("birds-train.tfrecord-%05d-of-00002", i), shard.WriterOptions{})
		if err != nil {
			log.Fatal(err)
		}
		var b tfrecord.Builder
		for _, name := range names {
			b.Reset()
			b.String("name", name)
			if err := w.WriteRecord(b.Append(nil)); err != nil {
				log.Fatal(err) // and the directory has no shard of that name
			}
		}
		info, err := w.Commit() // syncs it, writes its index, renames it
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.File, info.Records)
	}

	sources, err := shard.Expand(ctx, []string{out}, shard.ExpandOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, source := range sources {
		r, err := shard.Open(ctx, source.Path, tfrecord.ReaderOptions{})
		if err != nil {
			log.Fatal(err)
		}
		for {
			record, err := r.Next() // valid until the next call
			if err == io.EOF {
				break
			}
			if err != nil {
				log.Fatal(err) // names the file, the record, the offset and the part
			}
			fmt.Println(r.Record(), len(record), "bytes")
		}
		if err := r.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// birds-train.tfrecord-00000-of-00002 2
	// birds-train.tfrecord-00001-of-00002 1
	// 0 21 bytes
	// 1 20 bytes
	// 0 21 bytes
}
