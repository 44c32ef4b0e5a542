package cloud

import (
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// faulty is a proxy in front of a server that does to some requests what
// networks and overloaded servers do.
type faulty struct {
	// Shares of the requests: that are answered with 503, whose connection breaks before and after
	// the server has acted, and whose answer's body is cut; that are slow.
	refused, dropped, lost, cut, slow float64
	signed                            bool                                   // the host's name is, in each request
	keeps                             func(*http.Request) bool               // whether an answer is not lost; default: none
	seen                              func(r *http.Request, after bool) bool // whether to break the connection; default: no
	begun                             atomic.Int64                           // uploads in parts whose beginning was lost

	mu       sync.Mutex
	random   *rand.Rand
	requests atomic.Int64
	faults   atomic.Int64
}

// before puts the proxy in front of a server, and returns its address.
func (f *faulty) before(t *testing.T, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	f.random = rand.New(rand.NewPCG(3, 14))
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if f.signed || strings.HasPrefix(r.In.URL.Path, "/upload/") {
				r.Out.Host = r.In.Host
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if f.seen != nil && f.seen(r.Request, true) {
				return errLost
			}
			if (f.keeps == nil || !f.keeps(r.Request)) && f.happens(f.lost) {
				if r.Request.Method == http.MethodPost && r.Request.URL.Query().Has("uploads") && r.StatusCode == http.StatusOK {
					f.begun.Add(1)
				}
				return errLost
			}
			if r.Request.Method == http.MethodGet && r.ContentLength > 0 && f.happens(f.cut) {
				r.Body = &cutBody{r.Body, f.upTo(r.ContentLength)}
			}
			return nil
		},
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		if f.happens(f.slow) {
			time.Sleep(50 * time.Millisecond)
		}
		switch {
		case f.seen != nil && f.seen(r, false):
			panic(http.ErrAbortHandler)
		case f.happens(f.refused):
			http.Error(w, "slow down", http.StatusServiceUnavailable)
		case f.happens(f.dropped):
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

var errLost = errors.New("the answer is lost")

func (f *faulty) happens(share float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.Float64() >= share {
		return false
	}
	f.faults.Add(1)
	return true
}

func (f *faulty) upTo(n int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.Int64N(n)
}

// cutBody ends early, with the connection.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
