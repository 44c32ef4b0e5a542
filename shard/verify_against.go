package shard

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/compare"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// expand finds the files to verify, and the manifest that they are held to where
// that is another one than theirs.
func (o *VerifyOptions) expand(ctx context.Context, e *expander, paths []string) (original string, err error) {
	if o.Against == "" {
		return "", e.add(paths)
	}
	if len(paths) != 1 || !isDir(ctx, paths[0]) {
		return "", fmt.Errorf("only one directory can be compared with a manifest, that of the copy: %q", paths)
	}
	path := o.Against
	if isDir(ctx, path) {
		path = storage.Join(path, ManifestFile)
	}
	m, err := ReadManifest(ctx, path)
	if err != nil {
		return "", err
	}
	return path, e.addSet(&Set{Dir: paths[0], Manifest: m}, path)
}

// checkCopy finds which files of the set other than shards the directory lacks,
// and whether its manifest is that of the original.
func (s *Set) checkCopy(ctx context.Context, original string) ([]Fault, error) {
	var faults []Fault
	same, err := compare.SameContent(ctx, s.Path(ManifestFile), original)
	switch _, missing := storage.Stat(ctx, s.Path(ManifestFile)); {
	case storage.Missing(missing):
		faults = append(faults, setFault(s.Path(ManifestFile), tfrecord.PartMissing, "the original has this file, the copy does not"))
	case err != nil:
		return nil, err
	case !same:
		faults = append(faults, setFault(s.Path(ManifestFile), tfrecord.PartHash, "not the manifest of the original, %s", original))
	}
	if s.Errors > 0 {
		if _, err := storage.Stat(ctx, s.Path(LedgerFile)); storage.Missing(err) {
			faults = append(faults, setFault(s.Path(LedgerFile), tfrecord.PartMissing, "the original has this file, the copy does not"))
		} else if err != nil {
			return faults, err
		}
	}
	return faults, nil
}
