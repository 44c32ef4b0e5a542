package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir"
)

// TestJobsLeaveOthersAlone: a Job that joined, and one that began, return to a directory in which
// another conversion has begun, or theirs has ended.
func TestJobsLeaveOthersAlone(t *testing.T) {
	ctx := context.Background()
	src, ref, out := directories(t, 40), t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4, Workers: 1}}
	j, err := BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	straggler, err := JoinImages(ctx, src, out, o)
	mustBegin(t, straggler, err)
	if err := j.Close(); err != nil { // as if killed
		t.Fatal(err)
	}
	put(t, src, "c0/new.png", pngOf(99))
	mustImages(t, src, ref, o)
	j, err = BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	refused := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "another one has begun") {
			t.Errorf("a folder with another plan, or none: %v", err)
		}
	}
	_, err = j.Run(ctx, func(ctx context.Context) error {
		err := makeAll(j, 1, j.Todo())(ctx)
		for i := range straggler.Shards() {
			_, err := straggler.Make(ctx, i)
			refused(err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = straggler.Make(ctx, 0)
	refused(err)
	sameSet(t, contents(t, out), contents(t, ref))

	before := contents(t, out)
	put(t, src, "c0/newer.png", pngOf(98))
	j, err = BeginImages(ctx, src, out, o)
	mustBegin(t, j, err)
	_, err = j.Run(ctx, func(ctx context.Context) error {
		err := makeAll(j, 1, j.Todo())(ctx)
		return errors.Join(err, os.WriteFile(filepath.Join(out, setdir.ArrayPlanFile), []byte(`{"format":"tfrec.plan","version":1}`), 0o644))
	})
	refused(err)
	sameSet(t, contents(t, out), before) // the complete set stays
}

// TestJobsTellWhatOthersMade: a joined Job makes shards of a run that is cancelled.
func TestJobsTellWhatOthersMade(t *testing.T) {
	src, out := directories(t, 40), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4, Workers: 1}}
	j, err := BeginImages(context.Background(), src, out, o)
	mustBegin(t, j, err)
	ctx, stop := context.WithCancel(context.Background())
	_, err = j.Run(ctx, func(ctx context.Context) error {
		other, err := JoinImages(ctx, src, out, o)
		mustBegin(t, other, err)
		for _, by := range []*Job{j, other} {
			if _, err := by.Make(ctx, len(by.Todo())/2); err != nil { // 2 and 0
				t.Error(err)
			}
		}
		stop()
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), "2 of 4 shards finished and kept") {
		t.Error(err)
	}
}
