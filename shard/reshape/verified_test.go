package reshape

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/shard/verify"
)

// verified checks that a set has no faults.
func verified(t testing.TB, path string) {
	t.Helper()
	report, err := verify.Files(t.Context(), []string{path}, verify.Options{})
	if err != nil || !report.OK {
		t.Errorf("verify %s: %v %+v", path, err, report.Faults)
	}
}

func adopt(t *testing.T, dir string, o repair.AdoptOptions) *repair.AdoptReport {
	t.Helper()
	report, err := repair.Adopt(t.Context(), dir, o)
	settest.Check(t, err)
	return report
}
