package reshape

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/diff"
)

// If an input is replaced while a verb reads it, the verb fails instead of mixing versions.
func TestVerbsNoticeReplacedSets(t *testing.T) {
	t.Parallel()
	verbs := map[string]func(ctx context.Context, in, out string) error{
		"merge": func(ctx context.Context, in, out string) error {
			_, err := Merge(ctx, []string{in}, out, Options{})
			return err
		},
		"reshard": func(ctx context.Context, in, out string) error {
			o := ReshardOptions{}
			o.Shards = 2
			_, err := Reshard(ctx, []string{in}, out, o)
			return err
		},
		"diff": func(ctx context.Context, in, _ string) error {
			_, err := diff.Compare(ctx, in, in, diff.Options{})
			return err
		},
	}
	for name, verb := range verbs {
		dir := settest.ThreeShards(t)
		files := stageLower(t, dir)
		out := filepath.Join(t.TempDir(), "out")
		var opened atomic.Int64 // the replacement itself opens files, too
		ctx := inject.With(t.Context(), func(op string) error {
			if op == "open" && opened.Add(1) == 2 {
				d, err := setdir.Open(context.Background(), dir, setdir.Options{})
				settest.Check(t, err)
				settest.Check(t, d.Staged().Publish(files, []string{manifest.File}, nil))
				settest.Check(t, d.Close())
			}
			return nil
		})
		err := verb(ctx, dir, out)
		if err == nil || opened.Load() < 2 || !strings.Contains(err.Error(), "replaced while it was read") {
			t.Errorf("%s: %d files opened, %v", name, opened.Load(), err)
		}
		if settest.Has(t, out, manifest.File) {
			t.Errorf("%s: made a set", name)
		}
	}
}

// stageLower stages a version of a set with other records of the same lengths, and returns its
// shards.
func stageLower(t *testing.T, dir string) (files []string) {
	t.Helper()
	d, err := setdir.Open(t.Context(), dir, setdir.Options{})
	settest.Check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	settest.Check(t, err)
	for i := range m.Splits[0].Shards {
		file := &m.Splits[0].Shards[i]
		w, err := d.Stage().Create(file.File, setdir.WriterOptions{})
		settest.Check(t, err)
		for _, record := range settest.RecordsOf(t, filepath.Join(dir, file.File)) {
			settest.Check(t, w.WriteRecord([]byte(strings.ToUpper(string(record)))))
		}
		info, err := w.Commit()
		settest.Check(t, err)
		settest.Check(t, d.Stage().Shards().PutDone(&setdir.Done{Shard: info}))
		*file = info
		files = append(files, info.File)
	}
	m.Fingerprint = "the next version"
	settest.PutManifest(t, d.Stage(), m)
	return files
}
