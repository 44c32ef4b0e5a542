package reshape

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// idKeep keeps the records for which ok returns true.
func idKeep(ok func(id int64) bool) Keep {
	return func(_ context.Context, e *tfrecord.Example) (bool, error) {
		f, _ := e.Get("id")
		id, _ := f.Int64()
		return ok(id), nil
	}
}

func TestFilterKeepsOrder(t *testing.T) {
	set := madeSet(t, 1000, 3, nil, settest.Numbers)
	var want []int64
	for id := range int64(1000) {
		if id%7 == 2 {
			want = append(want, id)
		}
	}
	var first map[string]string
	for _, workers := range []int{1, 4} {
		out := filepath.Join(t.TempDir(), "out")
		o := FilterOptions{Keep: idKeep(func(id int64) bool { return id%7 == 2 }), Where: "id % 7 == 2"}
		o.Shards, o.Workers = 2, workers
		report, err := Filter(context.Background(), []string{set}, out, o)
		settest.Check(t, err)
		if got := settest.IDsOf(t, out, "train", "id"); !slices.Equal(got, want) {
			t.Errorf("%d workers: records %v, want %v", workers, got, want)
		}
		if report.RecordsIn != 1000 || report.Records != int64(len(want)) || report.Dropped != 1000-int64(len(want)) {
			t.Errorf("%+v", report)
		}
		verified(t, out)
		if got := string(settest.ManifestOf(t, out).Options["where"]); got != `"id % 7 == 2"` {
			t.Errorf("the manifest has the condition %s", got)
		}
		if files := settest.FilesOf(t, out); first == nil {
			first = files
		} else if !settest.SameFiles(first, files) {
			t.Error("the bytes depend on the number of workers")
		}
	}
}

// KeepFor gets the features of the records, whether they come from manifests or from the records.
func TestFilterPrepares(t *testing.T) {
	set := madeSet(t, 20, 1, nil, settest.Numbers)
	bare := settest.ExampleFile(t, filepath.Join(t.TempDir(), "bare.tfrecord"), 20, func(i int, b *tfrecord.Builder) {
		settest.Numbers(i, b)
		if i == 19 {
			b.Float("scores", 1, 2)
		}
		if i%2 == 0 {
			b.Int64("mixed", 1)
		} else {
			b.String("mixed", "one")
		}
	})
	for path, want := range map[string]string{
		set:  "id:int64/scalar text:bytes/text",
		bare: "id:int64/scalar mixed:/ scores:float/vector text:bytes/text",
	} {
		var got []string
		out := filepath.Join(t.TempDir(), "out")
		refuse := errors.New("refused")
		_, err := Filter(context.Background(), []string{path}, out, FilterOptions{Keep: KeepFor(func(features []manifest.Feature) (Keep, error) {
			for _, f := range features {
				got = append(got, f.Key+":"+f.Kind+"/"+string(f.Class))
			}
			return nil, refuse
		})})
		if !errors.Is(err, refuse) || strings.Join(got, " ") != want {
			t.Errorf("%v: features %q, want %q", err, got, want)
		}
		settest.NothingAt(t, out)
	}
}

func TestFilterErrors(t *testing.T) {
	set := madeSet(t, 20, 1, nil, settest.Numbers)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Filter(context.Background(), []string{set}, out, FilterOptions{Keep: idKeep(func(int64) bool { return false })}); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("nothing kept: %v", err)
	}
	settest.NothingAt(t, out)
	for _, o := range []FilterOptions{{}, {Keep: Keep(nil)}, {Keep: KeepFor(nil)}, {Keep: KeepFor(func([]manifest.Feature) (Keep, error) { return nil, nil })}} {
		if _, err := Filter(context.Background(), []string{set}, out, o); !isOptionError(err) {
			t.Errorf("no condition: %v", err)
		}
		settest.NothingAt(t, out)
	}
	failing := errors.New("cannot say")
	_, err := Filter(context.Background(), []string{set}, out, FilterOptions{Keep: Keep(func(_ context.Context, e *tfrecord.Example) (bool, error) {
		if f, _ := e.Get("id"); f.Len() == 1 {
			if id, _ := f.Int64(); id == 13 {
				return false, failing
			}
		}
		return true, nil
	})})
	if !errors.Is(err, failing) || !strings.Contains(err.Error(), "record 13 at byte") {
		t.Errorf("a condition that fails: %v", err)
	}
	settest.NothingAt(t, out)
}

// A condition that takes long ends with the context, whose cause is the error.
func TestFilterEndsWithItsContext(t *testing.T) {
	set := madeSet(t, 20, 1, nil, settest.Numbers)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := filepath.Join(t.TempDir(), "out")
	_, err := Filter(ctx, []string{set}, out, FilterOptions{Keep: Keep(func(ctx context.Context, _ *tfrecord.Example) (bool, error) {
		cancel(stop)
		<-ctx.Done()
		return false, errors.New("cut short")
	})})
	if !errors.Is(err, stop) || strings.Contains(err.Error(), "cut short") {
		t.Error(err)
	}
	settest.NothingAt(t, out)
}
