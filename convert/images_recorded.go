package convert

import (
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/option"
)

// table returns the options, with the values that the source decides.
func (s *imageSource) table() option.Table {
	d := options.Decided{
		Splits: s.splitsBy, MovesObjects: s.Carried.MovesObjects(s.Options), WebDataset: s.WebDataset,
		ImageKey: s.Columns.Key, Synsets: s.Synsets != nil,
	}
	if s.Annotations != nil {
		d.AnnotationFormat = s.Annotations.Format
	}
	if s.Carried != nil {
		d.ImageKey = s.Options.ImageFeature()
	}
	if s.Columns.Key != "" {
		d.LabelColumn = s.Columns.Label
	}
	return s.Options.TableFor(d)
}

// recordedOptions returns the options that the bytes depend on, by manifest key.
func (s *imageSource) recordedOptions() map[string]any {
	m := s.table().Recorded()
	m[plan.OptionSource] = "images"
	s.Options.RecordShards(m, s.planned)
	return m
}
