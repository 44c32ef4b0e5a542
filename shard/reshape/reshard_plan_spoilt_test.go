package reshape

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// TestSpoiltPlansAreRefused changes the files in the directory so that workers would read other
// files or records, or look outside their shards.
func TestSpoiltPlansAreRefused(t *testing.T) {
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 20, withLabels)
	run, err := PlanReshard(context.Background(), []string{file}, filepath.Join(t.TempDir(), "out"), ReshardOptions{Options: Options{Shards: 2}})
	settest.Check(t, err)
	defer run.Finish(context.Background()) // it fails: nothing was written
	p := run.Plan()
	at := filepath.Join(p.Out(), filepath.FromSlash(setdir.ReshardPlanFile))
	whole, err := os.ReadFile(at)
	settest.Check(t, err)
	for _, c := range [][2]string{
		{`"kept":[]`, `"kept":[2]`},
		{`"kept":[]`, `"kept":[-1]`},
		{`"shards":2`, `"shards":3`},
		{`"inputs":[{`, `"inputs":[],"more":[{`},
		{`"split":0`, `"split":7`},
	} {
		spoilt := strings.Replace(string(whole), c[0], c[1], 1)
		if spoilt == string(whole) {
			t.Fatalf("%s is not in %s", c[0], whole)
		}
		settest.Check(t, os.WriteFile(at, []byte(spoilt), 0o644))
		if _, err := OpenReshardPlan(t.Context(), p.Out(), p.ID()); err == nil || !strings.Contains(err.Error(), "start again") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	settest.Check(t, os.WriteFile(at, whole, 0o644))
	if _, err := OpenReshardPlan(t.Context(), p.Out(), p.ID()); err != nil {
		t.Error(err)
	}
}
