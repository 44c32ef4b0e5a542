package reshape

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/tfrecord"
)

// madeSet makes a set of n Examples in a temporary directory of the test, with label names for the
// feature "label" if there are any.
func madeSet(t testing.TB, n, shards int, labels []string, build func(i int, b *tfrecord.Builder)) string {
	t.Helper()
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "made.tfrecord"), n, build)
	out := filepath.Join(t.TempDir(), "set")
	v := &rearrange.Verb{Name: "made", Describe: func(m *manifest.Manifest) error {
		for i, f := range m.Features {
			if f.Key == "label" && labels != nil {
				m.Features[i].Class, m.Labels = manifest.ClassLabel, labels
			}
		}
		return nil
	}}
	_, err := rearrange.Make(context.Background(), []string{file}, out, &Options{Name: "made", Shards: shards}, v)
	settest.Check(t, err)
	return out
}

func isOptionError(err error) bool {
	var option *shard.OptionError
	return errors.As(err, &option)
}
