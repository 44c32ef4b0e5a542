package listing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// maxFilename is the maximum size in bytes of an image/filename that is a record's key.
const maxFilename = 4096

// recordWalker lists the images of records, with the rules and counts of a walker.
type recordWalker struct {
	*walker
	origin  *origin.Records
	carried *Carried
	labels  recordLabels
	example tfrecord.Example
	tally   message.Tally
}

// listRecords lists the images of TFRecords.
func (w *walker) listRecords(src origin.Place, out string) (*recordWalker, error) {
	switch l := &w.o.Labels; {
	case w.o.Select.FollowSymlinks:
		return nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories of images")
	case l.File == "" && l.Classes != "":
		return nil, plan.OptionErrorf(optname.LabelSpecClasses, "is for labels that are names: those of records have ids, which stay")
	case l.File == "" && l.Offset != 0:
		return nil, plan.OptionErrorf(optname.LabelSpecOffset, "is for labels that are names: those of records have ids, which stay")
	}
	a := &recordWalker{walker: w, origin: &origin.Records{Src: src.At, Key: w.o.ImageFeature()}}
	a.carried = NewCarried(w.o)
	a.labels.set = commonSet(src.Records)
	paths := make([]string, len(src.Records))
	for i, s := range src.Records {
		paths[i] = s.Path
	}
	names := namesOf(paths)
	for i, s := range src.Records {
		if err := a.open(s, names[i], out); err != nil {
			return nil, err
		}
		if err := a.scan(); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if len(a.images) == 0 && a.skipped == 0 {
		return nil, fmt.Errorf("no records in %s", src.At.Path())
	}
	if len(a.images) > 0 && a.carried.records == 0 {
		return nil, fmt.Errorf("no record in %s has an image in the feature %q (%s): %s", src.At.Path(), a.origin.Key, optname.ImageOptionsImageKey, a.images[0].Bad().Reason)
	}
	if err := a.accountForLabelMaps(); err != nil {
		return nil, err
	}
	if unknown := a.tally.Unknown(); unknown != nil {
		a.o.Notef("unknown fields, which are not carried over: %v", unknown)
	}
	return a, a.nameNumbered(a.origin)
}

// accountForLabelMaps adds the label maps beside files that are of no set: names of ids that are not
// used. The names of a set are those of its manifest.
func (a *recordWalker) accountForLabelMaps() error {
	seen := map[string]bool{}
	for _, s := range a.origin.Sources {
		at := storage.Parse(storage.Join(storage.Dir(s.Path), manifest.LabelMapFile))
		if s.Set != nil || seen[at.String()] || at.String() == storage.Parse(a.o.Labels.Classes).String() {
			continue
		}
		seen[at.String()] = true
		_, err := at.Stat(a.ctx)
		switch {
		case storage.Missing(err):
		case err != nil:
			return fmt.Errorf("source: %w", err)
		default:
			a.account.Add(account.Metadata, at.Path())
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

// open adds a file to those of the origin.
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
	if dir := in.At.Dir(); sameDirectory(a.ctx, dir, storage.Parse(out)) {
		return fmt.Errorf("%s is both source and output: choose another output directory", dir.Path())
	}
	a.origin.Sources = append(a.origin.Sources, in)
	return nil
}

// sameDirectory reports whether two locations are one existing directory.
func sameDirectory(ctx context.Context, a, b storage.Location) bool {
	if a.Remote() || b.Remote() {
		return a.String() == b.String()
	}
	x, errX := a.Stat(ctx)
	y, errY := b.Stat(ctx)
	return errX == nil && errY == nil && os.SameFile(x, y)
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
		a.images = append(a.images, p)
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
	if name, ok := singleBytes(e, imagekey.Filename); ok && len(name) <= maxFilename {
		p.Path = string(name)
	}
	if format, _ := singleBytes(e, imagekey.Format); a.origin.Key == imagekey.Encoded && (string(format) == string(options.Raw) || string(format) == string(options.Float32)) {
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
	a.labels.add(p, e)
	return "", "", a.carried.add(e)
}

// singleBytes returns the only value of a bytes feature.
func singleBytes(e *tfrecord.Example, key string) ([]byte, bool) {
	f, _ := e.Get(key)
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return nil, false
	}
	return f.Bytes()
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

// finish adds the splits, labels and features of records to the listing.
func (a *recordWalker) finish(l *Listing) error {
	if len(l.Images) == 0 {
		return fmt.Errorf("no records in %s are selected", a.origin.Src.Path())
	}
	splits := make([]string, len(a.origin.Sources))
	for i := range splits {
		splits[i] = a.origin.Sources[i].Split
	}
	fileOf := func(p *origin.Image) int { return int(a.origin.Records[p.Item].File) }
	if slices.Contains(splits, "") {
		paths := make([]string, len(a.origin.Sources))
		for i := range paths {
			paths[i] = a.origin.Sources[i].Path
		}
		if err := l.splitsFromFiles(a.o, paths, fileOf); err != nil {
			return err
		}
	} else {
		l.keepSplits(a.o, splits, fileOf)
	}
	if a.carried.Labels {
		a.labels.name(l)
	} else if err := l.number(a.ctx, a.o, nil); err != nil {
		return err
	}
	return a.carried.describe(l, a.o, a.labels.set)
}
