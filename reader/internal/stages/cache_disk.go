package stages

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// diskCache keeps records in a directory:
//
//	NAME.json           identity and contents of the cache: written last
//	NAME-ID.tfrecord    the records, each prefixed with its position in the dataset
//	NAME.lock           while the cache is filled
//
// NAME is the worker's, as in cache-00000-of-00001, and ID a hash of the identity of the cache. A
// cache without NAME.json does not exist. The process that fills the cache holds the lock, which
// ends with it.
type diskCache struct {
	run     *pipeline.Run
	of      cacheHeader // identity of the cache
	dir     string
	name    string
	limit   int64
	replace bool
	tell    func(why error)
	sources int

	bad    os.FileInfo // file found to be damaged midway,
	badErr error       // and its damage
	gaveUp bool        // the disk is full

	lock  *os.File // held while filling
	out   *os.File // the file being filled
	w     *tfrecord.Writer
	index fileset.FileIndex
	frame []byte

	content *cacheHeader // the header of in
	file    *os.File
	in      *tfrecord.Salvager
	at      int64 // next element to read
	failed  error // why it cannot be read
}

func newDiskCache(r *pipeline.Run, o CacheOptions, of CacheOf) *diskCache {
	if o.Limit == 0 {
		o.Limit = defaultDiskCache
	}
	opts := r.Opts
	return &diskCache{
		run: r,
		of: cacheHeader{
			Format: cacheFormat, FormatVersion: cacheVersion, Dataset: r.Fingerprint, Worker: opts.Worker, Workers: opts.Workers,
			CacheOf: of, Version: o.Version,
		},
		dir: o.Dir, name: fmt.Sprintf("cache-%05d-of-%05d", opts.Worker, opts.Workers),
		limit: o.Limit, replace: o.Replace, tell: o.OnDiscard, sources: r.Data.Files(),
	}
}

func (d *diskCache) path(suffix string) string { return filepath.Join(d.dir, d.name+suffix) }

func (d *diskCache) Open() (cacheContent, error) {
	content, err := d.find()
	if err != nil && !d.replaces(err) {
		return cacheContent{}, err
	}
	if content.whole || d.gaveUp {
		return content, nil
	}
	if err := atomicfile.MkdirAll(d.dir, 0o755); err != nil {
		return cacheContent{}, err
	}
	d.lock, err = d.of.lock(d.path(".lock"))
	if errors.Is(err, atomicfile.ErrLocked) {
		return cacheContent{elsewhere: true}, d.of.beingFilled(d.path(".lock"))
	}
	if err != nil {
		return cacheContent{}, err
	}
	// Another process may have finished just before.
	content, why := d.find()
	if why != nil && !d.replaces(why) {
		err = why
	} else if !content.whole {
		content.fill = true
		err = d.create()
	}
	if err != nil || content.whole {
		d.unlock()
	} else if why != nil {
		d.discarded(why)
	}
	return content, err
}

// replaces reports whether a cache that err rules out may be replaced.
func (d *diskCache) replaces(err error) bool {
	return d.replace && (errors.Is(err, ErrOtherCache) || errors.Is(err, errCacheDamaged))
}

// discarded reports why a cache was discarded.
func (d *diskCache) discarded(why error) {
	d.bad, d.badErr = nil, nil
	d.run.Event(slog.LevelWarn, pipeline.EventDiscarded, slog.String("cache", d.dir), slog.Any("error", why))
	if d.tell != nil {
		d.tell(why)
	}
}

func (d *diskCache) isCorrupt(err error) bool {
	if !d.replaces(err) || d.file == nil {
		return false
	}
	st, failed := d.file.Stat()
	if failed != nil {
		return false
	}
	d.bad, d.badErr = st, err
	d.Close()
	return true
}

func (d *diskCache) disable(err error) bool {
	if !errors.Is(err, ErrCacheFull) {
		return false
	}
	d.Close()
	d.gaveUp = true
	d.discarded(err)
	return true
}

