package stats

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// InspectOptions configure Inspect. Memory is bounded by the limits times the workers, never by the
// data.
type InspectOptions struct {
	// Partial reads the existing shards of incomplete sets, and Note is called for each (see
	// [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Workers is the number of files read concurrently. Default: GOMAXPROCS.
	Workers int
	// First is the number of records to return, from the beginning of the first files. Default:
	// none.
	First int
	// MaxFeatures is the maximum number of features; the occurrences of others are counted in
	// Summary.FeaturesOmitted. Default: 10,000.
	MaxFeatures int
	// MaxLabels is the maximum number of values counted per label feature; others are counted in
	// LabelCounts.Omitted. Default: 10,000.
	MaxLabels int
	// MaxFaults is the maximum number of faults listed per file. Default: 1000.
	MaxFaults int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
}

// Summary is the result of Inspect.
type Summary struct {
	Files []FileSummary `json:"files"`
	// Records in all files, and Bytes of the files as stored.
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	// RecordBytes are the sizes of the records, uncompressed, without framing.
	RecordBytes Sizes `json:"record_bytes"`
	// Compression counts the files by compression.
	Compression map[string]int64 `json:"compression"`
	// Messages counts the records by message; "unknown" for others.
	Messages map[string]int64 `json:"messages"`
	// UnknownFields are the fields that the definitions of the messages do not have: at most 1000.
	UnknownFields message.UnknownFields `json:"unknown_fields,omitempty"`
	// Features of Examples, and of the contexts of SequenceExamples, by key.
	Features []FeatureSummary `json:"features"`
	// FeatureLists of SequenceExamples by key.
	FeatureLists []FeatureSummary `json:"feature_lists,omitempty"`
	// FeaturesOmitted counts occurrences of features above MaxFeatures.
	FeaturesOmitted int64 `json:"features_omitted,omitempty"`
	// Labels counts the records by label, for features that are labels: those declared in a
	// manifest, and any whose key ends in "label", but for the labels of objects.
	Labels []LabelCounts `json:"labels"`
	// Objects of images; nil if no record has lists of boxes.
	Objects *Objects `json:"objects,omitempty"`
	// Faults found. Records after broken framing are not in the figures.
	Faults        []shard.Fault `json:"faults"`
	FaultsOmitted int64         `json:"faults_omitted,omitempty"`
	// First holds the records requested with InspectOptions.First.
	First []FirstRecord `json:"-"`
}

// FileSummary is the result of Inspect for one file.
type FileSummary struct {
	Path string `json:"path"`
	// Split of the file in the manifest; empty without one.
	Split       string `json:"split,omitempty"`
	Records     int64  `json:"records"`
	Bytes       int64  `json:"bytes"`
	Compression string `json:"compression"`
}

// FirstRecord is a record from the beginning of the input.
type FirstRecord struct {
	Path   string
	Record int64 // its number in the file, from 0
	Offset int64 // of its frame, uncompressed
	Size   int64 // in bytes
	// Data of the record; nil if it is larger than MaxFirst bytes.
	Data []byte
}

// MaxFirst is the largest record that a FirstRecord holds, in bytes.
const MaxFirst = 16 << 20

// Sizes are the minimum, the mean and the maximum of sizes; 0 if there are none.
type Sizes struct {
	Min  int64   `json:"min"`
	Mean float64 `json:"mean"`
	Max  int64   `json:"max"`
}

