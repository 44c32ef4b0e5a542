package convert

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/own"
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Source is an input that a program defines: List yields the samples with keys and versions, and Make
// sets the features of one sample's record. Listing must be cheap: Make is called only for the samples
// of shards that are not up to date, from several goroutines at a time.
type Source = own.Source

// Sample is a sample as a Source lists it.
//
//   - Key names the sample, in UTF-8. It is unique, and decides the split, the shard and the place there.
//   - Version identifies the content, as a hash, an ETag, or a time and a size do: another version makes
//     the sample's shard again. Default: the content of a key never changes.
//   - Split is the split that the sample is in, of all samples or of none. Default: by Options.Splits.
//   - Size is the approximate size of the record in bytes, which decides the number of shards.
//   - Origin is where the sample comes from, for errors.jsonl. Default: the key.
type Sample = own.Sample

// SampleError is an error of Source.Make about one sample, which becomes a line of errors.jsonl: Stage
// is the step that failed ("read", "decode", "transform", "encode", "parse" or "annotation"), and Err
// the reason. Any other error ends the run.
type SampleError = own.SampleError

// SampleOptions configure a conversion of samples that a program lists. They embed Options.
//
//   - Features describes all features that records have. A record that contradicts it is a bad sample.
//   - Labels are the names of the labels, in the order of ids, and Supervised names the input and the
//     target feature for TFDS.
//   - MakeVersion names the way in which Make makes records: a set of another one is not updated, but
//     replaced with Overwrite.
type SampleOptions = own.Options

// Samples converts the samples of a source into a set in the directory out, as Images does for images:
// what was made is kept, a changed version redoes one shard, tasks of an array job share the work, and
// an interrupted run resumes.
func Samples(ctx context.Context, src Source, out string, o SampleOptions) (*Summary, error) {
	return own.Convert(ctx, src, out, o)
}

// BeginSamples is BeginImages for Samples.
func BeginSamples(ctx context.Context, src Source, out string, o SampleOptions) (*Job, error) {
	return plan.Begin(ctx, own.New(src, o), out)
}

// JoinSamples is JoinImages for Samples.
func JoinSamples(ctx context.Context, src Source, out string, o SampleOptions) (*Job, error) {
	return plan.Join(ctx, own.New(src, o), out)
}
