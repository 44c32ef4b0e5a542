package boxes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// learnSets learns the classes of sets: from the label map next to the records or, if there is
// none, from the manifest.
func (c *classes) learnSets(ctx context.Context, sources []shard.Source) error {
	read := map[string]bool{}
	for _, s := range sources {
		path := storage.Join(storage.Dir(s.Path), manifest.LabelMapFile)
		if read[path] {
			continue
		}
		read[path] = true
		names, err := labelmap.ReadNames(ctx, path)
		if err != nil {
			return err
		}
		if names == nil {
			path, names = storage.Join(storage.Dir(s.Path), manifest.File), labelsOf(s.Set)
		}
		for _, id := range slices.Sorted(maps.Keys(names)) {
			if err := c.learn(id, names[id]); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// labelsOf returns the classes of objects in a manifest by id.
func labelsOf(s *shard.Set) map[int64]string {
	names := map[int64]string{}
	if s == nil || !slices.ContainsFunc(s.Features, func(f manifest.Feature) bool {
		return f.Key == objects.KeyLabel && f.Class == manifest.ClassLabel
	}) {
		return names
	}
	for id, name := range s.Labels {
		if name != "" { // ids have gaps
			names[int64(id)] = name
		}
	}
	return names
}
