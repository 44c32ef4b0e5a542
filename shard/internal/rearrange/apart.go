package rearrange

import (
	"context"
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// mustBeApart returns an error if the output directory overlaps with the inputs.
func mustBeApart(ctx context.Context, paths []string, in *source.Inputs, out string) error {
	from := directories(ctx, paths, storage.Remote(out))
	for _, f := range in.Files {
		from = append(from, f.Path)
	}
	return setdir.MustBeApart(out, from...)
}

// directories returns the directories that paths refer to as a whole: those in object stores if
// remote, otherwise the local ones.
func directories(ctx context.Context, paths []string, remote bool) []string {
	var dirs []string
	for _, path := range paths {
		at := storage.Parse(path)
		if at.Remote() != remote {
			continue
		}
		matches := []string{path}
		if _, err := at.Stat(ctx); err != nil {
			matches, _ = storage.Glob(ctx, path)
		}
		for _, match := range matches {
			if strings.HasSuffix(match, ".json") {
				match = storage.Dir(match)
			}
			if storage.IsDir(ctx, match) {
				dirs = append(dirs, match)
			}
		}
	}
	return dirs
}
