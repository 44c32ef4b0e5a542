package verify

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// expand finds the files to verify, and the path of the original manifest if they are compared with
// one.
func (o *Options) expand(ctx context.Context, paths []string, e shard.ExpandOptions) (found *shard.Expansion, original string, err error) {
	if o.Against == "" {
		found, err = shard.ExpandSets(ctx, paths, e)
		return found, "", err
	}
	if len(paths) != 1 || !storage.IsDir(ctx, paths[0]) {
		return nil, "", fmt.Errorf("only one directory can be compared with a manifest, that of the copy: %s", plural.Quoted(paths, len(paths)))
	}
	path := o.Against
	if storage.IsDir(ctx, path) {
		path = storage.Join(path, manifest.File)
	}
	m, err := manifest.Read(ctx, path)
	if err != nil {
		return nil, "", err
	}
	found, err = shard.ExpandSet(ctx, &shard.Set{Dir: paths[0], Manifest: m}, path, e)
	return found, path, err
}

// checkCopy reports files other than shards that are missing from the copy, and checks that its
// manifest equals the original's.
func checkCopy(ctx context.Context, s *shard.Set, original string) ([]shard.Fault, error) {
	var faults []shard.Fault
	same, err := compare.SameContent(ctx, s.Path(manifest.File), original)
	switch _, missing := storage.Stat(ctx, s.Path(manifest.File)); {
	case storage.Missing(missing):
		faults = append(faults, shard.FileFault(s.Path(manifest.File), tfrecord.PartMissing, "the original has this file, the copy does not"))
	case err != nil:
		return nil, err
	case !same:
		faults = append(faults, shard.FileFault(s.Path(manifest.File), tfrecord.PartHash, "not the manifest of the original, %s", original))
	}
	if s.Errors > 0 {
		if _, err := storage.Stat(ctx, s.Path(manifest.LedgerFile)); storage.Missing(err) {
			faults = append(faults, shard.FileFault(s.Path(manifest.LedgerFile), tfrecord.PartMissing, "the original has this file, the copy does not"))
		} else if err != nil {
			return faults, err
		}
	}
	return faults, nil
}
