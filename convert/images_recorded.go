package convert

import (
	"cmp"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// addAnnotationOptions adds the options of annotations that records depend on, where they are given.
func (s *imageSource) addAnnotationOptions(m map[string]any) {
	o, a := s.Options, &s.Options.Annotations
	if a.HasObjects() {
		m[plan.OptionAnnotations], m[plan.OptionMinVisibility] = s.Annotations.Format, a.MinVisibility
		m["instance_masks"], m[plan.OptionDropEmpty], m["keep_unannotated"] = a.InstanceMasks, a.DropEmpty, a.KeepUnannotated
	}
	if s.Carried.MovesObjects(o) {
		m[plan.OptionMinVisibility] = a.MinVisibility // they are moved with the pixels
	}
	if a.HasMasks() {
		m["masks"], m["mask_fill"] = true, a.FillClass()
	}
}

// recordedOptions returns the options that the bytes depend on, by flag name.
func (s *imageSource) recordedOptions() map[string]any {
	o := s.Options
	m := map[string]any{
		"source": "images", plan.OptionSplits: s.splitsBy, "even": o.Even,
		"compression": plan.CompressionName(o.Compression), "limit": o.Limit,
		"labels": o.Labels.Mode(), "label_offset": o.Labels.Offset, "rename": o.Rename,
		"include": sorted(o.Select.Include), "exclude": sorted(o.Select.Exclude), "follow_symlinks": o.Select.FollowSymlinks,
		"encode": o.Encode.Format, "channels": o.Encode.Channels, "min_size": o.Select.MinSize, "max_aspect": o.Select.MaxAspect,
		"max_pixels": cmp.Or(o.Codec.MaxPixels, augment.DefaultMaxPixels), "background": o.Codec.Background, "no_check": o.Encode.NoCheck, "seed": o.Seed,
	}
	if len(o.Rename) == 0 {
		m["rename"] = nil
	}
	o.RecordShards(m, s.planned)
	if o.Resizes() {
		m["resize"], m["filter"] = options.SizeText(o.Resize), o.Resize.Filter.String()
		if o.Resize.Square == 0 {
			m["fit"], m["pad_color"] = o.Resize.Fit.String(), o.Resize.PadColor
		}
		m[plan.OptionAntialias], m["no_upscale"] = !o.Resize.NoAntialias, o.Resize.NoUpscale
	}
	if o.Resizes() || o.Augment.Policy != nil {
		m["exact_pixels"] = o.ExactPixels
	}
	s.addNewerOptions(m)
	if o.Augment.Policy != nil {
		m["augment"], m["copies"], m["keep_original"] = o.Augment.Policy.String(), o.Augment.Copies, o.Augment.KeepOriginal
		m["augment_splits"] = sorted(o.Augment.Augmented())
	}
	switch o.Encode.Format {
	case JPEG:
		m["quality"], m["subsampling"] = o.Encode.Quality, o.Encode.Subsampling
	case Float32:
		m["mean"], m["std"] = o.Encode.Normalize.Mean, o.Encode.Normalize.Std
	}
	return m
}

// addNewerOptions adds the options that sets older than them do not record, where they are given.
func (s *imageSource) addNewerOptions(m map[string]any) {
	o := s.Options
	if o.Codec.AllowArithmetic {
		m["allow_arithmetic"] = true
	}
	if o.Select.ByContent {
		m["by_content"] = true
	}
	if o.Codec.FloatRange != nil {
		m["float_range"] = o.Codec.FloatRange
	}
	if s.WebDataset {
		m["archive_format"] = WebDataset
	}
	if s.Carried != nil {
		m["image_key"] = o.ImageFeature()
	}
	if c := s.Columns; c.Key != "" {
		m["image_key"] = c.Key
		if c.Label != "" {
			m["labels"], m["label_column"] = "column", c.Label
		}
	}
	if o.Labels.Several() {
		m["multi_label"] = o.Labels.Separator
	}
	if o.Labels.SplitColumn != "" {
		m["split_column"] = o.Labels.SplitColumn
	}
	if len(o.Features) > 0 {
		var names []string
		for _, f := range o.Features {
			names = append(names, f.String())
		}
		m["features"] = names
	}
	s.addAnnotationOptions(m)
	switch {
	case o.Labels.Classes == "":
	case s.Synsets != nil:
		m["classes"] = "pairs"
	default:
		m["classes"] = "names"
	}
}

// sorted returns globs, or splits, in an order independent of how they were given.
func sorted(globs []string) []string {
	globs = slices.Clone(plan.Given(globs))
	slices.Sort(globs)
	return globs
}
