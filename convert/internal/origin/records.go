package origin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Records is the origin of images that are a feature of TFRecords: the records of a set, of a file,
// or of the files that a glob matches. Records are read in place. Records of compressed files,
// which can only be read from the start, are copied to a temporary file that holds the records of
// the shards being made.
type Records struct {
	Src     storage.Location // as given
	Key     string           // of the feature that is the image
	Sources []RecordFile
	Records []Record // by Image.Item

	spill imageSpill // of compressed files
}

// RecordFile is a file of records.
type RecordFile struct {
	shard.Source
	Name       string // distinguishes it from the other files, the same on every machine
	At         storage.Location
	Listed     storage.Object // its size and version when it was listed
	compressed bool
}

// Record is a record of one of the files.
type Record struct {
	Number int64 // in its file, from 0
	Offset int64 // of its frame in the uncompressed stream
	File   int32
	Hash   [16]byte
}

func (r *Records) of(p *Image) (*Record, *RecordFile) {
	record := &r.Records[p.Item]
	return record, &r.Sources[record.File]
}

func (r *Records) Place() string { return Absolute(r.Src) }

func (r *Records) Source(p *Image) string {
	record, in := r.of(p)
	return fmt.Sprintf("%s#%d", in.Name, record.Number)
}

// Enter implements origin: records are in no directories.
func (r *Records) Enter(dir string) string { return "convert " + jsontext.Readable(dir) }

// Remote implements origin. Records of compressed files are on disk when they are read.
func (r *Records) Remote() bool {
	for i := range r.Sources {
		if in := &r.Sources[i]; in.At.Remote() && !in.compressed {
			return true
		}
	}
	return false
}

// Find implements origin: the listing has all records.
func (r *Records) Find(context.Context, string) (*Image, string, error) {
	return nil, "", nil
}

// Files implements origin: the manifest of a set has the names of its labels, and with a glob or a
// directory another file in it is a change.
func (r *Records) Files([]Image) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		once := func(path string) bool {
			if seen[path] {
				return true
			}
			seen[path] = true
			return yield(path)
		}
		for i := range r.Sources {
			in := &r.Sources[i]
			if dir := storage.Dir(in.Path); in.Path != r.Src.Path() && !once(dir) {
				return
			}
			if in.Set != nil && !once(in.Set.Path(manifest.File)) {
				return
			}
			if !once(in.Path) {
				return
			}
		}
	}
}

// Load implements origin: it copies the records that are in compressed files to a temporary file.
func (r *Records) Load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*Image]) error {
	r.spill.reset(len(r.Records))
	wanted := make([]bool, len(r.Sources)) // compressed files with such records
	any := false
	for p := range images {
		if record, in := r.of(p); in.compressed && r.spill.want(p.Item) {
			wanted[record.File] = true
			any = true
		}
	}
	if !any {
		return nil
	}
	if err := r.spill.open(temp); err != nil {
		return err
	}
	item := 0 // items are in the order of files and records
	for n := range r.Sources {
		first := item
		for item < len(r.Records) && int(r.Records[item].File) == n {
			item++
		}
		if !wanted[n] {
			continue
		}
		if err := r.copyRecords(ctx, &r.Sources[n], first, item); err != nil {
			return errors.Join(err, r.Unload())
		}
	}
	return nil
}

// copyRecords appends the wanted ones of the items from first to end, which are all of a file, to
// the temporary file.
func (r *Records) copyRecords(ctx context.Context, in *RecordFile, first, end int) error {
	item := first - 1
	err := in.Each(ctx, func(record []byte, number, _ int64) error {
		item = first + int(number)
		if item >= end || !r.spill.wants(int32(item)) {
			return nil
		}
		if xxh3.Hash128(record).Bytes() != r.Records[item].Hash {
			return in.changed(number)
		}
		return r.spill.add(int32(item), bytes.NewReader(record))
	})
	if err == nil && item < end-1 {
		return fmt.Errorf("%s: has fewer records than when it was listed: the file changed while it was read", in.Path)
	}
	return err
}

func (r *Records) Unload() error { return r.spill.close() }

func (r *Records) Hash(p *Image) string {
	return hex.EncodeToString(r.Records[p.Item].Hash[:])
}

// Read implements origin. Its input has no key: the listing of each run reads all records.
func (r *Records) Read(ctx context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	if int64(cap(buf)) < p.Size {
		buf = make([]byte, p.Size)
	}
	buf = buf[:p.Size]
	record, in := r.of(p)
	var err error
	if in.compressed {
		err = r.spill.readAt(buf, p.Item)
	} else {
		err = in.readAt(ctx, buf, record.Offset+tfrecord.HeaderSize)
	}
	if err == nil && xxh3.Hash128(buf).Bytes() != record.Hash {
		if in.At.Remote() && !in.compressed && !storage.AroundCaches(ctx) {
			data, is, err := r.Read(storage.Around(ctx), p, buf)
			if err == nil {
				storage.CountHarm(in.Path, record.Offset, p.Size)
			}
			return data, is, err
		}
		err = in.changed(record.Number)
	}
	return buf, setdir.Input{}, err
}

func (r *Records) Parts(_ *Image, data []byte) ([]byte, Beside) {
	var e tfrecord.Example
	if e.Parse(data) != nil {
		return nil, Beside{Record: data} // the listing has parsed it
	}
	feature, _ := e.Get(r.Key)
	image, _ := feature.Bytes()
	return image, Beside{Record: data}
}

// EndsRun implements Origin. The listing knows the unusable records, so later errors are errors of
// the file.
func (r *Records) EndsRun(error) bool { return true }

// open opens the version of a file that was listed.
func (in *RecordFile) open(ctx context.Context) (storage.File, error) {
	if in.At.Remote() {
		return in.At.OpenListed(ctx, in.Listed)
	}
	return in.At.Open(ctx)
}

// readAt fills dst from an offset of an uncompressed file.
func (in *RecordFile) readAt(ctx context.Context, dst []byte, offset int64) error {
	f, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.ReadAt(dst, offset)
	if n == len(dst) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%s: is shorter than when it was listed: the file changed while it was read", in.Path)
	}
	return err
}

// Each calls use with each record, its number and the offset of its frame. It sets compressed.
func (in *RecordFile) Each(ctx context.Context, use func(record []byte, number, offset int64) error) error {
	f, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: in.Path})
	defer r.Close()
	for record, err := range r.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return shard.Damaged(err)
		}
		in.compressed = r.Compression() != tfrecord.CompressionNone
		if err := use(record, r.Record(), r.Offset()); err != nil {
			return err
		}
	}
	return nil
}

// changed is the error for a record that is not what was listed.
func (in *RecordFile) changed(number int64) error {
	return fmt.Errorf("%s: record %d is not what it was when it was listed: the file changed while it was read", in.Path, number)
}
