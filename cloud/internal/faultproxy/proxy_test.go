package faultproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// server is a store with one object and a list, which records what changes it.
type server struct {
	mu      sync.Mutex
	object  []byte
	names   []string
	changes []string // method and body
}

func newServer() *server {
	s := &server{}
	for i := range 4000 {
		s.object = fmt.Appendf(s.object, "%x", sha256.Sum256(fmt.Append(nil, i)))
	}
	for i := range 100 {
		s.names = append(s.names, fmt.Sprintf("images/%03d.jpg", i))
	}
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch body, _ := io.ReadAll(r.Body); Operation(r) {
	case "list":
		w.Write(s.list())
	case "get", "head":
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.object))
	default:
		s.changes = append(s.changes, r.Method+" "+string(body))
		if r.Method == http.MethodPut {
			s.names = append(s.names, strings.TrimPrefix(r.URL.Path, "/bucket/"))
		}
	}
}

func (s *server) list() []byte {
	text := fmt.Sprintf("<ListBucketResult><KeyCount>%d</KeyCount>", len(s.names))
	for _, name := range s.names {
		text += "<Contents><Key>" + name + "</Key></Contents>"
	}
	return []byte(text + "</ListBucketResult>")
}

const object, list = "/bucket/object", "/bucket?list-type=2"

// naive is a client that takes what comes.
type naive struct {
	t        *testing.T
	address  string
	proxy    *Proxy
	patience time.Duration // for an answer, from a fault on; 0: any
}

func start(t *testing.T, p *Proxy) (naive, *server) {
	s := newServer()
	p.Backend = s
	h := httptest.NewServer(p)
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return naive{t, h.URL, p, 0}, s
}

