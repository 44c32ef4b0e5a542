package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
	"github.com/tfrec/tfrec/shard/reshape"
)

// byPlan is an engine that reshards by a plan.
func byPlan(runs *int) *conversion.Engine {
	return &conversion.Engine{
		Name:  "tfrec-elsewhere",
		Flags: func(fs *pflag.FlagSet) { fs.Int("machines", 1, "how many") },
		Reshard: func(ctx context.Context, in []string, out string, o reshape.ReshardOptions) (*reshape.Report, error) {
			*runs++
			run, err := reshape.PlanReshard(ctx, in, out, o)
			if err != nil {
				return nil, err
			}
			batches := map[int][][]byte{}
			for part := range run.Plan().Parts() {
				if _, err := run.Plan().Read(ctx, part, func(shard int, batch []byte) error {
					batches[shard] = append(batches[shard], batch)
					return nil
				}); err != nil {
					return nil, run.Abandon(ctx, err)
				}
			}
			for number, all := range batches {
				if _, err := run.Plan().Write(ctx, number, func(yield func([]byte, error) bool) {
					for _, batch := range all {
						if !yield(batch, nil) {
							return
						}
					}
				}); err != nil {
					return nil, run.Abandon(ctx, err)
				}
			}
			return run.Finish(ctx)
		},
	}
}

func TestAnEngineReshards(t *testing.T) {
	set, want, out := t.TempDir(), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	ctx := context.Background()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"--quiet", "convert", "csv", filepath.Join(demo(), "penguins.csv"), set, "--shards", "2"}, &stdout, &stderr); code != cli.ExitFine {
		t.Fatal(stderr.String())
	}
	if code := run(ctx, []string{"reshard", set, want, "--shuffle", "--seed", "3", "--shards", "5"}, &stdout, &stderr); code != cli.ExitFine {
		t.Fatal(stderr.String())
	}
	runs := 0
	if code := runWith(ctx, byPlan(&runs), []string{"reshard", set, out, "--shuffle", "--machines", "4", "--seed", "3", "--shards", "5"}, &stdout, &stderr); code != cli.ExitFine || runs != 1 {
		t.Fatalf("exit %d, %d runs: %s", code, runs, stderr.String())
	}
	a, err1 := readSet(out)
	b, err2 := readSet(want)
	if diff := difference(a, b); err1 != nil || err2 != nil || diff != "" {
		t.Error(err1, err2, diff)
	}
	shards, err := filepath.Glob(filepath.Join(set, "*.tfrecord-*"))
	if err != nil || len(shards) != 2 {
		t.Fatal(shards, err)
	}
	data, err := os.ReadFile(shards[1])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-20] ^= 1
	if err := os.WriteFile(shards[1], data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, cli.ExitFaults, shards[1] + ": record 1"},
		{[]string{"--sort-by", "species"}, cli.ExitUsage, "--sort-by: only one machine can do it: tfrec reshard --sort-by"},
		{[]string{"--shards", "0"}, cli.ExitUsage, "--shards"},
	} {
		stderr.Reset()
		fresh := filepath.Join(t.TempDir(), "out")
		code := runWith(ctx, byPlan(&runs), append([]string{"reshard", set, fresh}, c.args...), &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit %d, want %d: %s", c.args, code, c.code, stderr.String())
		}
		if _, err := os.Stat(fresh); err == nil {
			t.Errorf("%q left something", c.args)
		}
	}
}
