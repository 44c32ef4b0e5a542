// Package sets has the programs of docs/go-sets.md, which shows parts of them.
package sets

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/write"
	"github.com/tfrec/tfrec/tfrecord"
)

// bird is a row of the stream that becomes a set.
type bird struct {
	ID    string
	Class string
	Wings []float32
}

var names = []string{"heron", "kite", "stork"}

// birds is the stream.
func birds() iter.Seq[bird] {
	return func(yield func(bird) bool) {
		for i := range 100 {
			if !yield(bird{fmt.Sprintf("bird %d", i), names[i%3], []float32{float32(i), float32(2 * i)}}) {
				return
			}
		}
	}
}

// writeBirds makes a set of a stream.
func writeBirds(ctx context.Context, dir string) (*write.Report, error) {
	set, err := write.Create(ctx, dir, write.Options{
		Splits:     []shard.SplitShare{{Name: "train", Share: 0.8}, {Name: "test", Share: 0.2}},
		Labels:     names,
		Supervised: &manifest.Supervised{Input: "wings", Target: "label"},
	})
	if err != nil {
		return nil, err
	}
	defer set.Close() // removes everything unless Finish succeeded
	for bird := range birds() {
		e := set.Example(bird.ID) // the key decides split, shard and position
		e.Label("label", bird.Class)
		e.Float("wings", bird.Wings...)
		e.String("id", bird.ID) // keys are not stored
		if err := e.Write(); err != nil {
			return nil, err
		}
	}
	return set.Finish()
}

