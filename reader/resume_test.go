package reader

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// pipelines are deterministic pipelines with all kinds of stages.
var pipelines = map[string]func(*Set) Pipe{
	"records":             (*Set).Records,
	"interleave":          func(s *Set) Pipe { return s.Interleave(3, 2) },
	"wide interleave":     func(s *Set) Pipe { return s.Interleave(9, 1) },
	"shuffle":             func(s *Set) Pipe { return s.Interleave(2, 1).Shuffle(5) },
	"shuffle the whole":   func(s *Set) Pipe { return s.Records().Shuffle(100) },
	"shuffle twice":       func(s *Set) Pipe { return s.Records().Shuffle(4).Shuffle(6) },
	"repeat":              func(s *Set) Pipe { return s.Interleave(2, 2).Repeat(3) },
	"shuffle, repeat":     func(s *Set) Pipe { return s.Interleave(2, 1).Shuffle(5).Repeat(3) },
	"repeat, shuffle":     func(s *Set) Pipe { return s.Records().Repeat(2).Shuffle(7) },
	"repeat twice":        func(s *Set) Pipe { return s.Records().Repeat(2).Shuffle(3).Repeat(2) },
	"skip, take":          func(s *Set) Pipe { return s.Interleave(2, 1).Repeat(2).Skip(9).Take(30) },
	"take, shuffle, skip": func(s *Set) Pipe { return s.Records().Take(20).Shuffle(8).Skip(3).Repeat(2) },
	"all":                 func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
	"all, repeat":         func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Repeat(3) },
	"all in runs, repeat": func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{Block: 3, Window: 2}).Repeat(2) },
	"all, shuffle":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Shuffle(4).Repeat(2) },

	"mix": func(s *Set) Pipe {
		return Mix(MixOptions{Weights: []float64{1, 2}}, s.Records().Repeat(2), s.Interleave(2, 1).Shuffle(4))
	},
	"all: mix, stop, repeat": func(s *Set) Pipe {
		return odd(Mix(MixOptions{StopOnEmpty: true}, s.Records(), Mix(MixOptions{}, s.Records(), s.ShuffleAll(ShuffleAllOptions{})))).Shuffle(6).Repeat(2)
	},
	"all: concat": func(s *Set) Pipe {
		return Concat(s.Records().Skip(3), s.ShuffleAll(ShuffleAllOptions{}).Repeat(2), s.Records().Take(0), s.Interleave(2, 1))
	},
	"concat, cache, repeat": func(s *Set) Pipe {
		return Concat(s.Records().Shuffle(4), s.Records().Cache(CacheOptions{})).Cache(partialCache).Repeat(2)
	},
	"all: sample, repeat": func(s *Set) Pipe {
		return s.Sample(Sampler{Name: "few", Records: func(epoch int64) ([]int64, error) { return []int64{3, 1, 4, 1, 5, epoch}, nil }}).Repeat(2)
	},

	"cache":                    func(s *Set) Pipe { return s.Interleave(2, 1).Cache(CacheOptions{}) },
	"shuffle, cache, repeat":   func(s *Set) Pipe { return s.Records().Shuffle(5).Cache(CacheOptions{}).Repeat(3) },
	"cache, shuffle, repeat":   func(s *Set) Pipe { return s.Interleave(2, 1).Cache(CacheOptions{}).Shuffle(5).Repeat(3) },
	"repeat, cache, repeat":    func(s *Set) Pipe { return s.Records().Repeat(2).Cache(CacheOptions{}).Repeat(2) },
	"cache twice, repeat":      func(s *Set) Pipe { return s.Records().Cache(CacheOptions{}).Skip(3).Cache(CacheOptions{}).Repeat(2) },
	"cache, take, repeat":      func(s *Set) Pipe { return s.Records().Shuffle(4).Cache(CacheOptions{}).Take(9).Repeat(2) },
	"partial cache":            func(s *Set) Pipe { return s.Records().Shuffle(3).Cache(partialCache).Repeat(2) },
	"nothing fits, repeat":     func(s *Set) Pipe { return s.Records().Cache(CacheOptions{Limit: 1, Partial: true}).Repeat(2) },
	"prefetch":                 func(s *Set) Pipe { return s.Interleave(2, 1).Prefetch(3) },
	"prefetch between":         func(s *Set) Pipe { return s.Records().Prefetch(1).Shuffle(6).Prefetch(0).Repeat(2).Prefetch(9) },
	"cache, prefetch, repeat":  func(s *Set) Pipe { return s.Records().Cache(CacheOptions{}).Prefetch(2).Shuffle(4).Repeat(2) },
	"filter, cache, shuffle":   func(s *Set) Pipe { return odd(s.Interleave(2, 1)).Cache(CacheOptions{}).Shuffle(4).Repeat(2) },
	"map, cache, repeat":       func(s *Set) Pipe { return again(s.Interleave(2, 1)).Cache(CacheOptions{}).Repeat(2) },
	"shuffle, map, filter":     func(s *Set) Pipe { return odd(again(s.Records().Shuffle(4)).Repeat(2)) },
	"all, cache, repeat":       func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Cache(CacheOptions{}).Repeat(2) },
	"all, prefetch and repeat": func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Prefetch(5).Repeat(2) },
}

