package convert

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// Images converts the images of src into a set in the directory out. Src is a directory, an archive
// (a tar file, plain or compressed with gzip or zstd, or a zip file) or a glob of archives, whose
// members make the same set as the files of a directory would, or TFRecords that hold images: a
// set, a file or a glob, whose splits, labels and other features are carried over; or a Parquet or
// Arrow file, or a glob of them, with a column of images. Labels of images
// in files are the names of the class directories. Split directories above them are recognised
// case-insensitively: train or training; val, valid, validation or dev; test, testing or eval.
// Hidden files and directories are ignored.
func Images(ctx context.Context, src, out string, o ImageOptions) (*Summary, error) {
	return plan.Run(ctx, &imageInput{o: &o, src: src}, out)
}

// imageInput is a source of images.
type imageInput struct {
	o       *ImageOptions
	src     string
	codec   *augment.Codec
	listing *listing.Listing
}

// Shared implements plan.Input.
func (in *imageInput) Shared() *Options { return &in.o.Options }

// Close implements plan.Input.
func (in *imageInput) Close() {}

// Scan lists the images.
func (in *imageInput) Scan(ctx context.Context, out string) (err error) {
	o := in.o
	src, unusable := origin.PlaceOf(ctx, storage.Parse(in.src), o.ImageKey != "")
	if o.Name == "" {
		o.Name = nameOf(in.src, src)
	}
	if err := o.Complete(src.Tables != nil || unusable != nil); err != nil {
		return err
	}
	if unusable != nil {
		return unusable
	}
	in.codec, err = augment.NewCodec(o.Codec)
	if err != nil {
		return err
	}
	if o.Encode.Format == JPEG {
		if err := in.codec.Encodes(o.Encode.Subsampling); err != nil {
			return plan.OptionErrorf(optname.EncodeSpecSubsampling, "%v", err)
		}
	}
	if in.listing, err = listing.List(ctx, o, src, out); err != nil {
		return err
	}
	return in.listing.RefuseLosses(o)
}

// Plan implements plan.Input.
func (in *imageInput) Plan(_ context.Context, before *plan.Previous) (plan.Source, error) {
	s, err := planImages(in.o, in.listing, in.codec, before)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Layout implements plan.Source.
func (s *imageSource) Layout() plan.Layout {
	return plan.Layout{
		Shards: s.planned, Options: s.recordedOptions(), Table: s.table(), Codecs: plan.Codecs{Decoder: s.DecoderName(), Encoder: s.EncoderName()},
		Skipped: s.skipped, LeftOut: s.leftOut, Decoded: s.Tally(),
		Workers: s.Workers, Memory: s.sampleMemory, Causes: s.causes,
	}
}

// nameOf derives a dataset name from a source's path; of archives and records, without their
// extensions.
func nameOf(src string, place origin.Place) string {
	abs, err := filepath.Abs(src)
	if err != nil {
		abs = src
	}
	base := filepath.Base(abs)
	if n, ok := shard.ParseName(base); ok {
		return n.Dataset
	}
	if place.Records != nil || place.Tables != nil {
		base, _, _ = strings.Cut(base, ".")
	}
	if place.Archives != nil {
		for _, ext := range []string{".gz", ".zst", ".tar", ".tgz", ".zip"} {
			base = strings.TrimSuffix(base, ext)
		}
	}
	return naming.SnakeCase(base)
}
