package reshape

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// rewritten makes a set whose manifest is changed.
func rewritten(t *testing.T, change func(m *manifest.Manifest)) string {
	t.Helper()
	set := madeSet(t, 30, 3, []string{"cat", "dog"}, from(0))
	m := settest.ManifestOf(t, set)
	change(m)
	data, err := m.Encode()
	settest.Check(t, err)
	settest.PutFile(t, filepath.Join(set, manifest.File), data)
	return set
}

// TestManifestsAreNotBelieved uses manifests with false claims.
func TestManifestsAreNotBelieved(t *testing.T) {
	ctx := context.Background()
	feature := func(m *manifest.Manifest, key string) *manifest.Feature {
		return &m.Features[slices.IndexFunc(m.Features, func(f manifest.Feature) bool { return f.Key == key })]
	}
	for name, c := range map[string]struct {
		change     func(m *manifest.Manifest)
		fail, note string
	}{
		"a shard twice": {func(m *manifest.Manifest) {
			s := &m.Splits[0]
			s.Shards = append(s.Shards, s.Shards[1])
			s.Records += s.Shards[1].Records
		}, "names made-train.tfrecord-00001-of-00003 twice", ""},
		"a shard less": {func(m *manifest.Manifest) {
			s := &m.Splits[0]
			s.Records -= s.Shards[1].Records
			s.Shards = slices.Delete(s.Shards, 1, 2)
		}, "", "made-train.tfrecord-00001-of-00003 is left out"},
		"a split of more records": {func(m *manifest.Manifest) { m.Splits[0].Records++ }, "split train: the manifest says 31 records", ""},
		"another kind":            {func(m *manifest.Manifest) { feature(m, "id").Kind = "bytes" }, `feature "id" is int64, not bytes`, ""},
		"a feature that is not there": {func(m *manifest.Manifest) {
			m.Features = append(m.Features, manifest.Feature{Key: "zebra", Kind: "bytes", Class: manifest.ClassText})
		}, "", `all records have the feature "zebra"`},
	} {
		set := rewritten(t, c.change)
		out := filepath.Join(t.TempDir(), "out")
		report, err := Merge(ctx, []string{set}, out, Options{})
		if c.fail != "" {
			var unfit *UnfitError
			if !errors.As(err, &unfit) || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s: %v, want %q", name, err, c.fail)
			}
			settest.NothingAt(t, out)
			continue
		}
		settest.Check(t, err)
		if !slices.ContainsFunc(report.Notes, func(s string) bool { return strings.Contains(s, c.note) }) {
			t.Errorf("%s: notes %q, want %q", name, report.Notes, c.note)
		}
	}
	twice := rewritten(t, func(m *manifest.Manifest) {
		m.Splits[0].Shards = append(m.Splits[0].Shards, m.Splits[0].Shards[1])
		m.Splits[0].Records += m.Splits[0].Shards[1].Records
	})
	more := madeSet(t, 4, 1, []string{"cat", "dog"}, from(50))
	if _, err := Append(ctx, twice, []string{more}, AppendOptions{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("append to a set that names a shard twice: %v", err)
	}
	// A single shard of a set, and a complete set, are accepted without notes.
	set := madeSet(t, 30, 3, []string{"cat", "dog"}, from(0))
	for _, in := range []string{set, filepath.Join(set, "made-train.tfrecord-00001-of-00003")} {
		if report, err := Merge(ctx, []string{in}, filepath.Join(t.TempDir(), "out"), Options{}); err != nil || len(report.Notes) > 0 {
			t.Errorf("%s: %v, %q", in, err, report.Notes)
		}
	}
}

// TestUnfitRecords checks records whose contents do not allow sorting or grouping: this is not a
// usage error.
func TestUnfitRecords(t *testing.T) {
	ctx := context.Background()
	mixed := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 9, func(i int, b *tfrecord.Builder) {
		if i == 7 {
			b.String("key", "seven")
		} else {
			b.Int64("key", int64(i))
		}
	})
	many := settest.ExampleFile(t, filepath.Join(t.TempDir(), "y.tfrecord"), maxGroups+1, func(i int, b *tfrecord.Builder) { b.String("key", fmt.Sprint(i)) })
	for want, run := range map[string]func(out string) error{
		"record 7 at byte": func(out string) error {
			_, err := Reshard(ctx, []string{mixed}, out, ReshardOptions{SortBy: "key"})
			return err
		},
		"has more than 10000 values": func(out string) error {
			_, err := Reshard(ctx, []string{many}, out, ReshardOptions{GroupBy: "key"})
			return err
		},
	} {
		out := filepath.Join(t.TempDir(), "out")
		var unfit *UnfitError
		if err := run(out); !errors.As(err, &unfit) || isOptionError(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		settest.NothingAt(t, out)
	}
}
