//go:build unix

package reader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/tfrecord"
)

// killed are flows of the numbers of records, by name, over a set of 5 files.
var killed = map[string]func(*Set) Flow[[]int]{
	"mix": func(s *Set) Flow[[]int] {
		return numbersOf(Batch(Mix(MixOptions{Weights: []float64{3, 1}}, s.Interleave(2, 1).Shuffle(20), odd(s.Records())), 3, BatchOptions{}))
	},
	"concat": func(s *Set) Flow[[]int] {
		return numbersOf(Batch(Concat(s.Records(), s.ShuffleAll(ShuffleAllOptions{})).Shuffle(30), 4, BatchOptions{}))
	},
	"sample": func(s *Set) Flow[[]int] {
		return numbersOf(Batch(s.Sample(WeightedSampler(slices.Repeat([]float64{1, 4}, 150), WeightedOptions{Records: 500, Replacement: true})), 3, BatchOptions{}))
	},
	"merged": func(s *Set) Flow[[]int] { return numbersOf(Batch(s.Interleave(2, 1).Shuffle(25), 2, BatchOptions{})) },
	"zip": func(s *Set) Flow[[]int] {
		return Zip(func(r []Record) ([]int, error) { return []int{idOf(r[0]), idOf(r[1])}, nil }, s.Records().Shuffle(9), s.ShuffleAll(ShuffleAllOptions{}))
	},
	"buckets": func(s *Set) Flow[[]int] {
		ids := Map(s.Interleave(3, 1), func(r Record) (int, error) { return idOf(r), nil }, MapOptions{})
		return BucketByLength(ids, func(id int) int { return id % 17 }, BucketOptions{Boundaries: []int{3, 9}, BatchSizes: []int{5, 3, 2}})
	},
	"pack": func(s *Set) Flow[[]int] {
		words := Map(s.Interleave(3, 1), func(r Record) ([]int64, error) { return slices.Repeat([]int64{int64(idOf(r))}, 1+idOf(r)%5), nil }, MapOptions{})
		return Map(Pack(words, PackOptions{Length: 11, OpenRows: 3, Pad: -1}), func(b *PackedBatch[int64]) (ids []int, err error) {
			for _, token := range b.Tokens {
				ids = append(ids, int(token))
			}
			return ids, nil
		}, MapOptions{})
	},
	"cached": func(s *Set) Flow[[]int] { // three epochs
		o := CacheOptions{Dir: filepath.Join(filepath.Dir(s.Path(Record{})), killCache), Version: "1"}
		return numbersOf(Batch(s.Interleave(2, 1).Shuffle(25), 2, BatchOptions{})).Cache(o)
	},
	"counted": func(s *Set) Flow[[]int] {
		return Map(Enumerate(numbersOf(Batch(s.Records().Shuffle(40), 2, BatchOptions{}))).Skip(5).Take(120), func(x Indexed[[]int]) ([]int, error) {
			return append([]int{int(x.Index)}, x.Value...), nil
		}, MapOptions{})
	},
}

// checkpoint is what a job has stored when it is killed.
type checkpoint struct {
	State State
	Seen  []int
}

