package reshape

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard/diff"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/repair"
)

func init() {
	modelVerbs["repair and reshape"] = repairModel
	modelVerbs["adopt and reshape"] = adoptModel
}

// repairModel damages a record of a copy of the set, repairs it into a new directory or in place,
// and reshapes the remaining records.
func repairModel(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
	set := settest.CopyOf(t, path)
	manifest := settest.ManifestOf(t, set)
	split := manifest.Splits[rnd.IntN(len(manifest.Splits))]
	want := m
	if manifest.Compression == "none" && split.Records > 1 {
		hit := rnd.Int64N(split.Records)
		at := hit
		for _, info := range split.Shards {
			if at >= info.Records {
				at -= info.Records
				continue
			}
			file := filepath.Join(set, info.File)
			entry := settest.IndexOf(t, file)[at]
			settest.FlipIn(t, file, int(entry.Offset+rnd.Int64N(entry.Size)))
			break
		}
		want = model{}
		for name, records := range m {
			if name == split.Name {
				records = slices.Delete(slices.Clone(records), int(hit), int(hit)+1)
			}
			want[name] = records
		}
	}
	repaired, inPlace := filepath.Join(t.TempDir(), "repaired"), rnd.IntN(2) == 0
	if inPlace {
		repaired = ""
	}
	var report *repair.Report
	var err error
	if inPlace {
		report, err = repair.InPlace(context.Background(), set, repair.Options{})
	} else {
		report, err = repair.Copy(context.Background(), set, repaired, repair.Options{})
	}
	settest.Check(t, err)
	if lost := int64(len(m.all()) - len(want.all())); report.RecordsLost != lost || !report.RecordsLostExact {
		t.Errorf("repair: %d records lost (exact: %v), want %d", report.RecordsLost, report.RecordsLostExact, lost)
	}
	if inPlace {
		repaired = set
	}
	sameModel(t, readModel(t, repaired), want, false)
	_, err = Merge(context.Background(), []string{repaired}, out, o)
	settest.Check(t, err)
	return want, false
}

// adoptModel adopts the set's shards without their manifest, and reshapes the resulting set.
func adoptModel(t *testing.T, rnd *rand.Rand, m model, path, out string, o Options) (model, bool) {
	bare := filepath.Join(t.TempDir(), "bare")
	settest.Check(t, os.MkdirAll(bare, 0o755))
	for _, split := range settest.ManifestOf(t, path).Splits {
		for _, info := range split.Shards {
			settest.Check(t, os.Link(filepath.Join(path, info.File), filepath.Join(bare, info.File)))
		}
	}
	if report := adopt(t, bare, repair.AdoptOptions{Rename: rnd.IntN(2) == 0}); report.Status != "written" || report.Records != int64(len(m.all())) {
		t.Errorf("adopt: %+v", report)
	}
	if report := adopt(t, bare, repair.AdoptOptions{Check: true}); report.Status != "up_to_date" {
		t.Errorf("adopt again: %+v", report)
	}
	sameModel(t, readModel(t, bare), m, false)
	_, err := Merge(context.Background(), []string{bare}, out, o)
	settest.Check(t, err)
	return m, false
}

// judged compares a set with a model, using the verbs that compare and check.
func judged(t *testing.T, rnd *rand.Rand, out string, want model, anyOrder bool) {
	t.Helper()
	ctx := context.Background()
	indexes, err := repair.Index(ctx, []string{out}, repair.IndexOptions{Check: true})
	settest.Check(t, err)
	if !indexes.OK {
		t.Errorf("index: %+v", indexes.Faults)
	}
	records := int64(len(want.all()))
	report, err := diff.Compare(ctx, want.put(t, rnd), out, diff.Options{Unordered: anyOrder, Memory: source.LeastMemory})
	settest.Check(t, err)
	if !report.Equal || report.RecordsA != records || report.RecordsB != records {
		t.Errorf("diff finds %+v", report)
	}
	// A missing record is reported.
	less := want.each(func(records []modelRecord) []modelRecord { return records[:max(1, len(records)-1)] })
	n := int64(len(less.all()))
	report, err = diff.Compare(ctx, out, less.put(t, rnd), diff.Options{Unordered: true, Memory: source.LeastMemory})
	settest.Check(t, err)
	if report.Equal != (n == records) || report.OnlyA != records-n || report.OnlyB != 0 {
		t.Errorf("diff with %d records less: %+v", records-n, report)
	}
}
