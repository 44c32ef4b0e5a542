package stats

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Options configure Measure. Memory is bounded by the limits times twice the workers, and up to 20
// times the largest record, never by the data.
type Options struct {
	// Partial reads the existing shards of incomplete sets, and Note is called for each (see
	// [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Workers is the number of files read concurrently. Default: GOMAXPROCS.
	Workers int
	// By is the key of a feature: all figures are also given for the records with each of its
	// values. label is short for image/class/label, if no other key ends so. Measure returns an error
	// if no record has it. Default: none.
	By string
	// MaxGroups is the maximum number of groups, one per value of By. Default: 32.
	MaxGroups int
	// MaxFeatures is the maximum number of features; the occurrences of others are counted in
	// Figures.FeaturesOmitted. Each takes about 50 KB, 200 KB if most numbers differ, and at most 1
	// MB. The groups together have the same limit again. Default: 2000.
	MaxFeatures int
	// MaxLabels is the maximum number of values counted per label feature. Default: 10,000.
	MaxLabels int
	// Top is the number of most frequent values listed. Default: 20.
	Top int
	// MaxFaults is the maximum number of faults listed per file. Default: 1000.
	MaxFaults int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64

	// Header reads an image's header. It must be safe for concurrent use, must not retain data, and
	// is called for values that begin like JPEG, PNG, GIF, WebP, BMP or TIFF. Default: none; images
	// are then only counted.
	Header func(data []byte) (ImageHeader, error)
	// Pixels decodes an image to RGB and sums its samples; like Header, it must be safe for
	// concurrent use and must not retain data. It is only called for images whose header can be
	// read. Default: none.
	Pixels func(data []byte) (PixelSums, error)
	// SamplePixels is the number of images of each feature, and of each group, passed to Pixels: a
	// random sample. Below 0 means all of them. Default: 500.
	SamplePixels int
	// Seed of the sample. Default: 0.
	Seed uint64
	// Progress, if not nil, is updated during the run.
	Progress *shard.ReadProgress
}

// withDefaults returns the options with all defaults filled in.
func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value *int
		or    int
	}{
		{&o.MaxGroups, 32}, {&o.MaxFeatures, 2000}, {&o.MaxLabels, 10_000},
		{&o.Top, 20}, {&o.MaxFaults, recordscan.MaxFaults},
	} {
		if *d.value <= 0 {
			*d.value = d.or
		}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.SamplePixels == 0 {
		o.SamplePixels = 500
	}
	return o
}

// Report is the result of Measure. Its JSON form is `tfrec stats --json`.
type Report struct {
	Files []FileSummary `json:"files"`
	// Bytes of the files, as stored.
	Bytes int64 `json:"bytes"`
	// Compression counts the files by compression.
	Compression map[string]int64 `json:"compression"`
	// Figures of all records.
	Figures
	// By is Options.By, and Groups are the figures of the records with each of its values: numbers
	// in order, then texts in order.
	By     string  `json:"by,omitempty"`
	Groups []Group `json:"groups,omitempty"`
	// UngroupedRecords counts the records that are not in any group: those without exactly one
	// value of the feature By, those whose value is a text of more than 128 bytes, and those whose
	// value exceeded MaxGroups.
	UngroupedRecords int64 `json:"ungrouped_records,omitempty"`
	// RankError and DistinctError are the constants of the same names.
	RankError     float64 `json:"rank_error"`
	DistinctError float64 `json:"distinct_error"`
	// Faults found. Records after broken framing are not in the figures.
	Faults        []shard.Fault `json:"faults"`
	FaultsOmitted int64         `json:"faults_omitted,omitempty"`
}

// Figures describe a set of records.
type Figures struct {
	Records int64 `json:"records"`
	// RecordBytes are the sizes of the records, uncompressed, without framing.
	RecordBytes *Numbers `json:"record_bytes"`
	// Messages counts the records by message; "unknown" for others.
	Messages map[string]int64 `json:"messages"`
	// Features of Examples, and of the contexts of SequenceExamples, by key.
	Features []Feature `json:"features"`
	// FeatureLists of SequenceExamples by key.
	FeatureLists []Feature `json:"feature_lists,omitempty"`
	// FeaturesOmitted counts occurrences of features above MaxFeatures.
	FeaturesOmitted int64 `json:"features_omitted,omitempty"`
	// Labels counts the records by label, for features that are labels, as in Inspect.
	Labels []LabelCounts `json:"labels"`
	// Objects of images; nil if no record has lists of boxes.
	Objects *Objects `json:"objects,omitempty"`
}

// Group is the figures of the records with one value of a feature.
type Group struct {
	Value string `json:"value"`
	// Name of the label if the value is a label id; empty if unknown.
	Name string `json:"name,omitempty"`
	Figures
}

// Feature returns the figures of a feature; nil if there are none.
func (f *Figures) Feature(key string) *Feature {
	for i := range f.Features {
		if f.Features[i].Key == key {
			return &f.Features[i]
		}
	}
	return nil
}

