package cloud

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
)

// faults puts a proxy in front of a server of a kind of stores, and returns the proxy's address.
func faults(t testing.TB, p *faultproxy.Proxy, kind, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p.Backend = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if kind == "s3" || strings.HasPrefix(r.In.URL.Path, "/upload/") {
			r.Out.Host = r.In.Host // it is signed, or answers contain it
		}
	}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

// usual are the shares of faults of a bad network and an overloaded server.
var usual = faultproxy.Shares{faultproxy.Busy: 0.1, faultproxy.Drop: 0.05, faultproxy.Lose: 0.03, faultproxy.Cut: 0.1}

// unlessAppended has no answers lost for parts of uploads to Google that are not the last: the test's
// server appends what is sent once more, which Google does not.
func unlessAppended(kind string) func(faultproxy.Kind, *http.Request) bool {
	return func(k faultproxy.Kind, r *http.Request) bool {
		return kind != "gs" || k != faultproxy.Lose || !strings.HasSuffix(r.Header.Get("Content-Range"), "/*")
	}
}
