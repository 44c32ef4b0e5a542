package reshape

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestRecordsPassNothingOneByOne: verbs with many workers wait for locks and channels for a few
// blocks of records at a time, not for each.
func TestRecordsPassNothingOneByOne(t *testing.T) {
	const records, procs = 120_000, 8
	dir := t.TempDir()
	var in []string
	for i := range 4 {
		in = append(in, settest.ExampleFile(t, filepath.Join(dir, fmt.Sprintf("%d.tfrecord", i)), records/4, func(i int, b *tfrecord.Builder) {
			b.Int64("id", int64(i))
			b.String("text", "some text of forty bytes, more or less...")
		}))
	}
	o := Options{Shards: 8, Workers: procs}
	less := o
	less.Memory = 4 << 20
	for name, work := range map[string]func(out string) error{
		"reshard": func(out string) error {
			_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: o})
			return err
		},
		"shuffle": func(out string) error {
			_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: o, Shuffle: true})
			return err
		},
		"external shuffle": func(out string) error {
			_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: less, Shuffle: true})
			return err
		},
		"sort": func(out string) error {
			_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: o, SortBy: "id"})
			return err
		},
		"external sort": func(out string) error {
			_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: less, SortBy: "id"})
			return err
		},
		"dedupe": func(out string) error {
			_, err := Dedupe(context.Background(), in, out, DedupeOptions{Options: o})
			return err
		},
		"external dedupe": func(out string) error {
			_, err := Dedupe(context.Background(), in, out, DedupeOptions{Options: less})
			return err
		},
		"filter": func(out string) error {
			_, err := Filter(context.Background(), in, out, FilterOptions{Options: o, Keep: idKeep(func(id int64) bool { return id%2 == 0 })})
			return err
		},
	} {
		waits := settest.Waits(t, procs, func() { settest.Check(t, work(filepath.Join(dir, name))) })
		t.Logf("%s: %d waits", name, waits)
		if waits > records/20 {
			t.Errorf("%s of %d records waits %d times", name, records, waits)
		}
	}
}