// Measure reads all files that paths name (see [shard.Expand]) once, and describes the values of
// their features. Faults in the data are not errors but are listed in the Report; with an error the
// Report covers what could be read, or is nil. The Report is the same for any number of workers.
func Measure(ctx context.Context, paths []string, o Options) (*Report, error) {
	o = o.withDefaults()
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Note})
	if err != nil {
		return nil, err
	}
	var done *atomic.Int64
	if o.Progress != nil {
		for _, source := range sources {
			o.Progress.Planned.Add(recordscan.TotalSize(ctx, source.Path))
		}
		done = &o.Progress.Done
	}
	if o.By != "" {
		if o.By, err = source.Feature(ctx, optname.OptionsBy, o.By, sources, o.MaxRecord); err != nil {
			return nil, err
		}
	}
	m := &measure{o: &o, names: newLabelNames(sources), samples: &pixelSamples{o: &o}}
	total := m.newFile()
	readers := make(chan *tfrecord.Reader, o.Workers) // for reuse
	var errs []error
	err = par.Map(ctx, o.Workers, 2*o.Workers,
		func(_ context.Context, give func(*fileStats) error) error {
			for _, source := range sources {
				f := m.newFile()
				f.source = source
				if err := give(f); err != nil {
					return err
				}
			}
			return nil
		},
		func(ctx context.Context, f *fileStats) error {
			var r *tfrecord.Reader
			select {
			case r = <-readers:
			default:
				r = tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: o.MaxRecord})
			}
			f.err = f.all.base.file(ctx, f.source, r, done, f.record)
			readers <- r
			return nil
		},
		func(f *fileStats) error {
			total.merge(f)
			if f.err != nil {
				errs = append(errs, f.err)
			}
			return nil
		})
	close(readers)
	for r := range readers {
		r.Close() // of Readers whose files are closed
	}
	if err != nil {
		return nil, err
	}
	report := total.stats(ctx) // it reads label names, which CheckUnchanged should cover
	if o.By != "" && len(report.Groups) == 0 && report.Records > 0 && report.Feature(o.By) == nil {
		errs = append(errs, report.unknownBy())
	}
	errs = append(errs, shard.CheckUnchanged(ctx, sources))
	return report, errors.Join(errs...)
}

// unknownBy is the error for a feature By that no record has.
func (r *Report) unknownBy() error {
	all := make([]manifest.Feature, len(r.Features))
	for i, f := range r.Features {
		all[i].Key = f.Key
	}
	key, err := source.FindFeature(optname.OptionsBy, r.By, all)
	if err == nil { // which the first record does not have
		err = source.OptionError(optname.OptionsBy, "no feature %q: write the whole key, %q", r.By, key)
	}
	return err
}

// measure is shared by all files.
type measure struct {
	o       *Options
	names   *labelNames
	samples *pixelSamples
}

// fileStats has the statistics of one file, or of several merged ones.
type fileStats struct {
	m         *measure
	source    shard.Source
	all       *figures
	groups    map[groupValue]*figures
	order     []groupValue // of groups, in order of appearance
	ungrouped int64
	room      [2]int // for features: of all records, and of the groups together
	look      imageScan
	err       error // what could not be read

	list     []occurrence
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
}

func (m *measure) newFile() *fileStats {
	s := &fileStats{m: m, room: [2]int{m.o.MaxFeatures, m.o.MaxFeatures}, look: imageScan{o: m.o, samples: m.samples}}
	s.all = m.newFigures(&s.room[0])
	return s
}

// record adds one record: on the fast path, or with the parser.
func (s *fileStats) record(record []byte) {
	var ok bool
	if s.list, ok = scanExample(s.list[:0], record); ok && s.all.resolve(s.list) {
		var features *tfrecord.Features
		if s.all.boxes && s.example.Parse(record) == nil {
			features = &s.example.Features
		}
		s.add(int64(len(record)), message.Example, features, nil)
		return
	}
	s.parsed(record)
}

// parsed adds a record of any form. It is the slow path for record.
func (s *fileStats) parsed(record []byte) {
	s.list = s.list[:0]
	kind := message.Of(record)
	var features *tfrecord.Features
	var lists *tfrecord.FeatureLists
	switch {
	case kind == message.Example && s.example.Parse(record) == nil:
		features = &s.example.Features
	case kind == message.SequenceExample && s.sequence.Parse(record) == nil:
		features, lists = &s.sequence.Context, &s.sequence.Lists
	case kind == message.Example || kind == message.SequenceExample || kind == message.Unknown:
		kind = "unknown" // message.Of does not check numbers
	}
	if features != nil {
		for i := range features.Len() {
			s.list = append(s.list, occurrenceOf(features.At(i)))
		}
	}
	s.all.resolve(s.list)
	s.add(int64(len(record)), kind, features, lists)
}

// add adds the record with the listed and resolved features to all records and to its group.
// features may be nil if they have no boxes.
func (s *fileStats) add(size int64, kind message.Type, features *tfrecord.Features, lists *tfrecord.FeatureLists) {
	figures := [2]*figures{s.all, s.group()}
	n := 2
	if figures[1] == nil {
		n = 1
	} else {
		figures[1].resolve(s.list)
	}
	s.look.last = nil
	for _, g := range figures[:n] {
		g.addRecord(size, kind)
		g.addLists(lists, &s.look)
		if g.boxes && features != nil {
			g.base.objects.add(features, g.base.o.MaxLabels)
		}
	}
	for i := range s.list {
		for _, g := range figures[:n] {
			s.look.group = g.name
			g.addFeature(i, s.list, &s.look)
		}
	}
	if len(s.list) > recordscan.ManyFeatures {
		s.list = nil
		s.example, s.sequence = tfrecord.Example{}, tfrecord.SequenceExample{}
		for _, g := range figures[:n] {
			g.found = nil
		}
	}
}

// merge adds what was seen of the files after those that s has seen.
func (s *fileStats) merge(t *fileStats) {
	s.all.merge(t.all)
	s.mergeGroups(t)
}

func (s *fileStats) stats(ctx context.Context) *Report {
	sum := &s.all.base.sum
	return &Report{
		Files: sum.Files, Bytes: sum.Bytes, Compression: sum.Compression,
		Figures: s.all.figures(ctx, s.m.o), By: s.m.o.By, Groups: s.groupStats(ctx), UngroupedRecords: s.ungrouped,
		RankError: RankError, DistinctError: DistinctError,
		Faults: sum.Faults, FaultsOmitted: sum.FaultsOmitted,
	}
}
