package listing

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/convert/internal/webdataset"
)

// listArchives lists the images of archives.
func (l *Listing) listArchives(ctx context.Context, o *options.ImageOptions, src origin.Place) error {
	found, samples, err := walk.Archives(ctx, o, src)
	if err != nil {
		return err
	}
	l.WebDataset = samples != nil
	if err := l.take(ctx, o, found); err != nil {
		return err
	}
	if err := l.joinFiles(ctx, o, src); err != nil {
		return err
	}
	if samples != nil && l.Annotations == nil {
		return l.labelSamples(ctx, o, samples)
	}
	return l.labelFiles(ctx, o)
}

// labelSamples gives the samples of a WebDataset their labels and features.
func (l *Listing) labelSamples(ctx context.Context, o *options.ImageOptions, samples *webdataset.Samples) error {
	names, err := samples.Labels()
	if err != nil {
		return err
	}
	if names != nil {
		l.Labels = names
	}
	if err := l.number(ctx, o, nil); err != nil {
		return err
	}
	l.Features, err = samples.Features(l.Images, l.Features, &l.Account)
	return err
}
