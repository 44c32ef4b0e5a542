package verify

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
)

// TestReadProgress requires the counters to end at the size of the files.
func TestReadProgress(t *testing.T) {
	dir := t.TempDir()
	settest.WriteSet(t, dir, 3, settest.Some(40, 300))
	sources, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
	settest.Check(t, err)
	var want int64
	for _, s := range sources {
		want += s.Info.Bytes
	}
	p := new(shard.ReadProgress)
	_, err = Files(context.Background(), []string{dir}, Options{Progress: p})
	settest.Check(t, err)
	if planned, done := p.Planned.Load(), p.Done.Load(); planned != want || done != want || want == 0 {
		t.Errorf("%d planned and %d done of %d bytes", planned, done, want)
	}
	p = new(shard.ReadProgress)
	_, err = Files(context.Background(), []string{dir}, Options{Progress: p, Sample: Sampling{Records: 2}})
	settest.Check(t, err)
	if planned, done := p.Planned.Load(), p.Done.Load(); planned != 0 || done != 0 {
		t.Errorf("a sample counts %d and %d", planned, done)
	}
}
