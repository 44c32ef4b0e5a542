package stats

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options says what Measure looks at, and how far. Memory is bounded by the
// limits times twice the workers, and up to 20 times the largest record,
// never by the data.
type Options struct {
	// Partial takes what is there of sets that are not whole, and Note is told of
	// each (see [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Workers is how many files are read at a time. Default: GOMAXPROCS.
	Workers int
	// By is the key of a feature: all figures are given for the records of each
	// of its values, too. Default: none.
	By string
	// MaxGroups is how many values of By are told apart. Default: 32.
	MaxGroups int
	// MaxFeatures is how many features are followed; the occurrences of others
	// are counted in Figures.FeaturesOmitted. Each takes some 50 KB, 200 KB where
	// most numbers differ, and 1 MB at most. The groups together follow as many
	// again. Default: 2000.
	MaxFeatures int
	// MaxLabels is how many values of one label feature are counted apart.
	// Default: 10,000.
	MaxLabels int
	// Top is how many of the most frequent values are listed. Default: 20.
	Top int
	// MaxFaults is how many faults of one file are listed. Default: 1000.
	MaxFaults int
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64

	// Header reads an image's header. It is called by several goroutines at a
	// time, must not keep data, and is called for values that begin as JPEG,
	// PNG, GIF or WebP do. Default: none; images are then counted only.
	Header func(data []byte) (ImageHeader, error)
	// Pixels decodes an image to RGB and sums its samples up; as Header, it is
	// called by several goroutines at a time and must not keep data. It is asked
	// only for images whose header can be read. Default: none.
	Pixels func(data []byte) (PixelSums, error)
	// SamplePixels is how many images of each feature, and of each group,
	// Pixels is asked for: a random sample. Below 0 it is all of them. Default: 500.
	SamplePixels int
	// Seed of the sample. Default: 0.
	Seed uint64
	// Progress is counted up while the run goes on, if it is not nil.
	Progress *shard.ReadProgress
}

// withDefaults returns the options with every default in its place.
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

// Report is what Measure saw. Its JSON form is `tfrec stats --json`.
type Report struct {
	Files []FileSummary `json:"files"`
	// Bytes of the files, as they lie there.
	Bytes int64 `json:"bytes"`
	// Compression counts the files of each compression.
	Compression map[string]int64 `json:"compression"`
	// Figures of all records.
	Figures
	// By is Options.By, and Groups are the figures of the records of each
	// of its values: numbers in their order, then texts in theirs.
	By     string  `json:"by,omitempty"`
	Groups []Group `json:"groups,omitempty"`
	// UngroupedRecords counts the records that are in no group: those that lack
	// the feature By or have a number of values other than one, or a longer text
	// than 128 bytes, and those whose value came after MaxGroups others.
	UngroupedRecords int64 `json:"ungrouped_records,omitempty"`
	// RankError and DistinctError are the constants of these names.
	RankError     float64 `json:"rank_error"`
	DistinctError float64 `json:"distinct_error"`
	// Faults in the way. Records behind broken framing are not in the figures.
	Faults        []shard.Fault `json:"faults"`
	FaultsOmitted int64         `json:"faults_omitted,omitempty"`
}

// Figures say what is in some records.
type Figures struct {
	Records int64 `json:"records"`
	// RecordBytes are the sizes of the records, uncompressed, without framing.
	RecordBytes *Numbers `json:"record_bytes"`
	// Messages counts the records of each message; "unknown" for others.
	Messages map[string]int64 `json:"messages"`
	// Features of Examples, and of the contexts of SequenceExamples, by key.
	Features []Feature `json:"features"`
	// FeatureLists of SequenceExamples by key.
	FeatureLists []Feature `json:"feature_lists,omitempty"`
	// FeaturesOmitted counts occurrences of features past MaxFeatures.
	FeaturesOmitted int64 `json:"features_omitted,omitempty"`
	// Labels counts the records of each label, for features that are labels, as
	// Inspect does.
	Labels []LabelCounts `json:"labels"`
}

