package images

import (
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"google.golang.org/protobuf/encoding/protowire"
)

// imageFinisher completes batches whose images are decoded. Each worker has one.
type imageFinisher struct {
	spec   *ImageSpec
	run    *pipeline.Run
	parser *columns.Parser // nil: no columns
	bad    []bool          // by record
	rows   []*imageObjects // those that are not bad
	// contextOnly is set if frames are in feature lists and no column is: a parser refuses lists
	// that it does not know.
	contextOnly bool
	context     []byte // of the current record
	mixer       imageMixer
}

func newImageFinisher(s *ImageSpec, r *pipeline.Run) *imageFinisher {
	f := &imageFinisher{spec: s, run: r}
	if s.Columns != nil {
		f.parser, _ = columns.NewParser(s.Columns) // cannot fail: validated
		f.contextOnly = s.Steps == columns.ListSteps &&
			!slices.ContainsFunc(s.Columns, func(f columns.Field) bool { return f.Steps == columns.ListSteps })
	}
	return f
}

// finish parses the columns of the records without a fault, removes the rows of the others, and
// mixes the remaining images.
func (f *imageFinisher) finish(b *ImageBatch, records []pipeline.Record, faults []pipeline.WorkFault, fail func(int, error) bool) {
	f.bad = flows.Resized(f.bad, len(records))
	clear(f.bad)
	for _, fault := range faults {
		f.bad[fault.Record] = true
	}
	if clips := b.clips; clips != nil {
		b.clips = nil // it refers to the records
		for i := range clips.records {
			if err := clips.records[i].err; err != nil {
				if !fail(i, err) {
					return
				}
				f.bad[i] = true
			}
		}
	}
	if f.parser != nil {
		f.parser.Reset(&b.Columns)
		for i := range records {
			if f.bad[i] {
				continue
			}
			if err := f.parser.Append(&b.Columns, f.forParser(records[i].Data)); err != nil {
				if !fail(i, err) {
					return
				}
				f.bad[i] = true
			}
		}
		f.parser.Finish(&b.Columns)
	}
	b.remove(f.bad)
	b.Mix = augment.MixDraw{Lambda: 1}
	if b.Shape[0] == 0 {
		return
	}
	if f.spec.Frames == columns.Longest {
		b.narrow(f.spec.images())
	}
	if f.spec.Mix != (augment.Mix{}) {
		height, width, _ := b.sides(f.spec.NCHW)
		b.Mix = f.spec.Mix.Draw(f.run.Opts.Seed, drawKey(f.run, records[0]), int(records[0].Epoch), width, height)
		f.mixer.mix(b, f.spec.NCHW)
	}
	if f.spec.Objects != nil {
		f.joinObjects(b)
	}
	if f.spec.Classes > 0 {
		b.softLabels(f.spec.Classes)
	}
}

// forParser returns the bytes to parse of a record in which frames were located: all, or the
// context as an Example, which has the same wire format. It is valid until the next call.
func (f *imageFinisher) forParser(record []byte) []byte {
	if !f.contextOnly {
		return record
	}
	f.context = f.context[:0]
	for len(record) > 0 {
		number, _, n := protowire.ConsumeField(record)
		if n < 0 {
			return record // an error of the parser
		}
		if number == 1 {
			f.context = append(f.context, record[:n]...)
		}
		record = record[n:]
	}
	return f.context
}
