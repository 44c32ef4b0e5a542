package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// expect sets what is expected of servers until the test ends.
func expect(t *testing.T, e expected) {
	was := network.Load()
	network.Store(&e)
	t.Cleanup(func() { network.Store(was) })
}

// crawling is a body of which step bytes come each second.
type crawling struct {
	io.Reader
	step int
}

func (c crawling) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return c.Reader.Read(p[:min(len(p), c.step)])
}

func TestSlowBodies(t *testing.T) {
	const size = 100_000
	for name, test := range map[string]struct {
		speed    int64 // that is expected
		step     int   // bytes a second that come
		slow     int   // requests that are answered slowly
		requests int   // at least
		fails    bool
	}{
		"a byte a second for ever":  {1024, 1, 1 << 30, tries, true},
		"a byte a second twice":     {1024, 1, 2, 3, false},
		"just too slow":             {1024, 1000, 2, 3, false},
		"just fast enough":          {1024, 1025, 1 << 30, 1, false},
		"slow, and no lower bound":  {0, 10, 1 << 30, 1, false},
		"slower than another bound": {100_000, 2000, 1, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				expect(t, expected{speed: test.speed, silence: defaultSilence})
				f, root := newFake(t, nil)
				want := noise(size)
				f.put("x", want)
				var bodies atomic.Int64
				f.body = func(body io.Reader) io.Reader {
					if bodies.Add(1) > int64(test.slow) {
						return body
					}
					return crawling{body, test.step}
				}
				began := time.Now()
				got, err := io.ReadAll(open(t, root+"/x"))
				if !test.fails && (err != nil || !bytes.Equal(got, want)) {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
				if test.fails && (err == nil || !strings.Contains(err.Error(), "slower than 1024 bytes a second for 30s") || !strings.Contains(err.Error(), "given up")) {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
				if f.opens < test.requests || f.opens > test.requests+1 {
					t.Errorf("%d requests, want %d", f.opens, test.requests)
				}
				if took := time.Since(began); test.fails && took > 2*tries*SpeedWindow {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// The bound is on the network: a consumer may take as long as it likes.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, root := newFake(t, nil)
		want := noise(firstPart + partSize + 5)
		f.put("x", want)
		file := open(t, root+"/x")
		var got []byte
		for p := make([]byte, 1<<19); ; time.Sleep(time.Hour) {
			n, err := file.Read(p)
			got = append(got, p[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) || f.opens != 3 {
			t.Errorf("%d bytes with %d requests, want 3", len(got), f.opens)
		}
	})
}

func TestSlowUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		_, err := sendAgain(quick(t), random(1_000_000), func(ctx context.Context, data *Payload) (int, error) {
			requests++
			for {
				if _, err := data.Read(make([]byte, 1000)); err != nil || ctx.Err() != nil {
					return 0, err
				}
				time.Sleep(time.Second)
			}
		})
		if slow := (*slowError)(nil); !errors.As(err, &slow) || requests != tries {
			t.Errorf("%d requests, %v", requests, err)
		}
	})
}

// slowStarts is a store whose requests for ranges, all or some, are only answered after a time.
type slowStarts struct {
	*fake
	mu       sync.Mutex
	wait     func(request int) time.Duration
	requests int
	ended    int // by their contexts
	bodies   int // that are open
}

func (s *slowStarts) Open(ctx context.Context, name, version string, off, length int64) (io.ReadCloser, Object, error) {
	s.mu.Lock()
	s.requests++
	wait := s.wait(s.requests)
	s.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		s.mu.Lock()
		s.ended++
		s.mu.Unlock()
		return nil, Object{}, ctx.Err()
	}
	body, is, err := s.fake.Open(ctx, name, version, off, length)
	if err != nil {
		return nil, is, err
	}
	s.mu.Lock()
	s.bodies++
	s.mu.Unlock()
	return &countedBody{body, s}, is, nil
}

type countedBody struct {
	io.ReadCloser
	of *slowStarts
}

func (b *countedBody) Close() error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.of.bodies--
	return b.ReadCloser.Close()
}

