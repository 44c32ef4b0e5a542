package cloud

import (
	"bytes"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
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
	// Shares of the answers: to requests for lists of S3's, that are a page of HTML, and that lack
	// entries; to others, with bytes, that have a bit flipped.
	html, thin, flip float64
	signed           bool                                   // the host's name is, in each request
	keeps            func(*http.Request) bool               // whether an answer is not lost; default: none
	seen             func(r *http.Request, after bool) bool // whether to break the connection; default: no
	begun            atomic.Int64                           // uploads in parts whose beginning was lost

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
			return f.lie(r)
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

var entriesOfList = regexp.MustCompile(`(?s)<Contents>.*?</Contents>`)

// lie changes what an answer says, so that nothing on the way notices.
func (f *faulty) lie(r *http.Response) error {
	if r.Request.Method != http.MethodGet || r.StatusCode/100 != 2 || f.html+f.thin+f.flip == 0 {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if list := r.Request.URL.Query().Has("list-type"); list {
		switch {
		case f.happens(f.html):
			data = []byte("<html><body>Proxy error</body></html>")
		case f.happens(f.thin):
			data = entriesOfList.ReplaceAllFunc(data, func(entry []byte) []byte {
				if f.upTo(2) == 0 {
					return nil
				}
				return entry
			})
		}
	} else if len(data) > 0 && f.happens(f.flip) {
		data[f.upTo(int64(len(data)))] ^= 1 << f.upTo(8)
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	r.ContentLength = int64(len(data))
	r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	return nil
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
