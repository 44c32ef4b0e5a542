package command

import (
	"context"
	"errors"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
	page "github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
)

// maxCardSamples is the largest number of images on the contact sheet of a card.
const maxCardSamples = 200

// cardSamples returns a contact sheet of n images of a set, nil if it has none. It reads no other
// records, and decodes in Go, so that all machines make the same sheet.
func cardSamples(ctx context.Context, set *shard.Set, n int) ([]byte, error) {
	key := pictureKey(set.Features)
	if n == 0 || key == "" {
		return nil, nil
	}
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		return nil, err
	}
	png, r, err := page.Contacts(ctx, summaryOf(set), page.Options{Codec: codec, Samples: n, ImageKey: key})
	if errors.Is(err, page.ErrNoImages) || err == nil && r.Images == 0 {
		return nil, nil
	}
	return png, err
}

// pictureKey returns the key of the feature whose images the card shows, "" if there is none.
func pictureKey(features []manifest.Feature) string {
	first := ""
	for _, f := range features {
		switch {
		case f.Key == imagekey.Encoded:
			return f.Key
		case f.Class == manifest.ClassImage && first == "":
			first = f.Key
		}
	}
	return first
}

// summaryOf describes a set for a contact sheet, by its manifest.
func summaryOf(set *shard.Set) *stats.Summary {
	sum := new(stats.Summary)
	for _, s := range set.Shards() {
		sum.Files = append(sum.Files, stats.FileSummary{Path: s.Path, Split: s.Split, Records: s.Info.Records, Bytes: s.Info.Bytes})
	}
	var names []stats.Label
	objects := new(stats.Objects)
	for id, name := range set.Labels {
		if name == "" {
			continue
		}
		number := int64(id)
		names = append(names, stats.Label{ID: &number, Name: name})
		objects.Classes = append(objects.Classes, stats.ObjectClass{ID: &number, Name: name})
	}
	if set.LabelMap {
		sum.Objects = objects
	}
	for _, f := range set.Features {
		sum.Features = append(sum.Features, stats.FeatureSummary{Key: f.Key, Kinds: map[string]int64{f.Kind: 1}})
		if f.Class == manifest.ClassLabel {
			sum.Labels = append(sum.Labels, stats.LabelCounts{Key: f.Key, Counts: names})
		}
	}
	return sum
}
