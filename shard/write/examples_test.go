package write_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/shard/write"
	"github.com/tfrec/tfrec/tfrecord"
)

// temporary returns a new directory for an example, and a function that removes it.
func temporary() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "write-example")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// Several goroutines write one set. A sample that cannot be used becomes a line of errors.jsonl, and
// the set is the same as if one goroutine had written it.
func Example_concurrent() {
	temp, remove := temporary()
	defer remove()
	set, err := write.Create(context.Background(), filepath.Join(temp, "numbers"), write.Options{MaxErrors: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < 1000; i += 4 {
				if i == 666 {
					if err := set.Bad(write.BadSample{Key: "666", Source: "numbers.txt", Line: 667, Stage: "parse", Reason: "unlucky"}); err != nil {
						log.Fatal(err) // more than MaxErrors
					}
					continue
				}
				e := set.Example(fmt.Sprint(i))
				e.Int64("number", int64(i))
				if err := e.Write(); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	group.Wait()
	report, err := set.Finish()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Manifest.Splits[0].Records, "records,", report.Manifest.Errors, "error")
	// Output: 999 records, 1 error
}

// SequenceExamples, and messages of any other kind, are written as bytes.
func Example_sequences() {
	temp, remove := temporary()
	defer remove()
	set, err := write.Create(context.Background(), filepath.Join(temp, "walks"), write.Options{InOrder: true})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	var b tfrecord.SequenceBuilder
	for length := range 3 {
		b.Reset()
		b.Context.Int64("length", int64(length))
		b.List("position")
		for step := range length {
			b.Float("position", float32(step))
		}
		e := set.Example("") // InOrder needs no keys
		e.Raw(b.Append(nil))
		if err := e.Write(); err != nil {
			log.Fatal(err)
		}
	}
	report, err := set.Finish()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Manifest.Splits[0].Records, "records;", report.Notes[0])
	// Output: 3 records; not all records are tf.train.Examples: the manifest describes no features
}

// Images with where they come from. The key is the file's name, so that the next version of the set
// keeps each photograph in its split.
func Example_images() {
	temp, remove := temporary()
	defer remove()
	photos, err := filepath.Glob("../../testdata/demo/photos/*/*.jpg")
	if err != nil || len(photos) == 0 {
		log.Fatal(err)
	}
	var classes []string
	for _, path := range photos {
		if class := filepath.Base(filepath.Dir(path)); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	set, err := write.Create(context.Background(), filepath.Join(temp, "flowers"), write.Options{Labels: classes, LabelKey: "image/class/label"})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	for _, path := range photos {
		encoded, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		e := set.Example(filepath.Base(path))
		e.Bytes("image/encoded", encoded)
		e.Label("image/class/label", filepath.Base(filepath.Dir(path)))
		e.String("image/filename", filepath.Base(path))
		if err := e.Write(); err != nil {
			log.Fatal(err)
		}
	}
	report, err := set.Finish()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Manifest.Features {
		fmt.Println(f.Key, f.Kind, f.Class)
	}
	// Output:
	// image/class/label int64 label
	// image/encoded bytes image
	// image/filename bytes text
}

// A program that stops before Finish leaves nothing, and the next one starts afresh; a queue that is
// read again gives the same set.
func Example_crash() {
	temp, remove := temporary()
	defer remove()
	out := filepath.Join(temp, "rows")
	produce := func(stop int) error {
		set, err := write.Create(context.Background(), out, write.Options{})
		if err != nil {
			return err
		}
		defer set.Close()
		for i := range 10 {
			if i == stop {
				return errors.New("the database is gone")
			}
			e := set.Example(fmt.Sprint(i))
			e.Int64("row", int64(i))
			if err := e.Write(); err != nil {
				return err
			}
		}
		_, err = set.Finish()
		return err
	}
	fmt.Println(produce(7))
	_, err := os.Stat(out)
	fmt.Println("something is left:", err == nil)
	fmt.Println(produce(-1))
	// Output:
	// the database is gone
	// something is left: false
	// <nil>
}

// A queue is appended to a set in batches: each becomes a small set, which Append adds in one step.
func Example_appendByQueue() {
	temp, remove := temporary()
	defer remove()
	ctx := context.Background()
	batch := func(dir string, first int) {
		set, err := write.Create(ctx, dir, write.Options{Name: "events", Shards: 1})
		if err != nil {
			log.Fatal(err)
		}
		defer set.Close()
		for i := first; i < first+100; i++ {
			e := set.Example(fmt.Sprint(i))
			e.Int64("event", int64(i))
			if err := e.Write(); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := set.Finish(); err != nil {
			log.Fatal(err)
		}
	}
	events, more := filepath.Join(temp, "events"), filepath.Join(temp, "more")
	batch(events, 0)
	batch(more, 100)
	if _, err := reshape.Append(ctx, events, []string{more}, reshape.AppendOptions{}); err != nil {
		log.Fatal(err)
	}
	sources, err := shard.Expand(ctx, []string{events}, shard.ExpandOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(sources), "shards")
	// Output: 2 shards
}

// A health check reads a set and lists its faults.
func Example_healthCheck() {
	temp, remove := temporary()
	defer remove()
	ctx, out := context.Background(), filepath.Join(temp, "rows")
	set, err := write.Create(ctx, out, write.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	e := set.Example("a")
	e.String("text", "only one")
	if err := e.Write(); err != nil {
		log.Fatal(err)
	}
	if _, err := set.Finish(); err != nil {
		log.Fatal(err)
	}
	report, err := verify.Files(ctx, []string{out}, verify.Options{})
	if err != nil {
		log.Fatal(err) // something could not be checked
	}
	fmt.Println(len(report.Faults), "faults")
	// Output: 0 faults
}