// Group are the figures of the records that have one value of a feature.
type Group struct {
	Value string `json:"value"`
	// Name of a value that is the id of a label; empty when it is not known.
	Name string `json:"name,omitempty"`
	Figures
}

// Feature returns what was seen of a feature; nil when it was not there.
func (f *Figures) Feature(key string) *Feature {
	for i := range f.Features {
		if f.Features[i].Key == key {
			return &f.Features[i]
		}
	}
	return nil
}

// Measure reads all files that paths stand for (see [shard.Expand]), once, and says what
// their features' values are like. Faults in the data are no error but in the
// Report; with an error it is of what could be read, or nil. The Report is the
// same for any number of workers.
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
	m := &measure{o: &o, names: newLabelNames(sources), samples: &pixelSamples{o: &o}}
	total := m.newFile()
	readers := make(chan *tfrecord.Reader, o.Workers) // to use again
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
		r.Close() // of a Reader whose files are closed
	}
	if err != nil {
		return nil, err
	}
	report := total.stats(ctx) // it reads names of labels, which CheckUnchanged is to cover
	errs = append(errs, shard.CheckUnchanged(ctx, sources))
	return report, errors.Join(errs...)
}

// measure is what all files have in common.
type measure struct {
	o       *Options
	names   *labelNames
	samples *pixelSamples
}

// fileStats is what was seen of one file, or of several merged.
type fileStats struct {
	m         *measure
	source    shard.Source
	all       *figures
	groups    map[groupValue]*figures
	order     []groupValue // of groups, as they came
	ungrouped int64
	room      [2]int // for features: of all, and of the groups together
	look      picturesLook
	err       error // what could not be read

	list     []occurrence
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
}

func (m *measure) newFile() *fileStats {
	s := &fileStats{m: m, room: [2]int{m.o.MaxFeatures, m.o.MaxFeatures}, look: picturesLook{o: m.o, samples: m.samples}}
	s.all = m.newFigures(&s.room[0])
	return s
}

// record looks at one record: the usual way, or with the parser.
func (s *fileStats) record(record []byte) {
	var ok bool
	if s.list, ok = scanExample(s.list[:0], record); ok && s.all.resolve(s.list) {
		s.add(int64(len(record)), shard.MessageExample, nil)
		return
	}
	s.parsed(record)
}

// parsed looks at a record whatever its form. It is the slow twin of record.
func (s *fileStats) parsed(record []byte) {
	s.list = s.list[:0]
	message := shard.MessageOf(record)
	var features *tfrecord.Features
	var lists *tfrecord.FeatureLists
	switch {
	case message == shard.MessageExample && s.example.Parse(record) == nil:
		features = &s.example.Features
	case message == shard.MessageSequenceExample && s.sequence.Parse(record) == nil:
		features, lists = &s.sequence.Context, &s.sequence.Lists
	case message == shard.MessageExample || message == shard.MessageSequenceExample || message == shard.MessageUnknown:
		message = "unknown" // shard.MessageOf did not look at numbers
	}
	if features != nil {
		for i := range features.Len() {
			s.list = append(s.list, occurrenceOf(features.At(i)))
		}
	}
	s.all.resolve(s.list)
	s.add(int64(len(record)), message, lists)
}

// add adds the record whose features are in the list, and resolved, to all
// records and to its group.
func (s *fileStats) add(size int64, message shard.Message, lists *tfrecord.FeatureLists) {
	figures := [2]*figures{s.all, s.group()}
	n := 2
	if figures[1] == nil {
		n = 1
	} else {
		figures[1].resolve(s.list)
	}
	s.look.last = nil
	for _, g := range figures[:n] {
		g.addRecord(size, message)
		g.addLists(lists, &s.look)
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

// merge adds what was seen of the files behind those that s has seen.
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
