package settest

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// StageNext stages the next version of a set: a first shard with one different record, and a
// matching manifest.
func StageNext(t *testing.T, dir string) {
	t.Helper()
	d, err := setdir.Open(t.Context(), dir, setdir.Options{})
	Check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	Check(t, err)
	first := &m.Splits[0].Shards[0]
	w, err := d.Stage().Create(first.File, setdir.WriterOptions{})
	Check(t, err)
	Check(t, w.WriteRecord([]byte("another record")))
	info, err := w.Commit()
	Check(t, err)
	Check(t, d.Stage().Shards().PutDone(&setdir.Done{Shard: info}))
	m.Splits[0].Records += info.Records - first.Records
	*first = info
	PutManifest(t, d.Stage(), m)
}

// ReplaceStaged puts the staged files in place.
func ReplaceStaged(ctx context.Context, dir string) error {
	d, err := setdir.Open(ctx, dir, setdir.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil {
		return err
	}
	return d.Staged().Publish([]string{m.Splits[0].Shards[0].File}, []string{manifest.File}, nil)
}
