//go:build unix

package command

import (
	"path/filepath"
	"testing"
)

// TestReshapingKilledAtAnyMoment kills runs of the verbs that make a new set
// with SIGKILL at moments spread over them: no set may be there that is not
// whole, whatever has a shard's name must verify, and the same command again
// must end with the set of a run that was left alone.
func TestReshapingKilledAtAnyMoment(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	must(t, "convert", "images", filepath.Join(demo(), "photos"), in, "--name", "k", "--encode", "png", "--splits", "train=0.7,val=0.3", "--shards", "3", "--quiet")
	moments := moments()/4 + 1 // there are more verbs, and a run of one is like that of another
	for name, args := range map[string][]string{
		"reshard": {"reshard", in, "OUT", "--shards", "7"},
		"shuffle": {"reshard", in, "OUT", "--shards", "3", "--shuffle", "--memory", "1MB"},
		"group":   {"reshard", in, "OUT", "--group-by", "image/class/text"},
		"merge":   {"merge", in, in, "OUT", "--shards", "3"},
		"sample":  {"sample", in, "OUT", "--share", "0.7", "--shards", "4"},
		"filter":  {"filter", in, in, "OUT", "--shards", "4", "--where", "label != 2"},
		"split":   {"split", in, "OUT", "--shards", "3", "--splits", "a=0.6,b=0.4", "--stratify", "image/class/label"},
		"dedupe":  {"dedupe", in, in, "OUT", "--shards", "4", "--memory", "1MB"},
		"drop":    {"features", "drop", in, "OUT", "--shards", "4", "--keys", "image/class/text"},
	} {
		t.Run(name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			k := newKiller(t, uint64(len(name)), func() { must(t, into(args, whole, "--name", "k", "--quiet")...) })
			want, err := readSet(whole)
			if err != nil {
				t.Fatal(err)
			}
			for i := range moments {
				out := k.killFresh(t, i, moments, func() string { return filepath.Join(t.TempDir(), "out") }, func(out string) []string {
					return into(args, out, "--name", "k", "--quiet")
				})
				for again := range 1 + i%2 {
					if again > 0 { // a second kill meets what the first left
						k.kill(t, i, moments, into(args, out, "--name", "k", "--quiet")...)
					}
					sets, _ := filepath.Glob(filepath.Join(out, "manifest.json"))
					more, _ := filepath.Glob(filepath.Join(out, "*", "manifest.json"))
					for _, manifest := range append(sets, more...) {
						must(t, "verify", manifest)
					}
					if got, err := readSet(out); (err != nil || difference(want, got) != "") && len(sets) > 0 {
						t.Errorf("killed at moment %d, it left a manifest of less than the set", i)
					}
					verifyShards(t, out)
				}
				must(t, into(args, out, "--name", "k", "--quiet")...)
				got, err := readSet(out)
				if err != nil {
					t.Fatal(err)
				}
				if diff := difference(want, got); diff != "" {
					t.Errorf("killed at moment %d and run again: %s", i, diff)
				}
				if i == 0 && name != "group" { // which makes directories of sets
					must(t, "diff", whole, out)
				}
				if left, _ := filepath.Glob(filepath.Join(out, ".tfrec", "tmp", "*")); len(left) > 0 {
					t.Errorf("killed at moment %d and run again: %q are left", i, left)
				}
			}
			k.check(t)
		})
	}
}
