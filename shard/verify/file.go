package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// fileCheck checks one file.
type fileCheck struct {
	source shard.Source
	max    int // maximum number of faults to list
	report FileReport
	faults []shard.Fault
	err    error // why the file could not be checked completely
	broke  error // an error that ends the whole run

	labels labels.Counter // for a shard whose manifest has label counts
	found  deepFindings
	// give passes each intact record on for deep checks; nil without them. Its error ends the
	// reading.
	give func(record []byte, number, offset int64) error
}

// checkFile checks a file, given its number. It reuses the reader r.
func (v *verification) checkFile(ctx context.Context, number int, source shard.Source, r *tfrecord.Reader) *fileCheck {
	c := &fileCheck{source: source, max: v.o.MaxFaults}
	c.report = FileReport{Path: source.Path, Compression: tfrecord.CompressionNone.String()}
	if source.Set != nil {
		c.report.Compression = source.Set.Compression
	}
	f, err := recordscan.OpenOnce(ctx, source.Path, source.Set != nil)
	switch {
	case err == nil:
		defer f.Close()
		read := func() {
			c.check(&recordscan.Meter{Context: ctx, File: f, Rate: v.rate, Done: v.o.Progress.Counter()}, r, v.o.Examples)
		}
		if v.sample != nil {
			read = func() { c.checkSample(ctx, v, number, f, r) }
		}
		c.broke = v.through(ctx, number, c, read)
	case storage.Missing(err) && source.Info != nil:
		c.add(shard.FileFault(source.Path, tfrecord.PartMissing, "the manifest names this shard, but there is no such file"))
	default:
		c.err = err
	}
	c.report.OK = len(c.faults) == 0 && c.err == nil && !c.found.bad
	return c
}

// through runs read, with deep checks of the records if requested.
func (v *verification) through(ctx context.Context, number int, c *fileCheck, read func()) (err error) {
	if v.deep == nil {
		read()
		return nil
	}
	c.found, err = v.deep.look(ctx, number, func(give func(record []byte, number, offset int64) error) error {
		var stopped error
		c.give = func(record []byte, number, offset int64) error {
			stopped = give(record, number, offset)
			return stopped
		}
		read()
		return stopped
	})
	return err
}

func (c *fileCheck) check(in *recordscan.Meter, r *tfrecord.Reader, examples bool) {
	if c.source.Info != nil {
		in.Sum = sha256.New()
		examples = examples || c.source.Set.Records == manifest.RecordExample
		if examples {
			c.labels = labels.NewCounter(manifest.LabelKeys(c.source.Set.Features), len(c.source.Set.Labels))
		}
	}
	index, err := openIndexCheck(in.Context, c.source.Path)
	if err != nil {
		c.err = err
	}
	if index != nil {
		defer index.close()
	}
	r.Reset(in, c.source.Path)
	whole := c.records(r, in, index, examples)
	if in.Err == nil && in.Sum != nil {
		c.sum(in)
	}
	if in.Err != nil {
		c.err = errors.Join(c.err, in.Err)
		return
	}
	if index != nil {
		defer func() { c.err = errors.Join(c.err, index.err) }()
	}
	c.report.Bytes = in.Size()
	c.report.Compression = r.Compression().String()
	if index != nil && whole {
		c.addAll(index.end(c.report.Records))
	}
	if c.source.Info != nil {
		c.againstManifest(in, whole, index != nil)
	}
}

// sum hashes all of the file.
func (c *fileCheck) sum(in *recordscan.Meter) {
	in.Drain()
	for n := 0; n < recordscan.MostRehashed && in.Err == nil && hex.EncodeToString(in.Sum.Sum(nil)) != c.source.Info.SHA256 && in.Rehash(); n++ {
	}
}

// records reads all records. It reports false if the framing is broken or the file cannot be read
// any further.
func (c *fileCheck) records(r *tfrecord.Reader, in *recordscan.Meter, index *indexCheck, examples bool) bool {
	var example tfrecord.Example
	for {
		record, err := r.Next()
		size := int64(len(record)) + tfrecord.Overhead
		if err == nil && examples {
			if err := example.Parse(record); err != nil {
				c.addError(r.Locate(err), "")
			} else if id := c.labels.Add(&example); c.give == nil {
				c.checkLabel(r, id)
			}
		}
		if err == nil && c.give != nil && c.give(record, r.Record(), r.Offset()) != nil {
			return false
		}
		if err != nil {
			if err == io.EOF {
				return true
			}
			if in.Err != nil {
				return false // not a fault of the data
			}
			var fault *tfrecord.Error
			if !errors.As(err, &fault) || fault.Part != tfrecord.PartDataCRC || errors.Is(err, io.ErrUnexpectedEOF) {
				c.addError(err, c.unchecked(in.File, fault, r.Compression()))
				return false
			}
			c.addError(err, "")
			size = -1
		}
		c.report.Records++
		if index != nil {
			c.addAll(index.next(r.Record(), r.Offset(), size))
		}
	}
}

// unchecked describes the part of the file after broken framing.
func (c *fileCheck) unchecked(f storage.File, fault *tfrecord.Error, compression tfrecord.Compression) string {
	var other *tfrecord.ForeignError
	if fault == nil || errors.Is(fault, io.ErrUnexpectedEOF) || errors.As(fault, &other) {
		return "" // nothing follows a truncation, and other file types have no records
	}
	st, err := f.Stat()
	if compression != tfrecord.CompressionNone || err != nil || !st.Mode().IsRegular() {
		return "; the rest of the file was not checked"
	}
	return fmt.Sprintf("; the rest of the file, %s from here on, was not checked", plural.Of(st.Size()-fault.Offset, "byte"))
}

// againstManifest compares the file with its manifest entry.
func (c *fileCheck) againstManifest(in *recordscan.Meter, whole, indexed bool) {
	info, path := c.source.Info, c.source.Path
	if whole && c.report.Records != info.Records {
		c.add(shard.FileFault(path, tfrecord.PartCount, "%s, the manifest says %d", plural.Of(c.report.Records, "record"), info.Records))
	}
	if sum := hex.EncodeToString(in.Sum.Sum(nil)); sum != info.SHA256 || in.N != info.Bytes {
		c.add(shard.FileFault(path, tfrecord.PartHash, "SHA-256 %s of %s, the manifest says %s of %d", sum, plural.Of(in.N, "byte"), info.SHA256, info.Bytes))
	}
	if whole {
		c.checkLabels()
	}
	want := c.source.Set.Compression
	if whole && in.N > 0 && want != "" && c.report.Compression != want {
		c.add(shard.FileFault(path, tfrecord.PartCompression, "compression is %s, the manifest says %s", c.report.Compression, want))
	}
	if !indexed && want == tfrecord.CompressionNone.String() {
		c.add(shard.FileFault(manifest.IndexPath(path), tfrecord.PartIndex, "the index of an uncompressed shard is missing"))
	}
}

func (c *fileCheck) add(f shard.Fault) {
	if len(c.faults) >= c.max {
		c.report.FaultsOmitted++
		return
	}
	c.faults = append(c.faults, f)
}

func (c *fileCheck) addAll(faults []shard.Fault) {
	for _, f := range faults {
		c.add(f)
	}
}

// addError adds an error of the reader or the parser as a fault.
func (c *fileCheck) addError(err error, rest string) {
	var fault *tfrecord.Error
	if !errors.As(err, &fault) {
		c.err = errors.Join(c.err, err)
		return
	}
	f := shard.FaultOf(c.source.Path, fault)
	f.Message += rest
	c.add(f)
}