// Inspect reads all files that paths name (see [shard.Expand]), and summarises their content.
// Faults in the data are not errors but are listed in the Summary. The Summary is the same for any
// number of workers.
func Inspect(ctx context.Context, paths []string, o InspectOptions) (*Summary, error) {
	if o.MaxFeatures <= 0 {
		o.MaxFeatures = 10_000
	}
	if o.MaxLabels <= 0 {
		o.MaxLabels = 10_000
	}
	if o.MaxFaults <= 0 {
		o.MaxFaults = recordscan.MaxFaults
	}
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Note})
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	total := newView(&o, newLabelNames(sources))
	readers := make(chan *tfrecord.Reader, o.Workers) // for reuse
	for range o.Workers {
		readers <- tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: o.MaxRecord})
	}
	type result struct {
		source shard.Source
		*view
		err error
	}
	var errs []error
	// In order, so that limits cut the same for any number of workers, with few files waiting for
	// the one before them.
	err = par.Map(ctx, o.Workers, 2*o.Workers,
		func(_ context.Context, give func(*result) error) error {
			for _, source := range sources {
				if err := give(&result{source: source, view: newView(&o, total.names)}); err != nil {
					return err
				}
			}
			return nil
		},
		func(ctx context.Context, f *result) error {
			r := <-readers
			f.err = f.file(ctx, f.source, r, nil, func(data []byte) { f.record(f.source.Path, r, data) })
			readers <- r
			return nil
		},
		func(f *result) error {
			total.merge(f.view)
			if f.err != nil {
				errs = append(errs, f.err)
			}
			return nil
		})
	for range o.Workers {
		(<-readers).Close() // of Readers whose files are closed
	}
	if err != nil {
		return nil, err
	}
	sum := total.summary(ctx) // it reads label names, which CheckUnchanged should cover
	errs = append(errs, shard.CheckUnchanged(ctx, sources))
	return sum, errors.Join(errs...)
}

// view has the summary of one file, or of several merged ones.
type view struct {
	o       *InspectOptions
	names   *labelNames
	sum     Summary
	payload int64

	features, lists features.Table[featureView]
	labels          map[string]*labelCount
	objects         objectStat

	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	tally    message.Tally
	texts    [][]byte // of the labels of a record
}

func newView(o *InspectOptions, names *labelNames) *view {
	return &view{
		o: o, names: names,
		sum: Summary{
			Files: []FileSummary{}, Faults: []shard.Fault{},
			Compression: map[string]int64{}, Messages: map[string]int64{},
		},
		labels: map[string]*labelCount{},
	}
}

// file reads one file and passes each of its records to record. The bytes read are added to done,
// unless that is nil. The error is about reading the file, not about its content.
func (v *view) file(ctx context.Context, source shard.Source, r *tfrecord.Reader, done *atomic.Int64, record func(data []byte)) error {
	f, err := recordscan.OpenOnce(ctx, source.Path, source.Set != nil)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &recordscan.Meter{Context: ctx, File: f, Done: done}
	r.Reset(in, source.Path)
	for {
		data, err := r.Next()
		if err == nil {
			record(data)
			continue
		}
		var fault *tfrecord.Error
		if err != io.EOF && in.Err == nil && errors.As(err, &fault) {
			v.addFault(source.Path, fault)
			if fault.Part == tfrecord.PartDataCRC && !errors.Is(err, io.ErrUnexpectedEOF) {
				continue
			}
		}
		break
	}
	if in.Err != nil {
		return in.Err
	}
	file := FileSummary{
		Path: source.Path, Split: source.Split, Records: v.sum.Records,
		Bytes: in.Size(), Compression: r.Compression().String(),
	}
	v.sum.Files = append(v.sum.Files, file)
	v.sum.Bytes = file.Bytes
	v.sum.Compression[file.Compression]++
	return nil
}

func (v *view) addFault(path string, fault *tfrecord.Error) {
	if len(v.sum.Faults) >= v.o.MaxFaults {
		v.sum.FaultsOmitted++
		return
	}
	v.sum.Faults = append(v.sum.Faults, shard.FaultOf(path, fault))
}

