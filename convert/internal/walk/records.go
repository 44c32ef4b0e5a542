package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// FoundRecords are the images found in TFRecords, and what their records state.
type FoundRecords struct {
	Found
	Carried *carried.Features
	Labels  carried.Labels
	Records *origin.Records // the origin
}

// recordWalker lists the images of records.
type recordWalker struct {
	walker
	origin  *origin.Records
	carried *carried.Features
	labels  carried.Labels
	example tfrecord.Example
	tally   message.Tally
}

// Records finds the images of TFRecords.
func Records(ctx context.Context, o *options.ImageOptions, src origin.Place, out string) (*FoundRecords, error) {
	switch l := &o.Labels; {
	case o.Select.FollowSymlinks:
		return nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories of images")
	case l.File == "" && l.Classes != "":
		return nil, plan.OptionErrorf(optname.LabelSpecClasses, "is for labels that are names: those of records have ids, which stay")
	case l.File == "" && l.Offset != 0:
		return nil, plan.OptionErrorf(optname.LabelSpecOffset, "is for labels that are names: those of records have ids, which stay")
	}
	a := &recordWalker{walker: walker{o: o, ctx: ctx}, origin: &origin.Records{Src: src.At, Key: o.ImageFeature()}, carried: carried.New(o)}
	a.Origin, a.labels.Set = a.origin, commonSet(src.Records)
	paths := make([]string, len(src.Records))
	for i, s := range src.Records {
		paths[i] = s.Path
	}
	names := storage.RelativeNames(paths)
	for i, s := range src.Records {
		if err := a.open(s, names[i], out); err != nil {
			return nil, err
		}
		if err := a.scan(); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if len(a.Images) == 0 && a.Skipped == 0 {
		return nil, fmt.Errorf("no records in %s", src.At.Path())
	}
	if len(a.Images) > 0 && a.carried.Records == 0 {
		return nil, fmt.Errorf("no record in %s has an image in the feature %q (%s): %s", src.At.Path(), a.origin.Key, optname.ImageOptionsImageKey, a.Images[0].Bad().Reason)
	}
	if err := a.accountForLabelMaps(); err != nil {
		return nil, err
	}
	if unknown := a.tally.Unknown(); unknown != nil {
		o.Notef("unknown fields, which are not carried over: %v", unknown)
	}
	if err := a.nameNumbered(); err != nil {
		return nil, err
	}
	return &FoundRecords{a.Found, a.carried, a.labels, a.origin}, nil
}

// accountForLabelMaps adds the lists of classes next to files, whose names are not used. It skips
// the lists of sets, whose manifest has the names, too.
func (a *recordWalker) accountForLabelMaps() error {
	known := map[string]bool{} // files of sets
	if classes := a.o.Labels.Classes; classes != "" {
		known[origin.Absolute(storage.Parse(classes))] = true
	}
	var directories []storage.Location
	for _, s := range a.origin.Sources {
		if dir := s.At.Dir(); len(directories) == 0 || directories[len(directories)-1].String() != dir.String() {
			directories = append(directories, dir)
		}
		if s.Set != nil {
			for _, name := range s.Set.MetadataFiles() {
				known[origin.Absolute(storage.Parse(s.Set.Path(name)))] = true
			}
		}
	}
	for _, dir := range directories {
		entries, err := dir.ReadDir(a.ctx)
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		for _, e := range entries {
			at := dir.Join(e.Name())
			place := origin.Absolute(at)
			if e.IsDir() || known[place] || !account.ListsClasses(e.Name()) {
				continue
			}
			known[place] = true
			a.Account.Add(account.Metadata, at.Path())
		}
	}
	return nil
}

// commonSet returns the set that all files belong to; nil if there is none.
func commonSet(sources []shard.Source) *shard.Set {
	for _, s := range sources {
		if s.Set == nil || s.Set.Dir != sources[0].Set.Dir {
			return nil
		}
	}
	return sources[0].Set
}

// open adds a file to the origin.
func (a *recordWalker) open(s shard.Source, name, out string) error {
	in := origin.RecordFile{Source: s, Name: name, At: storage.Parse(s.Path)}
	if in.Split == "" {
		if n, ok := shard.ParseName(storage.Base(s.Path)); ok {
			in.Split = n.Split
		}
	}
	if s.Set != nil && s.Set.Records != "" && s.Set.Records != manifest.RecordExample {
		return fmt.Errorf("source: %s: its records are %ss: want tf.train.Examples", s.Path, s.Set.Records)
	}
	st, err := in.At.Stat(a.ctx)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if o, ok := st.Sys().(storage.Object); ok {
		in.Listed = o
	}
	if err := setdir.MustDiffer(out, in.At.Dir().Path()); err != nil {
		return err
	}
	a.origin.Sources = append(a.origin.Sources, in)
	return nil
}

// scan lists the records of the last file.
func (a *recordWalker) scan() error {
	n := len(a.origin.Sources) - 1
	in := &a.origin.Sources[n]
	return in.Each(a.ctx, func(record []byte, number, offset int64) error {
		p := origin.Image{Item: int32(len(a.origin.Records)), Size: int64(len(record))}
		if n := len(a.origin.Records); n == 1<<31-1 {
			return fmt.Errorf("more than %d records: convert fewer files at a time", n)
		}
		kept := origin.Record{Number: number, Offset: offset, File: int32(n), Hash: xxh3.Hash128(record).Bytes()}
		a.origin.Records = append(a.origin.Records, kept)
		stage, reason, err := a.read(&p, record, number)
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", in.Path, number, err)
		}
		if reason != "" {
			p.AddExtra().Bad = &setdir.BadSample{Source: a.origin.Source(&p), Stage: stage, Reason: reason}
		}
		a.Images = append(a.Images, p)
		return nil
	})
}