// partialCache has room for some records of the small sets.
var partialCache = CacheOptions{Limit: 700, Partial: true}

// odd keeps the records with odd numbers in their files.
func odd(p Pipe) Pipe {
	return p.Filter(func(r Record) (bool, error) { return r.Number%2 == 1, nil })
}

// again maps records to the same data.
func again(p Pipe) Pipe {
	return MapData(p, func(dst []byte, r Record) ([]byte, error) { return append(dst, r.Data...), nil }, MapDataOptions{Workers: 3})
}

// through encodes and decodes a state.
func through(t *testing.T, s State) State {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 5000 {
		t.Errorf("a state of %d bytes: %s", len(data), data)
	}
	var back State
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// After each element, resuming from the state gives exactly the elements that follow.
func TestResumeAtEveryElement(t *testing.T) {
	lengths := []int{6, 2, 0, 5, 2}
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip}[:race.Few(2, 1)] {
		dir := readertest.WriteShards(t, c, lengths...)
		for name, build := range pipelines {
			if c != tfrecord.CompressionNone && (strings.Contains(name, "all") || strings.Contains(name, "cache") || strings.Contains(name, "prefetch")) {
				continue // impossible, or without effect there
			}
			o := Options{Seed: 4, ShuffleFiles: true}
			whole := idsOf(t, build(open(t, dir, o)))
			s, err := build(open(t, dir, o)).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			other := open(t, dir, o)
			for k := 0; ; k++ {
				state := through(t, s.State())
				again, err := build(other).Start(t.Context(), From{State: &state})
				if err != nil {
					t.Fatalf("%s, after %d: %v", name, k, err)
				}
				if k%4 == 0 { // a state of a resumed run is as good
					state = through(t, again.State())
					again.Close()
					if again, err = build(other).Start(t.Context(), From{State: &state}); err != nil {
						t.Fatal(err)
					}
				}
				if got := rest(t, again); !slices.Equal(got, whole[k:]) {
					t.Fatalf("%s, %v, after %d:\n got %v\nwant %v\nstate %+v", name, c, k, got, whole[k:], state)
				}
				again.Close()
				if k == len(whole) {
					break
				}
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
		}
	}
}

// States of blocks work as well, after any number of their elements.
func TestResumeInBlocks(t *testing.T) {
	lengths := []int{900, 30, 999, 300}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	random := rand.New(rand.NewPCG(1, 2))
	for name, build := range pipelines {
		o := Options{Seed: 9, Memory: 1}
		whole := idsOf(t, build(open(t, dir, o)))
		s, err := build(open(t, dir, o)).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); {
			b, err := nextBlock(s)
			if err != nil {
				t.Fatal(err)
			}
			if blocks := len(whole) / len(b.Records); random.IntN(1+blocks/3) == 0 {
				n := random.IntN(len(b.Records) + 1)
				again, err := build(open(t, dir, o)).Start(t.Context(), From{State: new(through(t, b.State(n)))})
				if err != nil {
					t.Fatal(err)
				}
				if got := rest(t, again); !slices.Equal(got, whole[at+n:]) {
					t.Fatalf("%s: after %d: another continuation", name, at+n)
				}
				again.Close()
			}
			at += len(b.Records)
			b.Release()
		}
		s.Close()
	}
}

