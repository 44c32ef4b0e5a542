package shard

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/tfrecord"
)

// adopted is a file that was read from its beginning to its end.
type adopted struct {
	split string
	info  Info
	c     tfrecord.Compression
	scan  *featureScan
	seen  map[string]*labelSeen
	// index is the temporary file with the file's index; empty when there is to
	// be none, or the one in place is right.
	index     string
	indexWas  string // as Change has it, when it is not right
	faults    []Fault
	mayHave   bool // an index
	wasMoved  string
	finalName string
}

// look reads all files.
func (a *adoption) look() error {
	for _, l := range a.lots {
		for _, file := range l.files {
			a.files = append(a.files, &adopted{split: l.split, info: Info{File: file}, seen: map[string]*labelSeen{}, scan: newFeatureScan()})
		}
	}
	errs := make([]error, len(a.files))
	forEach(a.ctx, len(a.files), a.o.Workers, func(next func() (int, bool)) {
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

// lookAt reads one file. Its index is compared with the one in place and, when
// it may be needed, written to a temporary file.
func (a *adoption) lookAt(f *adopted, r *tfrecord.Reader) error {
	path := a.dir.join(f.info.File)
	file, err := openSequential(a.ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	var same comparison
	if there, err := os.Open(IndexPath(path)); err == nil {
		defer there.Close()
		same.in = bufio.NewReaderSize(there, 64<<10)
	} else if !notThere(err) {
		return err
	}
	var index io.Writer = &same
	var temp *os.File
	if !a.o.Check {
		if temp, err = a.dir.TempFile(f.info.File + ".idx"); err != nil {
			return err
		}
		defer temp.Close()
		index = io.MultiWriter(&same, trialFile{temp})
	}
	lines := bufio.NewWriterSize(index, 64<<10)
	in := &meter{ctx: a.ctx, f: file, sum: sha256.New(), progress: a.o.Progress}
	r.Reset(in, path)
	if err := f.records(r, lines, a.o); err != nil {
		if in.err != nil {
			return in.err
		}
		var fault *tfrecord.Error
		if !errors.As(err, &fault) {
			return err
		}
		f.faults = append(f.faults, recordFault(path, fault, repairHint(fault)))
		return nil
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	f.c = r.Compression()
	f.info.Bytes, f.info.SHA256 = in.n, hex.EncodeToString(in.sum.Sum(nil))
	if f.c != tfrecord.None {
		return nil
	}
	f.mayHave = true
	switch {
	case same.in == nil:
		f.indexWas = "missing"
	case !same.ends():
		f.indexWas = "other"
	}
	if temp != nil {
		f.index = temp.Name()
	}
	return nil
}

// records looks at all records of a file.
func (f *adopted) records(r *tfrecord.Reader, lines *bufio.Writer, o *AdoptOptions) error {
	var line []byte
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
		line = tfrecord.AppendIndex(line[:0], tfrecord.IndexEntry{Offset: r.Offset(), Size: int64(len(record)) + tfrecord.Overhead})
		if _, err := lines.Write(line); err != nil {
			return err
		}
		err = example.Parse(record)
		f.scan.addParsed(record, &example, err)
		if err == nil {
			f.addLabels(&example.Features, o.Label)
		}
	}
}

// placeIndex puts a file's index where it belongs.
func (a *adoption) placeIndex(f *adopted) error {
	temp, err := os.OpenFile(f.index, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	path := IndexPath(a.dir.join(f.finalName))
	if err := makeFolder(filepath.Dir(path)); err != nil {
		temp.Close()
		return err
	}
	return placeOrDiscard(temp, path)
}
