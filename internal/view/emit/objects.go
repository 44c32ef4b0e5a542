package emit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/stats"
)

// Class is a class of objects.
type Class struct {
	ID   int64
	Name string
}

// Sides are the keys of the sides of boxes, in the order in which a program puts them together.
func (Dataset) Sides() []string {
	return []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax}
}

// Boxes reports whether records have boxes, all of whose sides a program parses.
func (d *Dataset) Boxes() bool {
	return !d.Sequences && !slices.ContainsFunc(d.Sides(), func(key string) bool {
		return !slices.ContainsFunc(d.Features, func(f Feature) bool { return f.Key == key && f.Kind == "float" })
	})
}

// isObjects reports whether a feature has values for each of the objects of an image, of which there
// may be any number whatever the records at hand have.
func isObjects(key string) bool { return strings.HasPrefix(key, objects.KeyPrefix) }

// nameClasses finds the names of classes of objects: from the label map, else from the records.
func (d *Dataset) nameClasses(ctx context.Context, o *stats.Objects) {
	if o == nil || o.ClassesOmitted > 0 {
		return
	}
	names, err := labelmap.ReadNames(ctx, storage.Join(d.Dir, manifest.LabelMapFile))
	if err != nil || names == nil {
		names = map[int64]string{}
		for _, c := range o.Classes {
			if c.ID != nil && c.Name != "" {
				names[*c.ID] = c.Name
			}
		}
	}
	for id, name := range names {
		d.Classes = append(d.Classes, Class{id, name})
	}
	slices.SortFunc(d.Classes, func(a, b Class) int { return cmp.Compare(a.ID, b.ID) })
}