func (v *view) record(path string, r *tfrecord.Reader, record []byte) {
	s := &v.sum
	size := int64(len(record))
	if s.Records == 0 || size < s.RecordBytes.Min {
		s.RecordBytes.Min = size
	}
	s.RecordBytes.Max = max(s.RecordBytes.Max, size)
	s.Records++
	v.payload += size
	if len(s.First) < v.o.First {
		first := FirstRecord{Path: path, Record: r.Record(), Offset: r.Offset(), Size: size}
		if size <= MaxFirst {
			first.Data = append([]byte{}, record...)
		}
		s.First = append(s.First, first)
	}
	kind := v.tally.Of(record)
	var err error
	switch kind {
	case message.Example:
		if err = v.example.Parse(record); err == nil {
			v.addFeatures(&v.example.Features)
		}
	case message.SequenceExample:
		if err = v.sequence.Parse(record); err == nil {
			v.addFeatures(&v.sequence.Context)
			v.addLists(&v.sequence.Lists)
		}
	case message.Unknown:
		kind = "unknown"
	}
	if err != nil { // message.Of does not check numbers
		kind = "unknown"
	}
	s.Messages[string(kind)]++
}

// find counts the next feature of a record. It returns nil beyond MaxFeatures.
func (v *view) find(t *features.Table[featureView], key []byte) *featureView {
	f := t.Find(key)
	if f == nil {
		if t.Len() >= v.o.MaxFeatures {
			v.sum.FeaturesOmitted++
			return nil
		}
		f = t.Add(string(key), featureView{key: string(key), label: v.names.isLabel(string(key)), boxes: isBoxes(string(key))})
	}
	f.records++
	return f
}

func (v *view) addFeatures(features *tfrecord.Features) {
	v.features.Begin()
	boxes := false
	for i := range features.Len() {
		key, value := features.At(i)
		f := v.find(&v.features, key)
		if f == nil {
			continue
		}
		f.add(value)
		if f.label {
			v.addLabel(f.key, features, value)
		}
		boxes = boxes || f.boxes
	}
	if boxes {
		v.objects.add(features, v.o.MaxLabels)
	}
}

func (v *view) addLists(lists *tfrecord.FeatureLists) {
	v.lists.Begin()
	for i := range lists.Len() {
		key, list := lists.At(i)
		f := v.find(&v.lists, key)
		if f == nil {
			continue
		}
		f.steps.Add(int64(list.Len()))
		for step := range list.Len() {
			f.add(list.At(step))
		}
	}
}

// merge adds what was seen of the files after those that v has seen.
func (v *view) merge(w *view) {
	s, t := &v.sum, &w.sum
	s.Files = append(s.Files, t.Files...)
	if t.Records > 0 && (s.Records == 0 || t.RecordBytes.Min < s.RecordBytes.Min) {
		s.RecordBytes.Min = t.RecordBytes.Min
	}
	s.RecordBytes.Max = max(s.RecordBytes.Max, t.RecordBytes.Max)
	s.Records += t.Records
	s.Bytes += t.Bytes
	v.payload += w.payload
	addCounts(s.Compression, t.Compression)
	addCounts(s.Messages, t.Messages)
	v.tally.Merge(w.tally)
	s.Faults = append(s.Faults, t.Faults...)
	s.FaultsOmitted += t.FaultsOmitted
	s.First = append(s.First, t.First[:min(len(t.First), v.o.First-len(s.First))]...)
	s.FeaturesOmitted += t.FeaturesOmitted
	for _, t := range [][2]*features.Table[featureView]{{&v.features, &w.features}, {&v.lists, &w.lists}} {
		room := v.o.MaxFeatures - t[0].Len()
		s.FeaturesOmitted += mergeTables(t[0], t[1], &room)
	}
	v.mergeLabels(w)
	v.objects.merge(&w.objects, v.o.MaxLabels)
}

func addCounts(to, from map[string]int64) {
	for k, n := range from {
		to[k] += n
	}
}

func (v *view) summary(ctx context.Context) *Summary {
	s := &v.sum
	if s.Records > 0 {
		s.RecordBytes.Mean = float64(v.payload) / float64(s.Records)
	}
	s.UnknownFields = v.tally.Unknown()
	parsed := s.Messages[string(message.Example)] + s.Messages[string(message.SequenceExample)]
	s.Features = summaries(&v.features, parsed)
	s.FeatureLists = summaries(&v.lists, s.Messages[string(message.SequenceExample)])
	s.Labels, s.Objects = v.labelCounts(ctx), v.objects.objects(ctx, v.names, 0)
	return s
}
