package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Sender makes the requests of one upload, each of them once: the caller retries. It returns the
// same errors as a Store, and ErrGone.
type Sender interface {
	// Put makes the object in one request.
	Put(ctx context.Context, data *Payload) (Object, error)
	// Begin begins an object in parts. It may return an error that unwraps to
	// fs.ErrExist when Finish would.
	Begin(ctx context.Context) error
	// Part sends a part of it: the nth, from 0 on, which begins at offset.
	Part(ctx context.Context, n int, offset int64, data *Payload, last bool) error
	// Finish makes the object of its parts.
	Finish(ctx context.Context) (Object, error)
	// Discard throws away what was sent of an object that is not finished.
	Discard(ctx context.Context) error
	// FindOwn returns the object of that name if this upload's Put or Finish made it. Otherwise its
	// error unwraps to fs.ErrNotExist.
	FindOwn(ctx context.Context) (Object, error)
}

// An object that ends within the first part is made by one request. Parts grow with
// the object, since stores take 10,000 of one and 4,000 MiB in one (S3 and Azure; Google
// has no such limits): 8 MiB in the first 1,000 (7.8 GiB), twice as much in the next, up
// to 2 GiB, which makes 5.8 TiB in all.
const (
	firstSent  = 8 << 20
	growsAfter = 1000
	growsTimes = 8
	mostParts  = 10_000
)

func sentSize(n int) int { return firstSent << min(n/growsAfter, growsTimes) }

// AtOnce is the number of parts of an object to send at a time, where a store accepts parts in any
// order.
const AtOnce = 4

// MaxUploading bounds the memory of parts being sent, of all objects together, in bytes. The part
// being filled comes on top, one for each object; a larger part is sent alone.
const MaxUploading = 128 << 20

var uploading = semaphore.NewWeighted(MaxUploading)

// sendBuffers are for parts of the first size.
var sendBuffers = sync.Pool{New: func() any { return new([firstSent]byte) }}

// NewUpload returns an Upload that sends through s, at most atOnce parts at a time, which
// is in order when that is 1. Errors name the object by its URL.
func NewUpload(ctx context.Context, url string, s Sender, atOnce int) Upload {
	ctx, cancel := context.WithCancelCause(ctx)
	return &upload{url: url, sender: s, ctx: ctx, cancel: cancel, slots: make(chan struct{}, atOnce)}
}

type upload struct {
	url    string
	sender Sender
	ctx    context.Context         // done when a part has failed
	cancel context.CancelCauseFunc // with the error
	slots  chan struct{}           // one for each part on its way
	work   sync.WaitGroup          // parts on their way

	buffer []byte // the part that is being filled
	parts  int    // that were sent, or are on their way
	offset int64  // after them
	begun  bool   // in parts
	exists error  // what Commit will return, as is known before the end
	over   bool   // committed or aborted
}

var errOver = errors.New("the upload was committed or aborted before")

// Write implements io.Writer.
func (u *upload) Write(p []byte) (int, error) {
	if u.over {
		return 0, u.failed(context.Cause(u.ctx))
	}
	n := 0
	for n < len(p) && u.exists == nil {
		err := context.Cause(u.ctx)
		if err == nil && len(u.buffer) == sentSize(u.parts) {
			err = u.send(false)
		}
		if err != nil {
			u.cancel(err)
			u.Abort()
			return n, u.failed(err)
		}
		n += u.fill(p[n:])
	}
	return len(p), nil
}

// fill appends to the part what has room in it.
func (u *upload) fill(p []byte) int {
	size := sentSize(u.parts)
	n := min(len(p), size-len(u.buffer))
	if need := len(u.buffer) + n; need > cap(u.buffer) {
		switch {
		case need <= size/16 && u.parts == 0: // most objects that are not shards
			u.buffer = slices.Grow(u.buffer, n)
		case size == firstSent:
			u.buffer = append(sendBuffers.Get().(*[firstSent]byte)[:0], u.buffer...)
		default:
			u.buffer = append(make([]byte, 0, size), u.buffer...)
		}
	}
	u.buffer = append(u.buffer, p[:n]...)
	return n
}

// recycle returns the buffer of a part to its pool. The caller must not use it any more.
func recycle(buffer []byte) {
	if cap(buffer) == firstSent {
		sendBuffers.Put((*[firstSent]byte)(buffer[:firstSent]))
	}
}