// find opens the existing cache.
func (d *diskCache) find() (cacheContent, error) {
	header, err := readCacheHeader(d.path(".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return cacheContent{}, nil
	}
	if err == nil {
		err = d.of.same(header)
	}
	if err != nil {
		return cacheContent{}, fmt.Errorf("reader: %s: %w; delete it, set Replace, or cache in another directory", d.path(".json"), err)
	}
	f, err := os.Open(d.data())
	if err != nil {
		return cacheContent{}, d.damaged(err)
	}
	st, err := f.Stat()
	switch {
	case err != nil || st.Size() != header.Bytes:
		err = d.damaged(errors.Join(err, fmt.Errorf("%s: size is not the expected %d bytes", d.data(), header.Bytes)))
	case d.bad != nil && os.SameFile(st, d.bad):
		err = d.badErr
	}
	if err != nil {
		f.Close()
		return cacheContent{}, err
	}
	d.content, d.file = header, f
	d.in = tfrecord.NewSalvager(f, tfrecord.ReaderOptions{Name: f.Name(), MaxRecord: math.MaxInt64})
	return cacheContent{whole: true, records: header.Records}, nil
}

// errCacheDamaged means that a cache on disk is not as it was written.
var errCacheDamaged = errors.New("damaged")

func (d *diskCache) damaged(err error) error {
	return fmt.Errorf("reader: the cache %s is %w (delete it, or set Replace, to rebuild it): %w", d.path(".json"), errCacheDamaged, err)
}

// unwritten returns the error for a failed write of the cache.
func (d *diskCache) unwritten(err error) error {
	if isFull(err) {
		return fmt.Errorf("reader: %w: there is no space for it in %s (free some%s): %w", ErrCacheFull, d.dir,
			d.of.hint(", lower CacheOptions.Limit, or set Partial to continue without it"), err)
	}
	return fmt.Errorf("reader: write the cache: %w", err)
}

// data is the path of the records.
func (d *diskCache) data() string { return d.path("-" + d.of.id() + ".tfrecord") }

// create removes any remains of the cache and begins to fill it. It removes the header first, since
// that marks the rest as complete.
func (d *diskCache) create() error {
	if err := atomicfile.Remove(d.path(".json")); err != nil {
		return err
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, header := strings.HasPrefix(e.Name(), d.name+"-"), strings.HasPrefix(e.Name(), d.name+".json.")
		if data || header {
			if err := os.Remove(filepath.Join(d.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if d.out, err = os.Create(d.data() + ".partial"); err != nil {
		return err
	}
	d.index = fileset.FileIndex{Stride: 1}
	d.w, err = tfrecord.NewWriter(d.out, tfrecord.WriterOptions{})
	return err
}

// cachePlaces is the maximum number of record offsets in the header.
const cachePlaces = 1 << 12

func (d *diskCache) Add(records []pipeline.Record) (int, error) {
	for i := range records {
		frame, mark := tfrecord.BeginFrame(d.frame[:0])
		frame = append(appendPlace(frame, &records[i]), records[i].Data...)
		d.frame = tfrecord.EndFrame(frame, mark)
		if int64(len(d.frame)) > d.limit-d.w.Offset() {
			return i, nil
		}
		d.index.Add(d.w.Offset(), cachePlaces)
		if err := d.w.WriteFrames(d.frame, 1); err != nil {
			return i, d.unwritten(err)
		}
	}
	return len(records), nil
}

func (d *diskCache) Finish(rest cacheRest) error {
	defer d.Close()
	header := d.of
	header.Records, header.Bytes, header.Rest = d.index.Records, d.w.Offset(), rest
	header.Stride, header.Places = d.index.Stride, d.index.Offsets
	err := d.w.Close()
	if err == nil {
		err = atomicfile.Place(d.out, d.data())
	}
	if err == nil {
		d.out = nil
		err = header.write(d.dir, d.path(".json"))
	}
	if err != nil {
		return d.unwritten(err)
	}
	return nil
}

func (d *diskCache) seek(n int64) error {
	d.at, d.failed = n, nil
	if n == d.content.Records {
		return nil
	}
	d.at = n - n%d.content.Stride
	d.in.MoveTo(d.at, d.content.Places[n/d.content.Stride])
	for d.at < n {
		if _, _, err := d.record(); err != nil {
			return err
		}
	}
	return nil
}

func (d *diskCache) rest() cacheRest { return d.content.Rest }

// record reads the next one. Its data are valid until the next call.
func (d *diskCache) record() (pipeline.Record, []byte, error) {
	p, err := d.in.Next()
	if err == io.EOF {
		err = fmt.Errorf("%w: %d of %s", io.ErrUnexpectedEOF, d.at, plural.Of(d.content.Records, "record"))
	}
	var r pipeline.Record
	var data []byte
	if err == nil {
		r, data, err = cutPlace(p, d.sources)
	}
	if err != nil {
		return pipeline.Record{}, nil, d.damaged(err)
	}
	d.at++
	return r, data, nil
}

// cacheRead is the number of bytes of records in a block, unless a single record is larger.
const cacheRead = 256 << 10

func (d *diskCache) Read() (*pipeline.Block, error) {
	if d.failed != nil {
		return nil, d.failed
	}
	if d.at == d.content.Records {
		return nil, io.EOF
	}
	b := d.run.NewBuffer(false)
	if cap(b.Buf) < cacheRead {
		b.SetBuf(make([]byte, 0, cacheRead))
	}
	b.Buf = b.Buf[:0]
	for d.at < d.content.Records && len(b.Records) < pipeline.BlockRecords && len(b.Buf) < cacheRead {
		r, data, err := d.record()
		if err != nil {
			d.failed = err // the records before it count
			break
		}
		if len(data) > cap(b.Buf)-len(b.Buf) {
			// Records so far alias the old buffer, which they keep alive.
			b.SetBuf(make([]byte, 0, max(len(data), cacheRead)))
		}
		begin := len(b.Buf)
		b.Buf = append(b.Buf, data...)
		r.Data = b.Buf[begin:len(b.Buf):len(b.Buf)]
		b.Records = append(b.Records, r)
	}
	if len(b.Records) == 0 {
		b.Release()
		return nil, d.failed
	}
	return b, nil
}

func (d *diskCache) Close() {
	if d.file != nil {
		d.file.Close()
		d.file, d.in, d.content = nil, nil, nil
	}
	if d.out != nil {
		atomicfile.Discard(d.out)
	}
	d.out, d.w = nil, nil
	d.unlock()
}

func (d *diskCache) unlock() {
	if d.lock != nil {
		UnlockFile(d.lock)
		d.lock = nil
	}
}
