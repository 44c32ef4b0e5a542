package shard

import (
	"context"
	"errors"
	"fmt"
	"github.com/tfrec/tfrec/shard/reshape"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseShards(t *testing.T) {
	for _, c := range []struct {
		text, wrong string
		each        int
		bySplit     map[string]int
	}{
		{text: "auto"},
		{text: "16", each: 16},
		{text: "99999", each: 99999},
		{text: "train=16", bySplit: map[string]int{"train": 16}},
		{text: "train=16, val=2", bySplit: map[string]int{"train": 16, "val": 2}},
		{text: "0", wrong: "want a number from 1"},
		{text: "100000", wrong: "want a number from 1"},
		{text: "many", wrong: "or auto"},
		{text: "", wrong: "want a number"},
		{text: "train=0", wrong: "split train"},
		{text: "train=1,val", wrong: "want SPLIT=N"},
		{text: "train=1,train=1", wrong: "named twice"},
		{text: "a/b=1", wrong: "a/b"},
		{text: "=1", wrong: "name"},
	} {
		each, bySplit, err := ParseShards(c.text)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: %v, want %q", c.text, err, c.wrong)
		case c.wrong == "" && (err != nil || each != c.each || !maps.Equal(bySplit, c.bySplit)):
			t.Errorf("%q: %d, %v, %v", c.text, each, bySplit, err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		want := map[string]int{}
		for range 1 + rng.IntN(5) {
			want[fmt.Sprintf("s%d", rng.IntN(9))] = 1 + rng.IntN(MaxShards)
		}
		if _, got, err := ParseShards(FormatShards(want)); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%v comes back as %v, %v", want, got, err)
		}
	}
}

// TestShardsBySplit reshapes with numbers of shards for some splits: those have them,
// the others what is chosen without, and the same again is up to date.
func TestShardsBySplit(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	file := exampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 400, numbers)
	splits := []SplitShare{{"train", 0.5}, {"val", 0.3}, {"test", 0.2}}
	auto, err := reshape.Resplit(ctx, []string{file}, filepath.Join(t.TempDir(), "auto"), reshape.ResplitOptions{Splits: splits})
	check(t, err)
	for range 6 {
		asked := map[string]int{}
		for _, s := range splits {
			if rng.IntN(2) == 0 {
				asked[s.Name] = 1 + rng.IntN(20)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		o := reshape.ResplitOptions{ReshapeOptions: reshape.ReshapeOptions{SplitShards: asked}, Splits: splits}
		report, err := reshape.Resplit(ctx, []string{file}, out, o)
		check(t, err)
		for _, s := range splits {
			want := auto.Splits[s.Name].Shards
			if n, ok := asked[s.Name]; ok {
				want = n
			}
			if got := report.Splits[s.Name]; got.Shards != want || got.Records != auto.Splits[s.Name].Records {
				t.Errorf("%v: split %s has %+v, want %d shards", asked, s.Name, got, want)
			}
		}
		again, err := reshape.Resplit(ctx, []string{file}, out, o)
		check(t, err)
		if again.Status != "up_to_date" {
			t.Errorf("%v: the second run says %s", asked, again.Status)
		}
		o.SplitShards = map[string]int{"train": 21}
		if _, err := reshape.Resplit(ctx, []string{file}, out, o); err == nil || !strings.Contains(err.Error(), "--shards was ") || !strings.Contains(err.Error(), "train=21") {
			t.Errorf("%v, then train=21: %v", asked, err)
		}
	}
	for want, o := range map[string]reshape.ReshapeOptions{
		"there is no split dev; there are: train, val, test": {SplitShards: map[string]int{"dev": 1}},
		"give one of them": {Shards: 2, SplitShards: map[string]int{"train": 1}},
		"excludes":         {ShardSize: 1 << 20, SplitShards: map[string]int{"train": 1}},
		"0 is not between": {SplitShards: map[string]int{"train": 0}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := reshape.Resplit(ctx, []string{file}, out, reshape.ResplitOptions{ReshapeOptions: o, Splits: splits})
		if !errors.Is(err, reshape.ErrReshapeOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
