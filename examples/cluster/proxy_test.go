package cluster

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"
)

// proxy is between a container and its store, and notices which shards the container writes.
type proxy struct {
	made []string // shards that the container wrote, in order
	// finished gets the first shard whose state is written. From then on, requests wait until gone is
	// closed, and are forwarded then if resumes is set. nil forwards all.
	finished chan string
	gone     chan struct{}
	resumes  bool

	server  *httptest.Server
	lock    sync.RWMutex
	stopped bool
}

// start listens, and returns the address of the proxy.
func (p *proxy) start(t *testing.T, store string) string {
	t.Helper()
	target, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if r.In.Header.Get("Authorization") != "" { // a signature, also of the host
				r.Out.Host = r.In.Host
			}
		},
		Transport: &http.Transport{DisableCompression: true},
	}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, forward)
	}))
	t.Cleanup(p.Close)
	return p.server.URL
}

// Close waits until requests in flight are answered.
func (p *proxy) Close() { p.server.Close() }

// serve answers a request. Requests that write shards and their state run alone, so that nothing
// else changes the store between the first state and the end of the container.
func (p *proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	write := writeOf.FindStringSubmatch(written(r))
	if write == nil {
		p.lock.RLock()
		defer p.lock.RUnlock()
	} else {
		p.lock.Lock()
		defer p.lock.Unlock()
	}
	if p.stopped {
		<-p.gone
		if !p.resumes {
			return
		}
	}
	forward.ServeHTTP(w, r)
	switch {
	case write == nil:
	case write[1] == "":
		p.made = append(p.made, write[2])
	case p.finished != nil && !p.stopped:
		p.stopped = true
		p.finished <- write[2]
		<-p.gone
	}
}

// writeOf matches the names of shards and of their state, which is written when a shard is finished.
var writeOf = regexp.MustCompile(`/photos/(\.tfrec/shards/)?(photos-train\.tfrecord-\d+-of-\d+)(\.json)?$`)

// written returns the bucket, or what stands for it, and name of the object that the request
// writes, or "".
func written(r *http.Request) string {
	switch r.Method {
	case http.MethodPut: // S3
		return r.URL.Path
	case http.MethodPost: // Google
		return "/" + r.URL.Query().Get("name")
	}
	return ""
}
