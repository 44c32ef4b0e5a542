package cloud

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory is a server of S3's protocol that keeps one bucket in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string]kept
	uploads map[string]map[int][]byte // parts by number, of unfinished uploads by name
	marks   map[string]string         // of those uploads
}

type kept struct {
	data  []byte
	mark  string
	since time.Time
}

func newMemory() *memory {
	return &memory{objects: map[string]kept{}, uploads: map[string]map[int][]byte{}, marks: map[string]string{}}
}

// kindOf is what a request is for: "list", "head", "get", "put", "begin", "part", "finish",
// "delete", "abort" or "uploads".
func kindOf(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && query.Has("list-type"):
		return "list"
	case r.Method == http.MethodGet && query.Has("uploads"):
		return "uploads"
	case query.Has("uploadId"):
		return map[string]string{"PUT": "part", "POST": "finish", "DELETE": "abort"}[r.Method]
	}
	return map[string]string{"GET": "get", "HEAD": "head", "PUT": "put", "POST": "begin", "DELETE": "delete"}[r.Method]
}

func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket"), "/")
	mark := r.Header.Get("X-Amz-Meta-" + markName)
	switch kindOf(r) {
	case "list":
		m.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter"))
	case "uploads":
		fmt.Fprint(w, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>")
	case "get", "head":
		o, ok := m.objects[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", tagOf(string(o.data)))
		w.Header().Set("X-Amz-Meta-"+markName, o.mark)
		http.ServeContent(w, r, "", o.since, bytes.NewReader(o.data))
	case "put":
		m.make(w, r, name, kept{body, mark, time.Now()})
	case "begin":
		m.uploads[name], m.marks[name] = map[int][]byte{}, mark
		fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>upload</UploadId></InitiateMultipartUploadResult>")
	case "part":
		n := 0
		fmt.Sscan(r.URL.Query().Get("partNumber"), &n)
		if parts, ok := m.uploads[name]; ok {
			parts[n] = body
		}
		w.Header().Set("ETag", tagOf(string(body)))
	case "finish":
		var data []byte
		for _, n := range slices.Sorted(maps.Keys(m.uploads[name])) {
			data = append(data, m.uploads[name][n]...)
		}
		fmt.Fprint(w, "<CompleteMultipartUploadResult>")
		m.make(w, r, name, kept{data, m.marks[name], time.Now()})
		fmt.Fprintf(w, "<ETag>%s</ETag></CompleteMultipartUploadResult>", tagOf(string(data)))
		delete(m.uploads, name)
	case "abort":
		delete(m.uploads, name)
		w.WriteHeader(http.StatusNoContent)
	case "delete":
		delete(m.objects, name)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (m *memory) make(w http.ResponseWriter, r *http.Request, name string, o kept) {
	if _, ok := m.objects[name]; ok && r.Header.Get("If-None-Match") == "*" {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	w.Header().Set("ETag", tagOf(string(o.data)))
	m.objects[name] = o
}

type listEntry struct {
	Key, LastModified, ETag string
	Size                    int
}

type listResult struct {
	XMLName        xml.Name `xml:"ListBucketResult"`
	IsTruncated    bool
	KeyCount       int
	Contents       []listEntry
	CommonPrefixes []struct{ Prefix string }
}

func (m *memory) list(w http.ResponseWriter, prefix, delimiter string) {
	var l listResult
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if first, _, below := strings.Cut(rest, cmp.Or(delimiter, "\x00")); below {
			dir := struct{ Prefix string }{prefix + first + delimiter}
			if n := len(l.CommonPrefixes); n == 0 || l.CommonPrefixes[n-1] != dir {
				l.CommonPrefixes = append(l.CommonPrefixes, dir)
			}
			continue
		}
		o := m.objects[name]
		l.Contents = append(l.Contents, listEntry{name, o.since.UTC().Format("2006-01-02T15:04:05.000Z"), tagOf(string(o.data)), len(o.data)})
	}
	l.KeyCount = len(l.Contents) + len(l.CommonPrefixes)
	xml.NewEncoder(w).Encode(l)
}