// writeTogether makes the same set with four goroutines, and lists bad samples.
func writeTogether(ctx context.Context, dir string) (*write.Report, error) {
	set, err := write.Create(ctx, dir, write.Options{Labels: names, MaxErrors: 10})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	queue := make(chan bird)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(queue)
		for bird := range birds() {
			select {
			case queue <- bird:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	for range 4 {
		g.Go(func() error {
			for bird := range queue {
				e := set.Example(bird.ID)
				e.Label("label", bird.Class)
				e.Float("wings", bird.Wings...)
				err := e.Write()
				if errors.Is(err, write.ErrBadSample) { // this record was not added; the set can go on
					err = set.Bad(write.BadSample{Key: bird.ID, Stage: "parse", Reason: err.Error()})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return set.Finish()
}

// writeSteps makes a set whose records keep their order, in place of the set that is there.
func writeSteps(ctx context.Context, dir string) error {
	set, err := write.Create(ctx, dir, write.Options{InOrder: true, Overwrite: true, Shards: 4})
	if err != nil {
		return err
	}
	defer set.Close()
	for i := range 1000 {
		e := set.Example("") // InOrder needs no keys
		e.Split([]string{"train", "val"}[i/900])
		e.Int64("step", int64(i))
		if err := e.Write(); err != nil {
			return err
		}
	}
	_, err = set.Finish()
	return err
}

// row is a row of a table, with the time of its last change.
type row struct {
	Updated string
	Label   int64
	Wings   []float32
}

// table is a table of a database, by key.
type table map[string]row

func (b table) List(ctx context.Context) iter.Seq2[convert.Sample, error] {
	return func(yield func(convert.Sample, error) bool) {
		for id, row := range b {
			if !yield(convert.Sample{Key: id, Version: row.Updated}, nil) {
				return
			}
		}
	}
}

func (b table) Make(ctx context.Context, s convert.Sample, e *tfrecord.Builder) error {
	row := b[s.Key]
	if len(row.Wings) != 2 {
		return &convert.SampleError{Stage: "parse", Err: fmt.Errorf("%d wings", len(row.Wings))}
	}
	e.Float("wings", row.Wings...)
	e.Int64("label", row.Label)
	return nil
}

// update makes a set of a table, or updates it.
func update(ctx context.Context, b table, dir string) (*convert.Summary, error) {
	sum, err := convert.Samples(ctx, b, dir, convert.SampleOptions{
		Labels: names,
		Features: []manifest.Feature{
			{Key: "label", Kind: "int64", Class: manifest.ClassLabel},
			{Key: "wings", Kind: "float", Class: manifest.ClassVector, Shape: []int{2}},
		},
	})
	return sum, err
}

// writeShard writes one shard by itself.
func writeShard(ctx context.Context, out string) error {
	dir, err := shard.OpenDir(ctx, out, shard.DirOptions{}) // creates and locks it
	if err != nil {
		return err
	}
	defer dir.Close()
	w, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{})
	if err != nil {
		return err
	}
	var b tfrecord.Builder
	for bird := range birds() {
		b.Reset()
		b.String("class", bird.Class)
		b.Float("wings", bird.Wings...)
		if err := w.WriteRecord(b.Append(nil)); err != nil {
			return err
		}
	}
	_, err = w.Commit() // synced, indexed, renamed: complete or absent
	return err
}

// countKites reads any TFRecord file, compressed or not.
func countKites(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: f.Name()})
	var e tfrecord.Example
	for record, err := range r.All() { // valid until the next iteration
		if err != nil {
			return 0, err // names file, record, offset and part
		}
		if err := e.Parse(record); err != nil {
			return 0, r.Locate(err)
		}
		class, ok := e.Get("class")
		if !ok {
			continue
		}
		if name, _ := class.Bytes(); string(name) == "kite" {
			n++
		}
	}
	return n, nil
}

// train streams a set into a training job.
func train(ctx context.Context, dir string, rank, world int, step func([]byte), save func(reader.State)) error {
	set, err := reader.Open(ctx, dir, reader.Options{Split: "train", Worker: rank, Workers: world, Seed: 42})
	if err != nil {
		return err
	}
	pipe := set.Interleave(16, 1).Shuffle(10_000).Repeat(3)
	stream, err := pipe.Start(ctx, reader.From{}) // or From{Epoch: n}, or From{State: &state}
	if err != nil {
		return err
	}
	defer stream.Close()
	for record, err := range stream.All() { // valid until the next iteration
		if err != nil {
			return err
		}
		step(record.Data)
		save(stream.State())
	}
	return nil
}

func Example() {
	temp, err := os.MkdirTemp("", "sets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	ctx := context.Background()

	report, err := writeBirds(ctx, filepath.Join(temp, "birds"))
	if err != nil {
		log.Fatal(err)
	}
	for _, split := range report.Manifest.Splits {
		fmt.Println(split.Name, split.Records)
	}
	if report, err = writeTogether(ctx, filepath.Join(temp, "together")); err != nil {
		log.Fatal(err)
	}
	fmt.Println("together", report.Manifest.Splits[0].Records)
	for range 2 { // the second replaces the first
		if err := writeSteps(ctx, filepath.Join(temp, "steps")); err != nil {
			log.Fatal(err)
		}
	}
	if err := writeShard(ctx, filepath.Join(temp, "one")); err != nil {
		log.Fatal(err)
	}
	kites, err := countKites(filepath.Join(temp, "one", "birds-train.tfrecord-00000-of-00001"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("kites", kites)
	steps := 0
	if err := train(ctx, filepath.Join(temp, "steps"), 0, 1, func([]byte) { steps++ }, func(reader.State) {}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("steps", steps)
	rows := table{"a": {"1", 0, []float32{1, 2}}, "b": {"1", 2, []float32{3, 4}}}
	sum, err := update(ctx, rows, filepath.Join(temp, "rows"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Status, sum.Records)
	// Output:
	// train 86
	// test 14
	// together 100
	// kites 33
	// steps 2700
	// written 2
}

// TestDocsShowThesePrograms compares the Go code of docs/go-sets.md with this file, indentation aside.
func TestDocsShowThesePrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/go-sets.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("sets_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		return b.String()
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("docs/go-sets.md has %d blocks of Go code, want 5 or more", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ := strings.Cut(block, "```")
		if !strings.Contains(flat(string(code)), flat(block)) {
			t.Errorf("docs/go-sets.md shows code that is not in examples/sets/sets_test.go:\n%s", block)
		}
	}
}
