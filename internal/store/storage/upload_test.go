package storage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever one request in three meets, the object is the one that was written.
func TestUploadThroughFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		fault := func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if r.IntN(6) == 0 {
				return errors.New("503")
			}
			return nil
		}
		for _, size := range []int{0, 5, firstSent, firstSent + 1, 2 * firstSent, 5*firstSent + 7} {
			for range 3 {
				s := &sender{fault: fault, lost: fault}
				data := random(size)
				is, err := send(quick(t), s, data)
				if err != nil || is.Size != int64(size) || !bytes.Equal(s.made, data) {
					t.Fatalf("%d bytes: %+v, %v", size, is, err)
				}
				if s.discards > 0 || s.most > AtOnce || (s.begun > 0) != (size > firstSent) {
					t.Errorf("%d bytes: begun %d, %d parts at a time, %d discarded", size, s.begun, s.most, s.discards)
				}
			}
		}
	})
}

// What a request finds that was made again, since its answer was lost, is its own, or
// somebody else's.
func TestLostAnswers(t *testing.T) {
	for _, size := range []int{10, firstSent + 10} {
		synctest.Test(t, func(t *testing.T) {
			lost := 0
			s := &sender{lost: func(request string) error {
				if lost++; request == "put" || request == "finish" {
					return io.ErrUnexpectedEOF
				}
				return nil
			}}
			data := random(size)
			if is, err := send(quick(t), s, data); err != nil || is.Size != int64(size) || !bytes.Equal(s.made, data) || lost == 0 {
				t.Errorf("%d bytes: %+v, %v", size, is, err)
			}

			// A request that arrives twice is answered as the second of the two.
			s = &sender{lost: func(request string) error {
				return map[string]error{"put": fs.ErrExist, "finish": ErrGone}[request]
			}}
			if is, err := send(quick(t), s, data); err != nil || is.Size != int64(size) || !bytes.Equal(s.made, data) || s.discards > 0 {
				t.Errorf("%d bytes, sent twice: %+v, %v, discarded %d times", size, is, err, s.discards)
			}

			first := true
			s = &sender{taken: true, fault: func(request string) error {
				if first && (request == "put" || request == "finish") {
					first = false
					return io.ErrUnexpectedEOF
				}
				return nil
			}}
			_, err := send(quick(t), s, data)
			if !errors.Is(err, fs.ErrExist) || first || !strings.Contains(err.Error(), "mem://bucket/x") {
				t.Errorf("%d bytes: %v", size, err)
			}
			if (s.discards == 1) != (size > firstSent) {
				t.Errorf("%d bytes: discarded %d times", size, s.discards)
			}
		})
	}
}

// If a store reports an existing object at the beginning, no parts are sent, and Commit returns the
// error.
func TestTakenFromTheBeginning(t *testing.T) {
	s := &sender{fault: func(request string) error {
		if request == "begin" {
			return fs.ErrExist
		}
		return nil
	}}
	u := NewUpload(quick(t), "mem://bucket/x", s, 1)
	if n, err := u.Write(make([]byte, 3*firstSent)); n != 3*firstSent || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if _, err := u.Commit(); !errors.Is(err, fs.ErrExist) || !slices.Equal(s.requests, []string{"begin"}) {
		t.Errorf("%v, after %q", err, s.requests)
	}
}

func TestUploadFails(t *testing.T) {
	denied := fmt.Errorf("who are you? %w", fs.ErrPermission)
	for request, size := range map[string]int{"put": 5, "begin": firstSent + 1, "part": 9*firstSent + 1, "finish": firstSent + 1} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, lasting := range []bool{true, false} {
					cause := denied
					if !lasting {
						cause = errors.New("503")
					}
					s := &sender{fault: func(r string) error {
						if r == request {
							return cause
						}
						return nil
					}}
					_, err := send(quick(t), s, random(size))
					var where *fs.PathError
					if !errors.Is(err, cause) || !errors.As(err, &where) || where.Path != "mem://bucket/x" {
						t.Errorf("%v", err)
					}
					n := 0
					for _, r := range s.requests {
						if r == request {
							n++
						}
					}
					if lasting && n > AtOnce || !lasting && n < tries {
						t.Errorf("lasting: %v, and asked for %d times", lasting, n)
					}
					if s.taken || (s.discards == 1) != (s.begun > 0) {
						t.Errorf("made: %v, begun %d times, discarded %d times", s.taken, s.begun, s.discards)
					}
				}
			})
		})
	}
}

// A missing response ends after the timeout, and parts that are read slowly are not aborted.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		s := &sender{hang: func(ctx context.Context) {
			if first {
				first = false
				<-ctx.Done()
			}
		}}
		begun := time.Now()
		if _, err := send(quick(t), s, random(10)); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < defaultSilence || took > 2*defaultSilence {
			t.Errorf("took %v", took)
		}
		p := 0
		_, err := sendAgain(quick(t), random(1_000_000), func(ctx context.Context, data *Payload) (int, error) {
			for {
				n, err := data.Read(make([]byte, 100_000))
				if p += n; err == io.EOF {
					return 0, nil
				}
				if err != nil || ctx.Err() != nil {
					return 0, errors.ErrUnsupported
				}
				time.Sleep(defaultSilence - time.Second)
			}
		})
		if err != nil || p != 1_000_000 {
			t.Errorf("%d bytes read slowly: %v", p, err)
		}
	})
}

