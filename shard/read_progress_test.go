package shard

import (
	"context"
	"testing"
)

// TestReadProgress has the counters end at the size of the files.
func TestReadProgress(t *testing.T) {
	dir := t.TempDir()
	writeSet(t, dir, 3, some(40, 300))
	sources, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
	check(t, err)
	var want int64
	for _, s := range sources {
		want += s.Info.Bytes
	}
	p := new(ReadProgress)
	_, err = Verify(context.Background(), []string{dir}, VerifyOptions{Progress: p})
	check(t, err)
	if planned, done := p.Planned.Load(), p.Done.Load(); planned != want || done != want || want == 0 {
		t.Errorf("%d planned and %d done of %d bytes", planned, done, want)
	}
	p = new(ReadProgress)
	_, err = Verify(context.Background(), []string{dir}, VerifyOptions{Progress: p, Sample: Sampling{Records: 2}})
	check(t, err)
	if planned, done := p.Planned.Load(), p.Done.Load(); planned != 0 || done != 0 {
		t.Errorf("a sample counts %d and %d", planned, done)
	}
}
