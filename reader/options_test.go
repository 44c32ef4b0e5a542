package reader

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestNegativeOptionsAreRefused sets each number in turn to a negative value that does not mean a
// default: the error names the option.
func TestNegativeOptionsAreRefused(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 3)
	for want, o := range map[string]Options{
		"Workers": {Workers: -1}, "worker": {Worker: -1}, "Parallelism": {Parallelism: -1}, "Readers": {Readers: -2},
		"Memory": {Memory: -1}, "MaxRecord": {MaxRecord: -1}, "SkipBad": {SkipBad: SkipBad{Count: -1}},
	} {
		if _, err := Open(t.Context(), dir, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p := open(t, dir, Options{}).Records()
	for want, q := range map[string]Pipe{
		"Interleave(-1": p.Set().Interleave(-1, 1), "1, -1)": p.Set().Interleave(1, -1), "Shuffle(-1)": p.Shuffle(-1), "Repeat(-2)": p.Repeat(-2),
		"Skip(-1)": p.Skip(-1), "Take(-1)": p.Take(-1), "prefetch of -1": p.Prefetch(-1), "cache of -1": p.Cache(CacheOptions{Limit: -1}),
		"Block -1": p.Set().ShuffleAll(ShuffleAllOptions{Block: -1}), "Window -1": p.Set().ShuffleAll(ShuffleAllOptions{Window: -1}),
		"-1 workers": MapData(p, func(dst []byte, r Record) ([]byte, error) { return dst, nil }, MapDataOptions{Workers: -1}),
	} {
		if _, err := q.Start(t.Context(), From{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	refuses(t, "batch of -1", Batch(p, -1, BatchOptions{}))
	refuses(t, "batch of -1", ParseColumns(p, ColumnSpec{Batch: -1}))
	refuses(t, "-1 workers", ParseColumns(p, ColumnSpec{Workers: -1, Schema: columns.Schema{{Key: "x", Kind: tfrecord.KindInt64}}}))
	refuses(t, "batch of -1", Images(p, ImageSpec{Size: 8, Batch: -1}))
	refuses(t, "-8", Images(p, ImageSpec{Size: -8}))
	refuses(t, "-1 workers", Images(p, ImageSpec{Size: 8, Workers: -1}))
	refuses(t, "-1 workers", Map(p, idFrom, MapOptions{Workers: -1}))
	refuses(t, "-1 workers", Map(Map(p, idFrom, MapOptions{}), func(i int) (int, error) { return i, nil }, MapOptions{Workers: -1}))
	refuses(t, "batch of -1", Batch(Map(p, idFrom, MapOptions{}), -1, BatchOptions{}))
	refuses(t, "prefetch of -1", Map(p, idFrom, MapOptions{}).Prefetch(-1))
}

func refuses[T any](t *testing.T, want string, f Flow[T]) {
	t.Helper()
	r, err := f.Start(t.Context(), From{})
	if err == nil {
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v", want, err)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 3)
	if _, err := Open(t.Context(), dir, Options{Split: "train"}); !errors.Is(err, shard.ErrNoRecords) || !strings.Contains(err.Error(), "no manifest") {
		t.Errorf("a split of files without a manifest: %v", err)
	}
	sources := []shard.Source{{Set: &shard.Set{Manifest: &manifest.Manifest{Splits: []manifest.Split{{Name: "train"}, {Name: "empty"}}}}, Split: "train"}}
	if got := fileset.SplitsOf(sources); got != "there are: empty, train" {
		t.Errorf("splits %q", got)
	}
	s := started(t, open(t, dir, Options{}).Records())
	if err := s.Publish(""); err == nil {
		t.Error("published without a name")
	}
}
