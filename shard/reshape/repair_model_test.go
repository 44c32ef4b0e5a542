package reshape

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/diff"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

func init() { maps.Copy(modelVerbs, mendingVerbs) }

// mendingVerbs undo damage to a set.
var mendingVerbs = map[string]modelVerb{
	// A record is damaged in one of the shards, and repair loses only that record.
	"repair": func(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
		broken := filepath.Join(t.TempDir(), "broken")
		_, err := Reshard(context.Background(), []string{path}, broken, ReshardOptions{Options: o})
		settest.Check(t, err)
		sources, err := shard.Expand(t.Context(), []string{broken}, shard.ExpandOptions{})
		settest.Check(t, err)
		s := sources[rnd.IntN(len(sources))]
		before := 0 // records of the split in the shards before s
		for _, other := range sources {
			if other.Split == s.Split && other.Path < s.Path {
				before += int(other.Info.Records)
			}
		}
		want := m
		// Shards and RecordsPerShard do not account for the lost record.
		if plain := o.Compression <= tfrecord.CompressionNone; plain && o.Shards == 0 && o.RecordsPerShard == 0 && s.Info.Records > 0 && len(m[s.Split]) > 1 {
			f, err := os.Open(manifest.IndexPath(s.Path))
			settest.Check(t, err)
			entries, err := tfrecord.ReadIndex(f, s.Path)
			settest.Check(t, err)
			settest.Check(t, f.Close())
			n := rnd.IntN(len(entries))
			settest.FlipIn(t, s.Path, int(entries[n].Offset)+rnd.IntN(int(entries[n].Size)))
			want = maps.Clone(m)
			want[s.Split] = slices.Delete(slices.Clone(m[s.Split]), before+n, before+n+1)
		}
		report, err := repair.Copy(context.Background(), broken, out, repair.Options{})
		settest.Check(t, err)
		if lost := int64(len(m.all()) - len(want.all())); report.RecordsLost != lost || !report.RecordsLostExact {
			t.Errorf("%d lost, want %d: %+v", report.RecordsLost, lost, report.Damage)
		}
		unlike, err := diff.Compare(context.Background(), path, out, diff.Options{Unordered: true, Memory: source.LeastMemory})
		settest.Check(t, err)
		if unlike.OnlyB != 0 || unlike.OnlyA != report.RecordsLost {
			t.Errorf("the difference is %d and %d, want %d and none", unlike.OnlyA, unlike.OnlyB, report.RecordsLost)
		}
		return want, false
	},
	// All metadata is removed, and adopt recreates it.
	"adopt": func(t *testing.T, _ *rand.Rand, m model, path, out string, o Options) (model, bool) {
		_, err := Reshard(context.Background(), []string{path}, out, ReshardOptions{Options: o})
		settest.Check(t, err)
		was, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		settest.Check(t, err)
		settest.Check(t, os.RemoveAll(filepath.Join(out, manifest.IndexDir)))
		for _, name := range append(manifest.TFDSFiles(was.Features), manifest.File) {
			if err := os.Remove(filepath.Join(out, name)); err != nil && !storage.Missing(err) {
				t.Fatal(err)
			}
		}
		report := adopt(t, out, repair.AdoptOptions{})
		if report.Status != "written" || report.Name != was.Name || report.Records != int64(len(m.all())) {
			t.Errorf("%+v", report)
		}
		same, err := diff.Compare(context.Background(), path, out, diff.Options{})
		settest.Check(t, err)
		if same.Differing+same.OnlyA+same.OnlyB != 0 {
			t.Errorf("%+v", same.Differences)
		}
		return m, false
	},
}
