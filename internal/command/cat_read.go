package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/reader"
)

// maxCycle bounds --cycle: each file of the cycle is open, and has its place in
// every state that is saved.
const maxCycle = 1024

// readFlags are the flags for the order in which records are read.
type readFlags struct {
	shard, shuffle, skipBad string
	cacheIn                 string
	cycle, block, parallel  int
	repeat                  int
	maxRecord               int64
	seed                    uint64

	worker, workers int
	buffer          int // of --shuffle N; 0 for none
	global          bool
	bad             reader.SkipBad
	cache           *reader.CacheOptions
}

func (f *readFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.cycle, "cycle", 1, "read `N` files in turn")
	fs.IntVar(&f.block, "block", 1, "read `N` records of a file before the next file's turn")
	cli.CacheVar(fs, &f.cacheIn, "cache the records in DIR, or in memory, in the order of --cycle, for later passes")
	cli.TextVar(fs, "shuffle", "", "N|global", "shuffle with a buffer of N records, or the whole set", func(s string) error {
		f.shuffle = s
		return nil
	}, "global")
	cli.SeedVar(fs, &f.seed, "seed of --shuffle")
	fs.StringVar(&f.shard, "shard", "", "read part `I/N` of the set, I from 0")
	fs.IntVar(&f.repeat, "repeat", 1, "read everything `N` times; -1: for ever")
	fs.StringVar(&f.skipBad, "skip-bad", "", "skip up to `N|P%` damaged records per pass, and report them (default: none)")
	cli.MaxRecordVar(fs, &f.maxRecord)
	fs.IntVar(&f.parallel, "parallel", 0, "read with `N` threads (default: the cores)")
}

// complete checks the flags and reads those that are words.
func (f *readFlags) complete(fs *pflag.FlagSet) error {
	switch {
	case f.cycle < 1 || f.cycle > maxCycle:
		return cli.UsageError("--cycle %d: want 1 to %d", f.cycle, maxCycle)
	case f.block < 1:
		return cli.UsageError("--block %d: want 1 or more", f.block)
	case f.repeat < -1 || f.repeat == 0:
		return cli.UsageError("--repeat %d: want 1 or more, or -1 for ever", f.repeat)
	case f.parallel < 1 && fs.Changed("parallel"):
		return cli.UsageError("--parallel %d: want 1 or more", f.parallel)
	}
	if fs.Changed("shuffle") {
		if f.global = f.shuffle == "global"; !f.global {
			n, err := strconv.Atoi(f.shuffle)
			if err != nil || n < 1 {
				return cli.UsageError("--shuffle %q: want a number of 1 or more, or global", f.shuffle)
			}
			f.buffer = n
		}
	}
	if f.global && (fs.Changed("cycle") || fs.Changed("block")) {
		return cli.UsageError("--shuffle global and --cycle or --block: give one of them, since a global order has no interleave")
	}
	if f.global && fs.Changed("cache") {
		return cli.UsageError("--shuffle global and --cache: give one of them, since a cache keeps one order")
	}
	f.cache = cacheOptions(f.cacheIn)
	f.workers = 1
	if fs.Changed("shard") {
		i, n, ok := strings.Cut(f.shard, "/")
		var err1, err2 error
		f.worker, err1 = strconv.Atoi(i)
		f.workers, err2 = strconv.Atoi(n)
		if !ok || err1 != nil || err2 != nil || f.worker < 0 || f.worker >= f.workers {
			return cli.UsageError("--shard %q: want I/N with I from 0 and below N, such as 0/4", f.shard)
		}
	}
	if fs.Changed("skip-bad") {
		var err error
		if f.bad, err = parseSkipBad(f.skipBad); err != nil {
			return cli.UsageError("--skip-bad %w", err)
		}
	}
	return nil
}

// cacheOptions returns the options for a --cache; nil without it.
func cacheOptions(in string) *reader.CacheOptions {
	switch in {
	case "":
		return nil
	case "memory":
		return &reader.CacheOptions{}
	}
	return &reader.CacheOptions{Dir: in}
}

// parseSkipBad reads a number, or a share such as 1% or 0.01.
func parseSkipBad(s string) (reader.SkipBad, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return reader.SkipBad{Count: n}, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return reader.SkipBad{}, fmt.Errorf("%q: want a number from 0, or a share such as 1%%", s)
	}
	return reader.SkipBad{Share: share}, nil
}

func (f *readFlags) options() reader.Options {
	return reader.Options{Worker: f.worker, Workers: f.workers, Seed: f.seed, Parallelism: f.parallel, SkipBad: f.bad, MaxRecord: f.maxRecord}
}

// pipe returns the pipeline that the flags describe.
func (f *readFlags) pipe(set *reader.Set) reader.Pipe {
	var pipe reader.Pipe
	if f.global {
		pipe = set.ShuffleAll(reader.ShuffleAllOptions{})
	} else {
		pipe = set.Interleave(f.cycle, f.block)
	}
	if f.cache != nil {
		pipe = pipe.Cache(*f.cache)
	}
	if f.buffer > 0 {
		pipe = pipe.Shuffle(f.buffer)
	}
	if f.repeat != 1 {
		pipe = pipe.Repeat(f.repeat)
	}
	return pipe
}

// sharding describes the part of the set that --shard selects.
func (f *readFlags) sharding(set *reader.Set) string {
	if f.global {
		return fmt.Sprintf("by position in the global order: part %d of %d", f.worker+1, f.workers)
	}
	return set.Sharding()
}

// maxState is the maximum size of a state file in bytes.
const maxState = 64 << 20

// loadState reads what saveState wrote.
func loadState(path string) (s reader.State, err error) {
	data, err := regular.ReadFile(path, maxState)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: not a state that --save-state wrote: %w", path, err)
	}
	return s, nil
}

// saveState writes a state atomically.
func saveState(path string, s reader.State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	if err := atomicfile.Write(filepath.Dir(path), path, append(data, '\n')); err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	return nil
}
