package reader

import (
	"context"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// The same for the records read.
func TestWorkersReadEachRecordOnce(t *testing.T) {
	pipes := map[string]func(*Set) Pipe{
		"records":    (*Set).Records,
		"interleave": func(s *Set) Pipe { return s.Interleave(2, 1) },
		"shuffle":    func(s *Set) Pipe { return s.Interleave(2, 1).Shuffle(3) },
		"global":     func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
		"blocked":    func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{Block: 3, Window: 2}) },
	}
	cases := [][]int{{7, 3, 9, 1, 5}, {0, 1}, {20}, {4, 4}, {0}}
	for _, lengths := range cases[:race.Few(len(cases), 2)] {
		for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
			dir := readertest.WriteShards(t, c, lengths...)
			want := readertest.InOrder(lengths...)
			for name, pipe := range pipes {
				if c != tfrecord.CompressionNone && (name == "global" || name == "blocked") {
					continue
				}
				for _, workers := range []int{1, 2, 3, 7} {
					for ends := UnevenKeep; ends <= UnevenPad; ends++ {
						var all []int
						var sizes []int
						for w := range workers {
							set := open(t, dir, Options{Worker: w, Workers: workers, Uneven: ends})
							n, padded := 0, 0
							for r, err := range pipe(set).All(context.Background()) {
								if err != nil {
									t.Fatal(err)
								}
								n++
								if r.Pad {
									padded++
								} else {
									all = append(all, idOf(r))
								}
							}
							if padded > 0 && ends != UnevenPad {
								t.Errorf("%v, %s: padded", lengths, name)
							}
							sizes = append(sizes, n)
						}
						slices.Sort(all)
						switch {
						case ends == UnevenDrop && len(all) != len(want)/workers*workers, ends != UnevenDrop && !slices.Equal(all, want):
							t.Errorf("%v, %v, %s, %d workers, ends %d: got %v", lengths, c, name, workers, ends, all)
						case ends != UnevenKeep && slices.Min(sizes) != slices.Max(sizes):
							t.Errorf("%v, %v, %s, %d workers, ends %d: sizes %v", lengths, c, name, workers, ends, sizes)
						}
					}
				}
			}
		}
	}
}

func TestShardingIsStated(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 1, 1, 1, 1, 1)
	for want, o := range map[string]Options{
		"all of 5 files":                                   {},
		"by file: 2 of 5 files":                            {Worker: 1, Workers: 3},
		"by file: 1 of 5 files":                            {Worker: 2, Workers: 3},
		"by file: 0 of 5 files":                            {Worker: 6, Workers: 8, ShardBy: ShardFiles},
		"by record: part 7 of 8 of the records in 5 files": {Worker: 6, Workers: 8},
		"by record: part 1 of 2 of the records in 5 files": {Workers: 2, Uneven: UnevenDrop},
	} {
		if got := open(t, dir, o).Sharding(); got != want {
			t.Errorf("%+v: %q, want %q", o, got, want)
		}
	}
}