// send has the part that was filled sent, once there is room for it among those on their
// way.
func (u *upload) send(last bool) error {
	if u.parts == mostParts {
		return fmt.Errorf("more than %d bytes in %d parts, the most that a store takes for one object: make more shards", u.offset, mostParts)
	}
	if !u.begun {
		_, err := Retry(u.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, u.sender.Begin(ctx) })
		if errors.Is(err, fs.ErrExist) {
			u.exists = err
			return nil
		}
		if err != nil {
			return err
		}
		u.begun = true
	}
	select {
	case u.slots <- struct{}{}:
	case <-u.ctx.Done():
		return context.Cause(u.ctx)
	}
	weight := min(int64(cap(u.buffer)), MaxUploading)
	if err := uploading.Acquire(u.ctx, weight); err != nil {
		return context.Cause(u.ctx)
	}
	data, n, offset := u.buffer, u.parts, u.offset
	u.buffer, u.parts, u.offset = nil, u.parts+1, u.offset+int64(len(data))
	u.work.Go(func() {
		defer func() {
			recycle(data)
			uploading.Release(weight)
			<-u.slots
		}()
		_, err := sendAgain(u.ctx, data, func(ctx context.Context, p *Payload) (struct{}, error) {
			return struct{}{}, u.sender.Part(ctx, n, offset, p, last)
		})
		if err != nil {
			u.cancel(err)
		}
	})
	return nil
}

// sendAgain makes a request with a body, again and again while its error may pass.
func sendAgain[T any](ctx context.Context, data []byte, request func(context.Context, *Payload) (T, error)) (T, error) {
	return retryLong(ctx, func(ctx context.Context, alive func(time.Duration)) (T, error) {
		p := &Payload{data: data, alive: alive, speed: newPace()}
		defer p.end()
		return request(ctx, p)
	})
}

// Commit implements Upload.
func (u *upload) Commit() (Object, error) {
	if u.over {
		return Object{}, u.failed(context.Cause(u.ctx))
	}
	is, err := u.commit()
	if err != nil {
		u.Abort()
		return Object{}, u.failed(err)
	}
	u.end()
	return is, nil
}

func (u *upload) commit() (Object, error) {
	if err := context.Cause(u.ctx); err != nil {
		return Object{}, err
	}
	if u.exists != nil {
		return Object{}, u.exists
	}
	if u.parts == 0 {
		return sendAgain(u.ctx, u.buffer, func(ctx context.Context, p *Payload) (Object, error) {
			is, err := u.sender.Put(ctx, p)
			return own(ctx, u.sender, is, err)
		})
	}
	if err := u.send(true); err != nil {
		return Object{}, err
	}
	u.work.Wait()
	if err := context.Cause(u.ctx); err != nil {
		return Object{}, err
	}
	return retryLong(u.ctx, func(ctx context.Context, alive func(time.Duration)) (Object, error) {
		alive(network.Load().finish())
		is, err := u.sender.Finish(ctx)
		return own(ctx, u.sender, is, err)
	})
}

// own handles the response to a request that makes an object. If an object of the name exists or
// the parts are missing, own checks whether this upload made that object: an earlier response may
// have been lost, or the request may have been duplicated on the way.
func own(ctx context.Context, s Sender, is Object, err error) (Object, error) {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, ErrGone) {
		if found, e := s.FindOwn(ctx); !errors.Is(e, fs.ErrNotExist) {
			return found, e
		}
	}
	return is, err
}

// cleanupTimeout bounds the time of Abort.
const cleanupTimeout = 10 * time.Second

// Abort implements Upload.
func (u *upload) Abort() {
	if u.over {
		return
	}
	u.end()
	if !u.begun {
		return
	}
	ctx, cancel := Cleanup(u.ctx, cleanupTimeout)
	defer cancel()
	// Unfinished finds leftovers if this fails.
	Retry(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, u.sender.Discard(ctx) })
}

// end cancels running requests.
func (u *upload) end() {
	u.over = true
	u.cancel(errOver)
	u.work.Wait()
	recycle(u.buffer)
	u.buffer = nil
}

func (u *upload) failed(err error) error {
	return &fs.PathError{Op: "write", Path: u.url, Err: err}
}

// Put makes an object of data that is in memory.
func Put(ctx context.Context, s Store, name string, data []byte, o CreateOptions) (Object, error) {
	u, err := s.Create(ctx, name, o)
	if err != nil {
		return Object{}, err
	}
	defer u.Abort()
	if _, err := u.Write(data); err != nil {
		return Object{}, err
	}
	return u.Commit()
}
