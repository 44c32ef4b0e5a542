package cloud

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// objects is a server of S3's protocol that only reads: the contents of its bucket by name.
type objects struct {
	contents map[string]string
	page     int                            // entries in a page of a list
	states   func(h http.Header, of string) // adds checksums to an answer; default: none
}

func (s *objects) serve(t testing.TB) string {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

func (s *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("list-type") {
		s.list(w, r)
		return
	}
	data, ok := s.contents[strings.TrimPrefix(r.URL.Path, "/bucket/")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.state(w.Header(), data)
	http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader([]byte(data)))
}

// state adds an ETag, and checksums.
func (s *objects) state(h http.Header, data string) {
	h.Set("ETag", tagOf(data))
	if s.states != nil {
		s.states(h, data)
	}
}

func tagOf(data string) string { return fmt.Sprintf("\"%x\"", md5.Sum([]byte(data))) }

// list answers with a page of the objects below a prefix.
func (s *objects) list(w http.ResponseWriter, r *http.Request) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.contents)) {
		if strings.HasPrefix(name, r.URL.Query().Get("prefix")) && name > r.URL.Query().Get("continuation-token") {
			names = append(names, name)
		}
	}
	next := ""
	if len(names) > s.page {
		names = names[:s.page]
		next = "<NextContinuationToken>" + names[s.page-1] + "</NextContinuationToken>"
	}
	fmt.Fprintf(w, "<ListBucketResult><Name>bucket</Name><KeyCount>%d</KeyCount><IsTruncated>%v</IsTruncated>%s", len(names), next != "", next)
	for _, name := range names {
		data, h := s.contents[name], http.Header{}
		s.state(h, data)
		fmt.Fprintf(w, "<Contents><Key>%s</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>%s</ETag><Size>%d</Size></Contents>", name, strings.ReplaceAll(h.Get("ETag"), `"`, "&quot;"), len(data))
	}
	fmt.Fprint(w, "</ListBucketResult>")
}