// Resuming a shuffle does not read from the beginning.
func TestShuffleResumesWithLittleReading(t *testing.T) {
	lengths := []int{999, 999, 999, 999, 999, 999}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...)
	build := func() Pipe { return open(t, dir, Options{Memory: 1}).Records().Shuffle(100) }
	s, err := build().Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 5500 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := build().Start(t.Context(), From{State: new(s.State())})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !slices.Equal(rest(t, s), rest(t, again)) {
		t.Error("another continuation")
	}
	// 494 are left; refilling the buffer reads some 100·(ln 100 + 1) = 560 before, and a block or
	// two.
	if n := again.Stats()[1].Elements; n > 494+560+1500 {
		t.Errorf("%d elements were read to resume near the end of 5994", n)
	}
}

// The rest of a global order is divided among any number of workers, from the state of any of them.
func TestResumeWithOtherWorkers(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 17, 30, 6)
	workers := func(n int) []*Set {
		var sets []*Set
		for i := range n {
			sets = append(sets, open(t, dir, Options{Worker: i, Workers: n, Seed: 8}))
		}
		return sets
	}
	build := func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}).Repeat(2) }
	want := slices.Concat(readertest.InOrder(17, 30, 6), readertest.InOrder(17, 30, 6))
	slices.Sort(want)
	for _, before := range []int{1, 2, 5} {
		for _, after := range []int{1, 3, 5} {
			for _, steps := range []int{0, 1, 7, 10} {
				var all []int
				var states []State
				for _, set := range workers(before) {
					s, err := build(set).Start(t.Context(), From{})
					if err != nil {
						t.Fatal(err)
					}
					for range steps {
						r, err := s.Next()
						if err != nil {
							t.Fatal(err)
						}
						all = append(all, idOf(r))
					}
					states = append(states, through(t, s.State()))
					s.Close()
				}
				for _, set := range workers(after) {
					s, err := build(set).Start(t.Context(), From{State: new(states[steps%before])})
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, rest(t, s)...)
					s.Close()
				}
				slices.Sort(all)
				if !slices.Equal(all, want) {
					t.Errorf("%d workers, %d steps, %d workers: got %v", before, steps, after, all)
				}
			}
		}
	}
}

// The location of the files does not matter, nor how they were named.
func TestStateMovesWithTheFiles(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 5, 5)
	s, err := open(t, dir, Options{}).Records().Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	for range 7 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	state := s.State()
	s.Close()
	elsewhere := t.TempDir() + "/moved"
	if err := os.Rename(dir, elsewhere); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, elsewhere+"/*", Options{}).Records().Start(t.Context(), From{State: &state})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := rest(t, again); !slices.Equal(got, []int{1002, 1003, 1004}) {
		t.Errorf("got %v", got)
	}
}

// The variables tell a process of TestResumeInANewProcess what to read.
const (
	resumeDir   = "TFREC_TEST_RESUME_DIR"
	resumeState = "TFREC_TEST_RESUME_STATE"
)

func resumedPipe(t *testing.T, dir string) Pipe {
	cache := CacheOptions{Dir: filepath.Join(dir, "cache")}
	return open(t, dir, Options{Seed: 3}).Interleave(2, 1).Shuffle(9).Prefetch(4).Cache(cache).Shuffle(5).Repeat(2)
}

func TestResumeInANewProcess(t *testing.T) {
	if dir := os.Getenv(resumeDir); dir != "" {
		var state State
		if err := json.Unmarshal([]byte(os.Getenv(resumeState)), &state); err != nil {
			t.Fatal(err)
		}
		s, err := resumedPipe(t, dir).Start(t.Context(), From{State: &state})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		fmt.Println("got", rest(t, s))
		return
	}
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 40)
	whole := idsOf(t, resumedPipe(t, dir))
	for _, k := range []int{20, 95} {
		for _, cached := range []bool{true, false} {
			s, err := resumedPipe(t, dir).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			for range k {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			state, err := json.Marshal(s.State())
			s.Close()
			if err != nil {
				t.Fatal(err)
			}
			if !cached {
				os.RemoveAll(filepath.Join(dir, "cache"))
			}
			c := exec.Command(os.Args[0], "-test.run=^TestResumeInANewProcess$")
			c.Env = append(os.Environ(), resumeDir+"="+dir, resumeState+"="+string(state))
			out, err := c.CombinedOutput()
			if want := fmt.Sprint("got ", whole[k:]); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("after %d, with a whole cache %v: %v: %s\nwant %s", k, cached, err, out, want)
			}
		}
	}
}
