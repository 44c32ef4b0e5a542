package cloud

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// faulty is a proxy in front of a server that does to some requests what
// networks and overloaded servers do.
type faulty struct {
	refused, dropped, cut float64 // shares of the requests
	signed                bool    // the host's name is, in each request

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
			if f.signed {
				r.Out.Host = r.In.Host
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodGet && r.ContentLength > 0 && f.happens(f.cut) {
				r.Body = &cutBody{r.Body, f.upTo(r.ContentLength)}
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		switch {
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
