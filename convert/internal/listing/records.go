package listing

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
)

// listRecords lists the images of TFRecords, with the splits, labels and features of these.
func (l *Listing) listRecords(ctx context.Context, o *options.ImageOptions, src origin.Place, out string) error {
	found, err := walk.Records(ctx, o, src, out)
	if err != nil {
		return err
	}
	l.Carried = found.Carried
	if err := l.take(ctx, o, &found.Found); err != nil {
		return err
	}
	if len(l.Images) == 0 {
		return fmt.Errorf("no records in %s are selected", src.At.Path())
	}
	sources := found.Records.Sources
	splits, paths := make([]string, len(sources)), make([]string, len(sources))
	for i := range sources {
		splits[i], paths[i] = sources[i].Split, sources[i].Path
	}
	fileOf := func(p *origin.Image) int { return int(found.Records.Records[p.Item].File) }
	if slices.Contains(splits, "") {
		if err := l.splitting(o).splitsFromFiles(paths, fileOf); err != nil {
			return err
		}
	} else {
		l.splitting(o).keepSplits(splits, fileOf)
	}
	if l.Carried.Labels {
		l.Labels, l.Carried.Counted, l.LabelMap = found.Labels.Name(l.Images)
	} else if err := l.number(ctx, o, nil); err != nil {
		return err
	}
	described, err := l.Carried.Describe(o, found.Labels.Set, l.Features, len(l.Labels) > 0)
	l.Features = append(l.Features, described...)
	return err
}