func TestHedgedRequests(t *testing.T) {
	const reads = 2000
	for name, test := range map[string]struct {
		hedge       hedgeAfter
		wait        func(request int) time.Duration
		least, most int           // second requests
		longest     time.Duration // read
	}{
		"off":                 {hedgeAfter{}, every(100, 10*time.Second), 0, 0, 10 * time.Second},
		"after a time":        {hedgeAfter{delay: 200 * time.Millisecond}, every(100, 10*time.Second), 18, 22, 300 * time.Millisecond},
		"after the 95th":      {hedgeAfter{slowest: true}, every(100, 10*time.Second), 15, reads / 20, 10 * time.Second},
		"all are slow":        {hedgeAfter{delay: time.Millisecond}, every(1, time.Second), reads/20 - 1, reads / 20, time.Second},
		"before anything was": {hedgeAfter{slowest: true}, every(reads*2, 0), 0, reads / 20, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				expect(t, expected{silence: defaultSilence, hedge: test.hedge})
				f, root := newFake(t, nil)
				s := &slowStarts{fake: f, wait: test.wait}
				registry.Lock()
				opened[root] = s
				registry.Unlock()
				want := noise(reads + firstPart)
				f.put("x", want)
				file := open(t, root+"/x")
				before, longest := s.requests, time.Duration(0)
				for i := range reads {
					began := time.Now()
					p := make([]byte, 1)
					at := int64(len(want) - 1 - i)
					if _, err := file.ReadAt(p, at); err != nil || p[0] != want[at] {
						t.Fatal(p, err)
					}
					if took := time.Since(began); i > reads/2 {
						longest = max(longest, took)
					}
				}
				synctest.Wait()
				s.mu.Lock()
				defer s.mu.Unlock()
				second := s.requests - before - reads
				if second < test.least || second > test.most {
					t.Errorf("%d second requests, want %d to %d", second, test.least, test.most)
				}
				if longest > test.longest {
					t.Errorf("a read took %v, want at most %v", longest, test.longest)
				}
				if s.bodies != 0 {
					t.Errorf("%d bodies were left open", s.bodies)
				}
				t.Logf("%d second requests, %d cancelled, longest read %v", second, s.ended, longest)
			})
		})
	}
}

// every has one request in n take some time, and the others a little.
func every(n int, long time.Duration) func(int) time.Duration {
	return func(request int) time.Duration {
		if request%n == 0 {
			return long
		}
		return time.Duration(10+request%7) * time.Millisecond
	}
}

// An error that may pass does not win over an answer, and one that lasts does.
func TestHedgedErrors(t *testing.T) {
	for _, test := range []struct{ err, want error }{{errors.New("503"), nil}, {ErrChanged, ErrChanged}} {
		synctest.Test(t, func(t *testing.T) {
			expect(t, expected{silence: defaultSilence, hedge: hedgeAfter{delay: time.Second}})
			f, _ := newFake(t, map[string]string{"x": "abc"})
			var asked atomic.Int64
			f.fault = func() error {
				if asked.Add(1) == 1 {
					return test.err
				}
				return nil
			}
			s := &slowStarts{fake: f, wait: func(int) time.Duration { return 2 * time.Second }}
			hedgerOf(s).requests = 1000
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body, _, err := openRange(ctx, s, "x", "", 0, 3)
			if !errors.Is(err, test.want) || test.want == nil && err != nil {
				t.Fatalf("%v: %v", test.err, err)
			}
			if err == nil {
				if got, err := io.ReadAll(body); string(got) != "abc" {
					t.Error(got, err)
				}
				body.Close()
			}
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.requests != 2 || s.bodies != 0 {
				t.Errorf("%v: %d requests, %d bodies left open", test.err, s.requests, s.bodies)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	expect(t, expected{})
	for _, test := range []struct {
		variable, value string
		want            expected
		bad             bool
	}{
		{"", "", expected{1024, 30 * time.Second, hedgeAfter{}, 256}, false},
		{MinSpeedVariable, "0", expected{0, 30 * time.Second, hedgeAfter{}, 256}, false},
		{MinSpeedVariable, "100000", expected{100_000, 30 * time.Second, hedgeAfter{}, 256}, false},
		{TimeoutVariable, "2m", expected{1024, 2 * time.Minute, hedgeAfter{}, 256}, false},
		{HedgeVariable, "p95", expected{1024, 30 * time.Second, hedgeAfter{slowest: true}, 256}, false},
		{HedgeVariable, "250ms", expected{1024, 30 * time.Second, hedgeAfter{delay: 250 * time.Millisecond}, 256}, false},
		{HedgeVariable, "off", expected{1024, 30 * time.Second, hedgeAfter{}, 256}, false},
		{MaxRequestsVariable, "1000", expected{1024, 30 * time.Second, hedgeAfter{}, 1000}, false},
		{variable: MinSpeedVariable, value: "fast", bad: true},
		{variable: MinSpeedVariable, value: "-1", bad: true},
		{variable: TimeoutVariable, value: "30", bad: true},
		{variable: TimeoutVariable, value: "1ms", bad: true},
		{variable: HedgeVariable, value: "p99", bad: true},
		{variable: HedgeVariable, value: "0s", bad: true},
		{variable: MaxRequestsVariable, value: "0", bad: true},
		{variable: MaxRequestsVariable, value: "5000", bad: true},
		{variable: MaxRequestsVariable, value: "many", bad: true},
	} {
		t.Run(test.variable+"="+test.value, func(t *testing.T) {
			for _, v := range []string{MinSpeedVariable, TimeoutVariable, HedgeVariable, MaxRequestsVariable} {
				t.Setenv(v, "")
			}
			if test.variable != "" {
				t.Setenv(test.variable, test.value)
			}
			err := readEnvironment()
			if test.bad && (err == nil || !strings.Contains(err.Error(), test.variable)) || !test.bad && (err != nil || *network.Load() != test.want) {
				t.Errorf("%v, %+v", err, *network.Load())
			}
		})
	}
}