// do makes a request, which it gives up when it runs out of patience.
func (c naive) do(method, path, body string) (status int, data []byte, err error) {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	if c.patience > 0 {
		go func() {
			testwait.Until(func() bool { return c.proxy.Count("") > 0 || ctx.Err() != nil })
			time.Sleep(c.patience)
			cancel()
		}()
	}
	r, err := http.NewRequestWithContext(ctx, method, c.address+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	data, err = io.ReadAll(answer.Body)
	return answer.StatusCode, data, err
}

// namesOf is what a naive client makes of a list.
func namesOf(list []byte) []string {
	var l struct {
		Contents []struct{ Key string }
	}
	xml.Unmarshal(list, &l)
	var names []string
	for _, c := range l.Contents {
		names = append(names, c.Key)
	}
	return names
}

// Each fault harms a client that takes what comes.
func TestHarm(t *testing.T) {
	refused := func(want int) func(naive, *server) bool {
		return func(c naive, s *server) bool {
			status, data, err := c.do(http.MethodGet, object, "")
			return status == want && err == nil && !bytes.Equal(data, s.object)
		}
	}
	silent := func(c naive, s *server) bool {
		_, data, err := c.do(http.MethodGet, object, "")
		return errors.Is(err, context.Canceled) && len(data) < len(s.object)
	}
	for kind, harms := range map[Kind]func(naive, *server) bool{
		Busy: refused(http.StatusServiceUnavailable), TooMany: refused(http.StatusTooManyRequests), Broken: refused(http.StatusInternalServerError),
		Drop: func(c naive, s *server) bool {
			_, _, err := c.do(http.MethodPut, object, "new")
			return err != nil && len(s.changes) == 0
		},
		Lose: func(c naive, s *server) bool {
			_, _, err := c.do(http.MethodPut, object, "new")
			return err != nil && len(s.changes) == 1
		},
		Hang: silent, Stall: silent, Trickle: silent,
		Page: func(c naive, s *server) bool {
			status, data, err := c.do(http.MethodGet, object, "")
			listed, page, _ := c.do(http.MethodGet, list, "")
			stored, _, _ := c.do(http.MethodPut, object, "new")
			return status == 200 && err == nil && strings.Contains(string(data), "<html>") && listed == 200 && len(namesOf(page)) == 0 && stored == 200 && len(s.changes) == 0
		},
		Cut: func(c naive, s *server) bool {
			_, data, err := c.do(http.MethodGet, object, "")
			return err != nil && bytes.HasPrefix(s.object, data) && len(data) < len(s.object)
		},
		Flip: func(c naive, s *server) bool {
			status, data, err := c.do(http.MethodGet, object, "")
			return status == 200 && err == nil && len(data) == len(s.object) && bitsBetween(data, s.object) == 1
		},
		FlipSent: func(c naive, s *server) bool {
			status, _, err := c.do(http.MethodPut, object, "new")
			return status == 200 && err == nil && len(s.changes) == 1 && bitsBetween([]byte(s.changes[0]), []byte("PUT new")) == 1
		},
		Thin: func(c naive, s *server) bool {
			status, data, err := c.do(http.MethodGet, list, "")
			return status == 200 && err == nil && len(namesOf(data)) < 100 && strings.Contains(string(data), "<KeyCount>100<")
		},
		Stale: func(c naive, s *server) bool {
			c.do(http.MethodGet, list, "")
			c.do(http.MethodPut, "/bucket/new", "new")
			status, data, err := c.do(http.MethodGet, list, "")
			return status == 200 && err == nil && len(namesOf(data)) == 100 && len(s.names) == 101
		},
		Double: func(c naive, s *server) bool {
			for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost} {
				c.do(method, object, "x")
			}
			return slices.Equal(s.changes, []string{"PUT x", "PUT x", "DELETE x", "DELETE x", "POST x", "POST x"})
		},
		Slow: func(c naive, _ *server) bool {
			began := time.Now()
			c.do(http.MethodGet, object, "")
			return time.Since(began) >= 50*time.Millisecond
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := &Proxy{Seed: 1}
			c, s := start(t, p)
			if kind != Slow && harms(c, s) { // the machine may be as slow
				t.Error("it says that there is harm without faults")
			}
			p = &Proxy{Seed: 1, Shares: Shares{kind: 1}}
			c, s = start(t, p)
			if slices.Contains([]Kind{Hang, Stall, Trickle}, kind) {
				c.patience = 500 * time.Millisecond
			}
			if !harms(c, s) {
				t.Error("no harm")
			}
			if n := p.Count(kind); n == 0 || n != p.Count("") {
				t.Errorf("%d faults were counted, of %d", n, p.Count(""))
			}
		})
	}
}

func bitsBetween(a, b []byte) (n int) {
	for i := range min(len(a), len(b)) {
		for x := a[i] ^ b[i]; x > 0; x &= x - 1 {
			n++
		}
	}
	return n
}

// What happens is the same for the same seed, in whatever order requests come, and other for
// another; about as many requests as their shares say have faults.
func TestDraws(t *testing.T) {
	run := func(seed uint64, order func(n int) int) (statuses []int, of string) {
		p := &Proxy{Seed: seed, Shares: Evenly(0.6, Busy, TooMany, Broken)}
		c, _ := start(t, p)
		const requests = 300
		statuses = make([]int, requests)
		for i := range requests {
			n := order(i)
			status, _, err := c.do(http.MethodHead, fmt.Sprintf("%s?n=%d&X-Amz-Date=%d", object, n, i), "")
			if err != nil {
				t.Fatal(err)
			}
			statuses[n] = status
		}
		if n := p.Count(""); n < requests/2 || n > requests*7/10 || p.Requests() != requests {
			t.Errorf("seed %d: %s, want faults of 60%%", seed, p)
		}
		return statuses, p.String()
	}
	forward, first := run(1, func(n int) int { return n })
	backward, second := run(1, func(n int) int { return 299 - n })
	other, _ := run(2, func(n int) int { return n })
	if !slices.Equal(forward, backward) || first != second {
		t.Errorf("one seed, and %s and %s", first, second)
	}
	if slices.Equal(forward, other) {
		t.Error("two seeds do the same")
	}
}
