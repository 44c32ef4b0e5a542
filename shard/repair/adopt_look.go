package repair

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// adopted is a file that was read completely.
type adopted struct {
	split string
	info  manifest.Shard
	c     tfrecord.Compression
	scan  *features.Scan
	seen  map[string]*labelSeen
	// index is the path of a temporary file with the file's index; empty if it needs none, or if
	// the existing one is correct.
	index     string
	indexWas  string // as in Change, if it is not correct
	faults    []shard.Fault
	mayHave   bool // it may have an index
	wasMoved  string
	finalName string
}

// look reads all files.
func (a *adoption) look() error {
	for _, l := range a.lots {
		for _, file := range l.files {
			a.files = append(a.files, &adopted{split: l.split, info: manifest.Shard{File: file}, seen: map[string]*labelSeen{}, scan: features.NewScan()})
		}
	}
	errs := make([]error, len(a.files))
	par.ForEach(a.ctx, len(a.files), a.o.Workers, func(next func() (int, bool)) {
		r := tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: a.o.MaxRecord})
		defer r.Close()
		for i, ok := next(); ok; i, ok = next() {
			errs[i] = a.lookAt(a.files[i], r)
		}
	})
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, f := range a.files {
		a.report.Faults = append(a.report.Faults, f.faults...)
	}
	return nil
}

// lookAt reads one file. It compares its index with the existing one and, if it may be needed,
// writes it to a temporary file.
func (a *adoption) lookAt(f *adopted, r *tfrecord.Reader) error {
	path := a.dir.Join(f.info.File)
	file, err := recordscan.Open(a.ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	var temp *os.File
	if !a.o.Check {
		if temp, err = a.tempFile(f.info.File + ".idx"); err != nil {
			return err
		}
		defer temp.Close()
	}
	index, err := draftIndex(a.ctx, manifest.IndexPath(path), temp)
	if err != nil {
		return err
	}
	defer index.close()
	in := &recordscan.Meter{Context: a.ctx, File: file, Sum: sha256.New(), Done: a.o.Progress.Counter()}
	r.Reset(in, path)
	if err := f.records(r, index, a.o); err != nil {
		if in.Err != nil {
			return in.Err
		}
		var damage *tfrecord.Error
		if !errors.As(err, &damage) {
			return err
		}
		fault := shard.FaultOf(path, damage)
		fault.Message += shard.RepairHint(damage)
		f.faults = append(f.faults, fault)
		return nil
	}
	indexIs, err := index.finish()
	if err != nil {
		return err
	}
	f.c = r.Compression()
	f.info.SHA256 = in.Digest()
	if in.Err != nil {
		return in.Err
	}
	f.info.Bytes = in.N
	if f.c != tfrecord.CompressionNone {
		return nil
	}
	f.mayHave = true
	switch indexIs {
	case IndexMissing:
		f.indexWas = "missing"
	case IndexWrong:
		f.indexWas = "other"
	}
	if temp != nil {
		f.index = temp.Name()
	}
	return nil
}

// tempFile creates a temporary file that has a name until it is placed.
func (a *adoption) tempFile(prefix string) (*os.File, error) {
	if a.dir.Remote() {
		return os.CreateTemp(a.temp, prefix+".*")
	}
	return a.dir.TempFile(prefix)
}

// records reads all records of a file.
func (f *adopted) records(r *tfrecord.Reader, index *indexDraft, o *AdoptOptions) error {
	var example tfrecord.Example
	for {
		record, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f.info.Records++
		if err := index.add(r.Offset(), int64(len(record))+tfrecord.Overhead); err != nil {
			return err
		}
		err = example.Parse(record)
		if !f.scan.Quick(record) {
			f.scan.AddParsed(record, &example, err)
		}
		if err == nil {
			f.addLabels(&example.Features, o.Label)
		}
	}
}

// placeIndex puts a file's index in place.
func (a *adoption) placeIndex(f *adopted) error {
	temp, err := os.OpenFile(f.index, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	path := a.dir.Join(f.finalName)
	if a.dir.Remote() {
		return errors.Join(setdir.PutFrom(a.dir, manifest.IndexName(f.finalName), temp), temp.Close())
	}
	if err = osfile.MakeOuterDir(a.ctx, filepath.Dir(manifest.IndexPath(path))); err == nil {
		err = placeIndex(a.ctx, temp, path)
	}
	if err != nil {
		atomicfile.Discard(temp)
	}
	return err
}
