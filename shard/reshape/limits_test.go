package reshape

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// miscounted makes a set of 100 records in one shard, whose manifest claims another number.
func miscounted(t *testing.T, records int64) string {
	t.Helper()
	set := madeSet(t, 100, 1, nil, settest.Numbers)
	m := settest.ManifestOf(t, set)
	m.Splits[0].Shards[0].Records, m.Splits[0].Records = records, records
	data, err := m.Encode()
	settest.Check(t, err)
	settest.PutFile(t, filepath.Join(set, manifest.File), data)
	return set
}

func TestMiscountedInputs(t *testing.T) {
	for _, records := range []int64{99, 101, 1, 0, -1, 1 << 40, 1<<63 - 1} {
		for name, reshape := range map[string]func(in []string, out string) error{
			"records per shard": func(in []string, out string) error {
				_, err := Reshard(context.Background(), in, out, ReshardOptions{Options: Options{RecordsPerShard: 10}})
				return err
			},
			"shuffle": func(in []string, out string) error {
				_, err := Reshard(context.Background(), in, out, ReshardOptions{Shuffle: true})
				return err
			},
			"take": func(in []string, out string) error {
				_, err := Take(context.Background(), in, out, TakeOptions{Count: 5})
				return err
			},
			"dedupe": func(in []string, out string) error {
				_, err := Dedupe(context.Background(), in, out, DedupeOptions{})
				return err
			},
		} {
			out := filepath.Join(t.TempDir(), "out")
			err := reshape([]string{miscounted(t, records)}, out)
			var damaged *shard.DamagedError
			if !errors.As(err, &damaged) {
				t.Errorf("%s, and the manifest says %d records: %v; want a DamagedError", name, records, err)
			}
			settest.NothingAt(t, out)
		}
	}
}

// A set for each of many values must not keep a file open for each.
func TestGroupsLeaveNoFilesOpen(t *testing.T) {
	const files = "/proc/self/fd"
	before, err := os.ReadDir(files)
	if err != nil {
		t.Skipf("open files cannot be counted here: %v", err)
	}
	const groups = 150
	in := settest.ExampleFile(t, filepath.Join(t.TempDir(), "in.tfrecord"), 2*groups, func(i int, b *tfrecord.Builder) {
		b.Int64("group", int64(i%groups))
	})
	most := 0
	var mu sync.Mutex
	ctx := inject.With(t.Context(), func(string) error {
		mu.Lock()
		defer mu.Unlock()
		now, err := os.ReadDir(files)
		most = max(most, len(now))
		return err
	})
	_, err = Reshard(ctx, []string{in}, filepath.Join(t.TempDir(), "out"), ReshardOptions{GroupBy: "group"})
	settest.Check(t, err)
	if held := most - len(before); held > 30 {
		t.Errorf("%d files were open at a time for %d groups; want 30 or fewer", held, groups)
	}
}

// Memory is a limit, not an allocation size.
func TestMoreMemoryThanThereIs(t *testing.T) {
	in := settest.ExampleFile(t, filepath.Join(t.TempDir(), "in.tfrecord"), 100, settest.Numbers)
	o := ReshardOptions{Shuffle: true}
	o.Memory = 1 << 50
	_, err := Reshard(context.Background(), []string{in}, filepath.Join(t.TempDir(), "out"), o)
	settest.Check(t, err)
}

// A slow condition delays the end of a canceled run by one record at most.
func TestSlowConditionsStop(t *testing.T) {
	in := settest.ExampleFile(t, filepath.Join(t.TempDir(), "in.tfrecord"), 1000, settest.Numbers)
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(context.Background())
	asked := 0
	o := FilterOptions{Keep: Keep(func(context.Context, *tfrecord.Example) (bool, error) {
		asked++
		cancel()
		return true, nil
	})}
	o.Workers = 1
	if _, err := Filter(ctx, []string{in}, out, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if asked > 1 {
		t.Errorf("the condition was asked for %d records after the run was stopped", asked-1)
	}
	settest.NothingAt(t, out)
}
