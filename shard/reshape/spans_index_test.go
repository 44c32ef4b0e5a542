package reshape

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// An index that is not that of its shard never makes another set: either nothing is taken from it, or
// the run fails.
func TestReshardWithWrongIndexes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in := madeSet(t, 400, 2, nil, func(i int, b *tfrecord.Builder) {
		b.Bytes("data", make([]byte, rng.IntN(16<<10)))
	})
	reshard := func() (map[string]string, error) {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Reshard(t.Context(), []string{in}, out, ReshardOptions{Options: Options{Name: "x", Shards: 7, Workers: 2}})
		if err != nil {
			return nil, err
		}
		return setHere(t, out), nil
	}
	want, err := reshard()
	settest.Check(t, err)
	shards, err := filepath.Glob(filepath.Join(in, "*.tfrecord*"))
	settest.Check(t, err)
	path := manifest.IndexPath(shards[0])
	index, err := os.ReadFile(path)
	settest.Check(t, err)
	failed := 0
	for range 100 {
		lines := slices.Collect(strings.Lines(string(index)))
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		if rng.IntN(2) == 0 { // a line that says where a shard begins
			i = (1+rng.IntN(3))*400/7 - 1
		}
		switch rng.IntN(5) {
		case 0: // records swapped
			lines[i], lines[j] = lines[j], lines[i]
		case 1: // one line too few before j, and one too many after it
			lines = slices.Insert(slices.Delete(lines, i, i+1), min(j, len(lines)-1), lines[max(j-1, 0)])
		case 2: // all other records
			for k := range lines[1:] {
				lines[k] = lines[min(k+1+rng.IntN(2), len(lines)-1)]
			}
		case 3: // a digit
			line := []byte(lines[i])
			line[rng.IntN(len(line)-1)] = byte('0' + rng.IntN(10))
			lines[i] = string(line)
		case 4: // a frame of another size
			offset, size, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
			n, err := strconv.Atoi(size)
			settest.Check(t, err)
			lines[i] = fmt.Sprintf("%s %d\n", offset, max(1, n+rng.IntN(2001)-1000))
		}
		settest.Check(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
		got, err := reshard()
		switch {
		case err == nil && !maps.Equal(got, want):
			t.Fatal("a wrong index makes another set")
		case err != nil && !strings.Contains(err.Error(), path):
			t.Fatalf("the error does not say that the index may be wrong: %v", err)
		case err != nil:
			failed++
		}
	}
	t.Logf("%d of 100 runs failed", failed)
	if failed == 0 || failed == 100 {
		t.Errorf("%d of 100 runs failed", failed)
	}
	settest.Check(t, os.Remove(path))
	if got, err := reshard(); err != nil || !maps.Equal(got, want) {
		t.Errorf("without an index: %d files, want %d, or they are others, error %v", len(got), len(want), err)
	}
}

// With an index, an object is read once, and not a second time for its frame headers.
func TestReshardReadsObjectsOnce(t *testing.T) {
	in := madeSet(t, 180_000, 1, nil, func(_ int, b *tfrecord.Builder) { b.Bytes("data", make([]byte, 200)) })
	store, url := settest.StoreOf(t)
	var requests atomic.Int64
	for name, data := range setHere(t, in) {
		store.Put("in/"+name, []byte(data))
	}
	store.Fault = func(kind, name string) error {
		if kind == "open" && strings.Contains(name, ".tfrecord") && !strings.HasSuffix(name, ".idx") {
			requests.Add(1)
		}
		return nil
	}
	reshard := func() int64 {
		requests.Store(0)
		_, err := Reshard(t.Context(), []string{url + "/in"}, filepath.Join(t.TempDir(), "out"), ReshardOptions{Options: Options{Shards: 4}})
		settest.Check(t, err)
		return requests.Load()
	}
	indexed := reshard()
	for _, name := range store.Names() {
		if strings.HasSuffix(name, ".idx") {
			settest.Check(t, store.Remove(t.Context(), name))
		}
	}
	if walked := reshard(); indexed+3 > walked {
		t.Errorf("%d requests with an index, %d without", indexed, walked)
	} else {
		t.Logf("%d requests with an index, %d without", indexed, walked)
	}
}