// run reads the rest of the epochs of a flow, and stores a checkpoint after each element.
func (c *checkpoint) run(t *testing.T, f Flow[[]int], path string, epochs int64) {
	t.Helper()
	hold, err := strconv.Atoi(cmp.Or(os.Getenv(killHold), strconv.Itoa(math.MaxInt)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Start(t.Context(), From{State: &c.State})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		if len(c.Seen) >= hold {
			io.Copy(io.Discard, os.Stdin) // until the process that is to kill it has ended
			t.Fatal("it was not killed")
		}
		ids, err := s.Next()
		if err == io.EOF && s.Epoch()+1 == epochs {
			return
		}
		if err == io.EOF {
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Seen, c.State = append(c.Seen, ids...), s.State()
		if path == "" {
			continue
		}
		data, err := json.Marshal(c)
		if err == nil {
			err = os.WriteFile(path+".new", data, 0o644)
		}
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func load(t *testing.T, path string) (c checkpoint) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The variables tell a process of TestKilledJobsContinue what to do.
const (
	killDir  = "TFREC_TEST_KILL_DIR"
	killFlow = "TFREC_TEST_KILL_FLOW"
	killHold = "TFREC_TEST_KILL_HOLD" // how many elements there may be before it is killed
)

// killCache is the directory of the cache, beside the set.
const killCache = "cache"

// epochsOfKilled returns how many epochs of a flow are read.
func epochsOfKilled(name string) int64 {
	if name == "cached" {
		return 3
	}
	return 1
}

// A job that is killed again and again, at any moment, sees what it would have seen without that.
func TestKilledJobsContinue(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		path := filepath.Join(dir, "checkpoint")
		c, name := load(t, path), os.Getenv(killFlow)
		c.run(t, killed[name](open(t, dir+"/*.tfrecord", Options{Seed: 5, ShardBy: ShardRecords})), path, epochsOfKilled(name))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(killed)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := readertest.WriteShards(t, tfrecord.CompressionNone, 90, 40, 0, 120, 50)
			flow := killed[name](open(t, dir, Options{Seed: 5, ShardBy: ShardRecords}))
			begin := checkpoint{State: firstState(t, dir, name, flow)}
			whole := begin
			whole.run(t, flow, "", epochsOfKilled(name))
			if err := os.RemoveAll(filepath.Join(dir, killCache)); err != nil {
				t.Fatal(err)
			}

			path := filepath.Join(dir, "checkpoint")
			data, err := json.Marshal(begin)
			if err == nil {
				err = os.WriteFile(path, data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(4, uint64(len(name))))
			kills := 0
			for ended := false; !ended; {
				seen := len(load(t, path).Seen)
				c := testwait.Command(t, os.Args[0], "-test.run=^TestKilledJobsContinue$")
				// Each process gets some elements further, however slow the machine is, and is
				// killed there, however quick.
				target := seen + 20 + rnd.IntN(150)
				c.Env = append(os.Environ(), killDir+"="+dir, killFlow+"="+name, killHold+"="+strconv.Itoa(target+50))
				out := &bytes.Buffer{} // read after Wait
				c.Stdout, c.Stderr = out, out
				held, err := c.StdinPipe() // which it reads when it has come too far
				if err != nil {
					t.Fatal(err)
				}
				p := testwait.Start(t, c)
				for kill := false; !kill && !ended; {
					select {
					case <-p.Done():
						if err := p.Wait(); err != nil {
							t.Fatalf("%v: %s", err, out)
						}
						ended = true
					case <-time.After(time.Duration(rnd.IntN(2000)) * time.Microsecond):
						kill = len(load(t, path).Seen) >= target
					}
				}
				if !ended {
					p.Process.Kill()
					var exit *exec.ExitError
					if err := p.Wait(); err != nil && !(errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL) {
						t.Fatalf("%v: %s", err, out)
					}
					kills++
				}
				held.Close()
			}
			if got := load(t, path).Seen; !slices.Equal(got, whole.Seen) {
				t.Errorf("after %d kills: %v\nwant %v", kills, got, whole.Seen)
			}
			if kills == 0 {
				t.Error("no process was killed")
			}
			if names := namesIn(filepath.Join(dir, killCache)); len(names) > 0 && len(names) != 2 {
				t.Errorf("the cache has %q", names)
			}
		})
	}
}

// firstState is where a job begins: "merged" continues three workers.
func firstState(t *testing.T, dir, name string, flow Flow[[]int]) State {
	t.Helper()
	if name != "merged" {
		s, err := flow.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.State()
	}
	var states []State
	for w := range 3 {
		s, err := killed[name](open(t, dir, Options{Seed: 5, ShardBy: ShardRecords, Worker: w, Workers: 3})).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 + w {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		states = append(states, s.State())
		s.Close()
	}
	merged, err := MergeStates(states)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}
