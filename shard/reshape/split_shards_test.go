package reshape

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
)

// TestShardsBySplit reshapes with numbers of shards for some splits: these splits have them, the
// others have the default, and repeating the run is up to date.
func TestShardsBySplit(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 400, settest.Numbers)
	splits := []shard.SplitShare{{Name: "train", Share: 0.5}, {Name: "val", Share: 0.3}, {Name: "test", Share: 0.2}}
	auto, err := Resplit(ctx, []string{file}, filepath.Join(t.TempDir(), "auto"), ResplitOptions{Splits: splits})
	settest.Check(t, err)
	for range 6 {
		asked := map[string]int{}
		for _, s := range splits {
			if rng.IntN(2) == 0 {
				asked[s.Name] = 1 + rng.IntN(20)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		o := ResplitOptions{Options: Options{SplitShards: asked}, Splits: splits}
		report, err := Resplit(ctx, []string{file}, out, o)
		settest.Check(t, err)
		for _, s := range splits {
			want := auto.Splits[s.Name].Shards
			if n, ok := asked[s.Name]; ok {
				want = n
			}
			if got := report.Splits[s.Name]; got.Shards != want || got.Records != auto.Splits[s.Name].Records {
				t.Errorf("%v: split %s has %+v, want %d shards", asked, s.Name, got, want)
			}
		}
		again, err := Resplit(ctx, []string{file}, out, o)
		settest.Check(t, err)
		if again.Status != "up_to_date" {
			t.Errorf("%v: the second run says %s", asked, again.Status)
		}
		o.SplitShards = map[string]int{"train": 21}
		if _, err := Resplit(ctx, []string{file}, out, o); err == nil || !strings.Contains(err.Error(), "Options.Shards was ") || !strings.Contains(err.Error(), "train=21") {
			t.Errorf("%v, then train=21: %v", asked, err)
		}
	}
	for want, o := range map[string]Options{
		"there is no split dev; there are: train, val, test": {SplitShards: map[string]int{"dev": 1}},
		"give one of them": {Shards: 2, SplitShards: map[string]int{"train": 1}},
		"excludes":         {ShardSize: 1 << 20, SplitShards: map[string]int{"train": 1}},
		"0 is not between": {SplitShards: map[string]int{"train": 0}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Resplit(ctx, []string{file}, out, ResplitOptions{Options: o, Splits: splits})
		if !isOptionError(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
