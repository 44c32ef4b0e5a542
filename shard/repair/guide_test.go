package repair

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// An index too large for memory is not used as a guide; repair continues without it.
func TestGuidesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.idx")
	line := tfrecord.AppendIndex(nil, tfrecord.IndexEntry{Offset: 0, Size: 16})
	for _, size := range []int64{int64(len(line)), maxGuide + 1} {
		settest.Check(t, os.WriteFile(path, line, 0o644))
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
		g, found, err := readGuide(t.Context(), path, 16)
		if err != nil || !found || (g != nil) != (size <= maxGuide) {
			t.Errorf("%d bytes: a guide %v, found %v, %v", size, g != nil, found, err)
		}
	}
}