// The request that makes the object is executed, and then the server stays silent until the client
// gives up: for the client, the request was cancelled.
func TestSilenceAfterWhatWasDone(t *testing.T) {
	for _, size := range []int{100, firstSent + 5} {
		synctest.Test(t, func(t *testing.T) {
			silent := 1
			s := &silentSender{wait: func(ctx context.Context) error {
				if silent == 0 {
					return nil
				}
				silent--
				<-ctx.Done()
				return ctx.Err()
			}}
			data := random(size)
			u := NewUpload(quick(t), "mem://bucket/x", s, AtOnce)
			defer u.Abort()
			_, err := u.Write(data)
			if err == nil {
				_, err = u.Commit()
			}
			if err != nil || silent != 0 || !bytes.Equal(s.made, data) {
				t.Errorf("%d bytes: %v, %d silences left, %d bytes made", size, err, silent, len(s.made))
			}
		})
	}
}

// silentSender answers what makes the object when wait returns.
type silentSender struct {
	sender
	wait func(context.Context) error
}

func (s *silentSender) Put(ctx context.Context, data *Payload) (Object, error) {
	is, err := s.sender.Put(ctx, data)
	return is, cmp.Or(s.wait(ctx), err)
}

func (s *silentSender) Finish(ctx context.Context) (Object, error) {
	is, err := s.sender.Finish(ctx)
	return is, cmp.Or(s.wait(ctx), err)
}

func TestUploadIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, size := range []int{10, 2*firstSent + 1, 20 * firstSent} {
			ctx, cancel := context.WithCancel(quick(t))
			s := &sender{hang: func(ctx context.Context) { <-ctx.Done() }}
			time.AfterFunc(time.Second, cancel)
			_, err := send(ctx, s, random(size))
			if !errors.Is(err, context.Canceled) || s.taken || (s.discards == 1) != (s.begun > 0) {
				t.Errorf("%d bytes: %v, made %v, begun %d times, discarded %d times", size, err, s.taken, s.begun, s.discards)
			}
		}
	})
}

// A store that does not answer keeps Abort for a short time.
func TestAbortDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sender{fault: func(request string) error {
			if request == "discard" {
				return errors.New("503")
			}
			return nil
		}}
		u := NewUpload(quick(t), "mem://bucket/x", s, AtOnce)
		if _, err := u.Write(random(firstSent + 1)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		u.Abort()
		if took := time.Since(began); took > cleanupTimeout || len(s.requests) < 4 {
			t.Errorf("took %v, for %q", took, s.requests)
		}
	})
}

// What is on its way of all uploads together is bounded, and all come to an end.
func TestManyUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		s := make([]*sender, 6)
		var work sync.WaitGroup
		data := random(4 * firstSent)
		for i := range s {
			s[i] = &sender{hang: func(context.Context) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
			}}
			work.Go(func() {
				if _, err := send(quick(t), s[i], data); err != nil || !bytes.Equal(s[i].made, data) {
					t.Errorf("upload %d: %v", i, err)
				}
			})
		}
		work.Wait()
		if most != MaxUploading/firstSent {
			t.Errorf("%d parts on their way at the same time, not %d", most, MaxUploading/firstSent)
		}
	})
	if !uploading.TryAcquire(MaxUploading) {
		t.Error("something was not given back")
	} else {
		uploading.Release(MaxUploading)
	}
}

// Parts grow early enough for an object of 5 TiB, and stay within what stores take.
func TestSizesOfParts(t *testing.T) {
	total := int64(0)
	for n := range mostParts {
		if size := int64(sentSize(n)); size > 4000<<20 || size%(256<<10) != 0 {
			t.Fatalf("part %d of %d bytes", n, size)
		}
		total += int64(sentSize(n))
	}
	if total < 5<<40 {
		t.Errorf("%d bytes at most", total)
	}
	u := NewUpload(quick(t), "mem://bucket/x", &sender{}, 1).(*upload)
	u.parts, u.offset, u.buffer, u.begun = mostParts, total, make([]byte, sentSize(mostParts)), true
	u.buffer = u.buffer[:cap(u.buffer)]
	if _, err := u.Write([]byte("x")); err == nil || !strings.Contains(err.Error(), "make more shards") {
		t.Errorf("one part more: %v", err)
	}
}

// Who reads a body when its request has ended gets nothing of what is in its memory by then.
func TestPayloadEnds(t *testing.T) {
	p := &Payload{data: []byte("some bytes"), alive: func(time.Duration) {}}
	b := make([]byte, 4)
	if n, err := p.Read(b); n != 4 || err != nil {
		t.Error(n, err)
	}
	p.end()
	if n, err := p.Read(b); n != 0 || err == nil || err == io.EOF {
		t.Error(n, err)
	}
}
