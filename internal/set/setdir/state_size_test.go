package setdir_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// repeated returns JSON of about size bytes that repeats an item, padded to each bytes.
func repeated(begin, item, end string, each, size int) []byte {
	item = strings.Repeat(" ", each-len(item)-1) + item
	return []byte(begin + strings.Repeat(item+",", size/each-1) + item + end)
}

// TestStateTakesItsSize: decoding state takes memory in proportion to its size, whatever it
// repeats; otherwise it is refused.
func TestStateTakesItsSize(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine and much data: nothing for the race detector")
	}
	size := 2 << 20
	if torture.On() {
		size = 16 << 20
	}
	lists := map[string]func() any{
		`"moves":[`: func() any { return new(setdir.Journal) }, `"files":[`: func() any { return new(setdir.Run) },
		`"inputs":[`: func() any { return new(setdir.Done) }, `"bad":[`: func() any { return new(setdir.Done) },
	}
	for list, v := range lists {
		for _, item := range []string{"{}", "null", "0", `""`} {
			for _, each := range []int{len(item) + 1, setdir.MinStateElement} {
				data := repeated("{"+list, item, "]}", each, size)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := setdir.DecodeState(data, v())
				runtime.ReadMemStats(&after)
				n := float64(after.TotalAlloc-before.TotalAlloc) / float64(size)
				if refused := errors.Is(err, setdir.ErrState); refused != (each < setdir.MinStateElement) || n > 20 {
					t.Errorf("%s%s of %d bytes each: %.1f bytes a byte: %v", list, item, each, n, err)
				}
			}
		}
	}
	for _, data := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<20)} {
		if err := setdir.DecodeState([]byte(data), new(any)); !errors.Is(err, setdir.ErrState) {
			t.Errorf("nested deep: %v", err)
		}
	}
}

// TestStateHasRoom: the state of large runs is accepted, even with the shortest possible names.
func TestStateHasRoom(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine and much data: nothing for the race detector")
	}
	type state struct {
		name string
		n    int
		into any
		of   func(n int) any
	}
	for _, test := range torture.Sample(t, 2, []state{
		{"1,000,000 files", 1_000_000, new(setdir.Run), func(n int) any {
			r := new(setdir.Run)
			for i := range n {
				r.Files = append(r.Files, fmt.Sprintf("n-%05d-of-%05d.tfrecord", i, n))
			}
			r.Stale = r.Files
			return r
		}},
		{"a shard of 1,000,000 samples", 1_000_000, new(setdir.Done), func(n int) any {
			d := new(setdir.Done)
			for i := range n {
				d.Inputs = append(d.Inputs, setdir.Input{Key: setdir.InputKey(fmt.Sprint(i)), Size: 1, ModTime: math.MaxInt64, Hash: strings.Repeat("0", 32)})
			}
			return d
		}},
		{"100,000 bad samples", 100_000, new(setdir.Done), func(n int) any { return &setdir.Done{Bad: make([]setdir.BadSample, n)} }},
		{"300,000 moves", 300_000, new(setdir.Journal), func(n int) any {
			j := new(setdir.Journal)
			for i := range n {
				name := fmt.Sprintf("n-%05d-of-%05d.tfrecord", i, n)
				j.Moves, j.Remove = append(j.Moves, setdir.Move{From: setdir.StageDir + "/" + name, To: name}), append(j.Remove, name)
			}
			return j
		}},
	}) {
		data, err := json.Marshal(test.of(test.n))
		settest.Check(t, err)
		if err := setdir.DecodeState(data, test.into); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		t.Logf("%s: %d bytes", test.name, len(data))
	}
}

// TestStateThatCannotBeReadIsNotWritten: a change is not committed with a journal that could not be
// read again. The state of a shard may be missing, but must not be that of another one.
func TestStateThatCannotBeReadIsNotWritten(t *testing.T) {
	race.Skip(t)
	dir, err := setdir.Open(t.Context(), filepath.Join(t.TempDir(), "out"), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	if err := (&setdir.Journal{Request: strings.Repeat("x", setdir.MaxState)}).Begin(dir); !errors.Is(err, setdir.ErrState) || settest.Has(t, dir.Path(), setdir.JournalFile) {
		t.Errorf("%v; a journal is there: %v", err, settest.Has(t, dir.Path(), setdir.JournalFile))
	}
	settest.Check(t, os.WriteFile(dir.Join("a.tfrecord"), nil, 0o666))
	done := &setdir.Done{Shard: manifest.Shard{File: "a.tfrecord"}}
	settest.Check(t, dir.Shards().PutDone(done))
	if !settest.Has(t, dir.Path(), setdir.StateOf(done.File)) {
		t.Fatal("nothing is recorded")
	}
	done.Source = strings.Repeat("x", setdir.MaxState)
	if err := dir.Shards().PutDone(done); err != nil || settest.Has(t, dir.Path(), setdir.StateOf(done.File)) {
		t.Errorf("%v; recorded: %v", err, settest.Has(t, dir.Path(), setdir.StateOf(done.File)))
	}
}
