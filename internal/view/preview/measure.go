package preview

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// measurement is the result of measuring all records.
type measurement struct {
	*contents.Set
	stats  *stats.Report
	faults []shard.Fault
	// partial has a sentence on each set that is incomplete.
	partial []string
	origin  origin
}

// measuredPixels is the number of images to decode for the mean and deviation of pixels.
const measuredPixels = 200

// measure reads all files of paths.
func measure(ctx context.Context, paths []string, o *Options) (*measurement, error) {
	s := new(measurement)
	all, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: func(sentence string) {
		s.partial = append(s.partial, sentence)
		if o.Note != nil {
			o.Note(sentence)
		}
	}})
	if err != nil {
		return nil, err
	}
	s.stats, err = stats.Measure(ctx, paths, stats.Options{
		Partial: o.Partial, Workers: o.Workers, Seed: o.Seed, Top: maxLabels, SamplePixels: measuredPixels,
		Header: o.Header, Pixels: o.Pixels, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	st := s.stats
	if st.Records == 0 && len(st.Faults) == 0 {
		return nil, fmt.Errorf("%w with a record: %s empty, such as %s", shard.ErrNoRecords, plaintext.Count(int64(len(all)), "file"), all[0].Path)
	}
	s.Set = contents.New(all, st.Files)
	s.compare()
	s.faults = append(st.Faults, s.faults...)
	s.origin = originOf(all)
	return s, s.Resolve(o.keys(), contents.FeaturesOf(st.Features), contents.FeaturesOf(st.FeatureLists), st.Labels, st.Objects)
}

// compare holds the files to what their manifest says of them. Those with other
// faults may well have fewer records.
func (s *measurement) compare() {
	read := make(map[string]stats.FileSummary, len(s.stats.Files))
	for _, f := range s.stats.Files {
		read[f.Path] = f
	}
	damaged := map[string]bool{}
	for _, f := range s.stats.Faults {
		damaged[f.Path] = true
	}
	for _, f := range s.Files {
		if f.Set == nil || damaged[f.Path] {
			continue
		}
		for _, c := range []struct {
			what      string
			have, say int64
		}{{"records", f.Records, f.Set.Records}, {"bytes", read[f.Path].Bytes, f.Set.Bytes}} {
			if c.have != c.say {
				s.faults = append(s.faults, shard.Fault{
					Path: f.Path, Record: -1, Offset: -1, Part: tfrecord.PartCount,
					Message: fmt.Sprintf("it has %d %s, the manifest says %d", c.have, c.what, c.say),
				})
			}
		}
	}
}

// nameOf returns a name for files without a manifest: the name of a lone file, or of the directory.
func nameOf(sources []shard.Source) string {
	path := sources[0].Path
	if len(sources) == 1 {
		return filepath.Base(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(filepath.Dir(path))
}

// originOf returns the manifest's information if all files belong to one manifest.
func originOf(sources []shard.Source) origin {
	set := sources[0].Set
	for _, s := range sources {
		if set == nil || s.Set == nil || s.Set.Fingerprint != set.Fingerprint || s.Set.Dir != set.Dir {
			return origin{name: nameOf(sources)}
		}
	}
	from := origin{
		name: set.Name, tool: set.Tool, fingerprint: set.Fingerprint,
		decoder: set.Decoder, encoder: set.Encoder, errors: set.Errors,
	}
	for name, raw := range set.Options {
		from.options = append(from.options, option{name, rawOption(raw)})
	}
	slices.SortFunc(from.options, func(a, b option) int { return cmp.Compare(a.name, b.name) })
	return from
}