// read parses a record, and returns why it cannot be used; empty if it can.
func (a *recordWalker) read(p *origin.Image, record []byte, number int64) (stage, reason string, err error) {
	e := &a.example
	if err := e.Parse(record); err != nil {
		return "parse", err.Error(), nil
	}
	a.tally.Of(record)
	if number == 0 {
		var s tfrecord.SequenceExample
		if s.Parse(record) == nil && s.Lists.Len() > 0 {
			return "", "", errors.New("it is a tf.train.SequenceExample: want tf.train.Examples")
		}
	}
	if name, ok := carried.SingleBytes(e, imagekey.Filename); ok && len(name) <= origin.MaxName {
		p.Path = string(name)
	}
	if format, _ := carried.SingleBytes(e, imagekey.Format); a.origin.Key == imagekey.Encoded && (string(format) == string(options.Raw) || string(format) == string(options.Float32)) {
		return "", "", fmt.Errorf("its image is %s pixels: convert the images that it was made from", format)
	}
	image, ok := e.Get(a.origin.Key)
	switch {
	case !ok:
		return "read", fmt.Sprintf("the record has no feature %q: its features are %s", a.origin.Key, someKeys(e)), nil
	case image.Kind() != tfrecord.KindBytes || image.Len() != 1:
		return "read", fmt.Sprintf("the feature %q has %d values of kind %s: want the bytes of one image", a.origin.Key, image.Len(), image.Kind()), nil
	case len(record) > origin.MaxStored:
		return "read", origin.ErrSize.Error(), nil
	}
	a.labels.Add(p, e)
	return "", "", a.carried.Add(e)
}

// someKeys returns the first keys of an Example.
func someKeys(e *tfrecord.Example) string {
	const shown = 20
	var keys []string
	for i := range min(e.Len(), shown) {
		key, _ := e.At(i)
		keys = append(keys, jsontext.Readable(string(key[:min(len(key), 100)])))
	}
	if e.Len() > shown {
		keys = append(keys, fmt.Sprintf("%d more", e.Len()-shown))
	}
	return strings.Join(keys, ", ")
}
