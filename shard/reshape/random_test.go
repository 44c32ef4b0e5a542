package reshape

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestMoreThanMemory sorts and shuffles an input of about five times the memory, with records of
// all sizes in files of all compressions.
func TestMoreThanMemory(t *testing.T) {
	const groups = 7
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 5))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	var paths []string
	n := 0
	for i, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionZstd, tfrecord.CompressionZlib, tfrecord.CompressionNone} {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("x-train.tfrecord-%05d-of-00005", i))
		f, err := os.Create(path)
		settest.Check(t, err)
		w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: c})
		settest.Check(t, err)
		for size := 0; size < 1<<20; n++ {
			var b tfrecord.Builder
			b.Int64("id", int64(n))
			b.Int64("key", rnd.Int64N(groups))
			from := rnd.IntN(len(noise))
			b.Bytes("noise", noise[from:min(from+rnd.IntN(1<<rnd.IntN(17)), len(noise))])
			record := b.Append(nil)
			size += len(record)
			settest.Check(t, w.WriteRecord(record))
		}
		settest.Check(t, w.Close())
		settest.Check(t, f.Close())
		paths = append(paths, path)
	}
	keys := map[int64]int64{}
	for _, path := range paths {
		ids := settest.IDsOf(t, path, "", "id")
		for i, key := range settest.IDsOf(t, path, "", "key") {
			keys[ids[i]] = key
		}
	}
	for name, o := range map[string]ReshardOptions{"shuffle": {Shuffle: true}, "sort": {SortBy: "key"}, "group": {GroupBy: "key"}} {
		var first map[string]string
		for _, workers := range []int{1, 3} {
			o.Memory, o.Workers, o.Shards = source.LeastMemory, workers, 1
			rearrange.SetLimits(&o.Options, 4, 0) // too few for the groups
			out := filepath.Join(t.TempDir(), "out")
			report, err := Reshard(context.Background(), paths, out, o)
			settest.Check(t, err)
			if report.Records != int64(n) {
				t.Errorf("%s: %d records, want %d", name, report.Records, n)
			}
			files := settest.FilesOf(t, out)
			if first == nil {
				first = files
			} else if !settest.SameFiles(first, files) {
				t.Errorf("%s: other workers give another set", name)
			}
			switch name {
			case "shuffle":
				ids := settest.IDsOf(t, out, "", "id")
				if slices.IsSorted(ids) {
					t.Error("nothing was shuffled")
				}
				slices.Sort(ids)
				for i, id := range ids {
					if id != int64(i) {
						t.Fatalf("record %d is %d: lost, or there twice", i, id)
					}
				}
			case "sort":
				ids := settest.IDsOf(t, out, "", "id")
				if len(ids) != n || !slices.IsSortedFunc(ids, func(a, b int64) int {
					if keys[a] != keys[b] {
						return int(keys[a] - keys[b])
					}
					return int(a - b)
				}) {
					t.Error("the records are not sorted, or not stably")
				}
			case "group":
				for key := range int64(groups) {
					ids := settest.IDsOf(t, filepath.Join(out, fmt.Sprint(key)), "", "id")
					if !slices.IsSorted(ids) || slices.ContainsFunc(ids, func(id int64) bool { return keys[id] != key }) {
						t.Errorf("group %d has others' records, or in another order", key)
					}
				}
			}
		}
	}
}

// TestSampleIsUniform counts how often each of the 20 samples of three of six records occurs.
func TestSampleIsUniform(t *testing.T) {
	const runs = 4000
	counts := map[string]int{}
	for seed := range uint64(runs) {
		s := newSampler(&SampleOptions{Options: Options{Seed: seed}, Count: 3})
		settest.Check(t, s.Begin(6))
		chosen := ""
		for n := range int64(6) {
			target, err := s.Choose(n, 0, digest.Hash{})
			settest.Check(t, err)
			if target != source.Drop {
				chosen += fmt.Sprint(n)
			}
		}
		if len(chosen) != 3 {
			t.Fatalf("seed %d: %q", seed, chosen)
		}
		counts[chosen]++
	}
	torture.CheckUniform(t, counts, 20, runs)
}

func TestDirectoryNames(t *testing.T) {
	for value, want := range map[string]string{
		"cat": "cat", "n01440764": "n01440764", "": "%", ".": "%2E", "..": "%2E.", ".hidden": "%2Ehidden", "a/b": "a%2Fb",
		"index": "%69ndex", "manifest.json": "%6Danifest.json", "50%": "50%25", "ä": "%C3%A4", "a b": "a%20b", "con.txt": "con.txt",
	} {
		if got := directoryName(value); got != want {
			t.Errorf("folderName(%q) = %q, want %q", value, got, want)
		}
	}
}
