package fit

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"

	"github.com/tfrec/tfrec/reader"
)

// Main is the main function of a program: it runs the job that newJob describes for the set in a
// directory. Flags name that directory, by default name, and the one of the checkpoints.
func Main[B any](name string, newJob func(ctx context.Context, dir string) (*Job[B], error)) {
	data := flag.String("data", name, "`directory` of the set")
	model := flag.String("model", name+"-model", "`directory` of checkpoints, to resume from and to write")
	steps := flag.Int("steps", 3000, "steps to train at most")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	job, err := newJob(ctx, *data)
	if err == nil {
		job.Dir, job.Steps, job.Out = *model, *steps, os.Stdout
		_, err = job.Run(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Splits opens the splits train, val and test of a set.
func Splits(ctx context.Context, dir string) (map[string]*reader.Set, error) {
	sets := map[string]*reader.Set{}
	for _, split := range []string{"train", "val", "test"} {
		var err error
		if sets[split], err = reader.Open(ctx, dir, reader.Options{Split: split, Seed: 1}); err != nil {
			return nil, err
		}
	}
	return sets, nil
}
