package doctor

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Reads of files, as large as the reader's of large records, and how many files are read at once at
// most, as with an interleave.
const (
	readSize  = 1 << 20
	mostFiles = 16
)

// measureStorage reads the files as they are. The second half of the time is for several at once,
// beginning with those that were not read yet.
func (r *run) measureStorage() error {
	sources := r.set.Sources()
	r.report.Files, r.report.Remote = len(sources), r.remote()
	files := make([]string, len(sources))
	for i, s := range sources {
		files[i] = s.Path
		info, err := storage.Stat(r.ctx, s.Path)
		if err != nil {
			return err
		}
		r.report.Bytes += info.Size()
	}
	var cached cachedBytes
	one, next, err := readFiles(r.ctx, files, 1, r.longest, &cached)
	if err != nil {
		return err
	}
	all, workers := one, min(mostFiles, len(files))
	if workers > 1 {
		files = append(files[next:len(files):len(files)], files[:next]...)
		if all, _, err = readFiles(r.ctx, files, workers, r.longest, &cached); err != nil {
			return err
		}
	}
	if !r.report.Remote {
		r.report.Cached = cached.share()
	}
	r.report.Steps = append(r.report.Steps, Step{Name: Storage, OneMB: one.bytes / 1e6, AllMB: all.bytes / 1e6, Workers: workers})
	return nil
}

// setStored completes the step of storage once the stored size of a record is known.
func (r *run) setStored(perRecord float64) {
	r.report.StoredPerRecord = perRecord
	s := &r.report.Steps[0]
	s.One, s.All = s.OneMB*1e6/perRecord, s.AllMB*1e6/perRecord
}

// readFiles reads files with a number of goroutines until the time is up or each file was read once
// and returns how many were begun.
func readFiles(ctx context.Context, files []string, workers int, d time.Duration, cached *cachedBytes) (speed, int, error) {
	var taken atomic.Int64
	var failed atomic.Pointer[error]
	open := make([]storage.File, workers)
	defer func() {
		for _, file := range open {
			if file != nil {
				file.Close()
			}
		}
	}()
	s := repeat(ctx, workers, d, func(worker int) func() work {
		buf := make([]byte, readSize)
		return func() (done work) {
			if open[worker] == nil {
				i := int(taken.Add(1)) - 1
				if i >= len(files) || failed.Load() != nil {
					return done
				}
				file, err := storage.Open(ctx, files[i])
				if err != nil {
					failed.CompareAndSwap(nil, &err)
					return done
				}
				cached.drop(file)
				open[worker] = file
			}
			n, err := io.ReadFull(open[worker], buf)
			if err != nil {
				open[worker].Close()
				open[worker] = nil
			}
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				failed.CompareAndSwap(nil, &err)
			}
			return work{1, int64(n)} // records are counted later
		}
	})
	if err := failed.Load(); err != nil {
		return s, 0, *err
	}
	return s, min(int(taken.Load()), len(files)), nil
}
