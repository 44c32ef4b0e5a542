package cloud

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
)

// memory is a server of S3's protocol that keeps one bucket in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string]kept
	uploads map[string]*uploading // by id
	begun   int
}

type kept struct {
	data  []byte
	mark  string
	since time.Time
}

// uploading is an upload in parts that is not finished.
type uploading struct {
	name, mark string
	parts      map[int][]byte
}

func newMemory() *memory {
	return &memory{objects: map[string]kept{}, uploads: map[string]*uploading{}}
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
	id := r.URL.Query().Get("uploadId")
	upload := m.uploads[id]
	switch sum := r.Header.Get("X-Amz-Content-Sha256"); {
	case len(sum) == 64 && sum != fmt.Sprintf("%x", sha256.Sum256(body)):
		failS3(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
		return
	case id != "" && upload == nil:
		failS3(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	switch faultproxy.Operation(r) {
	case "list":
		m.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter"))
	case "uploads":
		fmt.Fprint(w, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>")
		for _, id := range slices.Sorted(maps.Keys(m.uploads)) {
			if u := m.uploads[id]; strings.HasPrefix(u.name, r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>", u.name, id)
			}
		}
		fmt.Fprint(w, "</ListMultipartUploadsResult>")
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
		m.begun++
		id := fmt.Sprint("upload", m.begun)
		m.uploads[id] = &uploading{name, mark, map[int][]byte{}}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case "part":
		n := 0
		fmt.Sscan(r.URL.Query().Get("partNumber"), &n)
		upload.parts[n] = body
		w.Header().Set("ETag", tagOf(string(body)))
	case "finish":
		var data []byte
		for _, n := range slices.Sorted(maps.Keys(upload.parts)) {
			data = append(data, upload.parts[n]...)
		}
		if m.make(w, r, upload.name, kept{data, upload.mark, time.Now()}) {
			fmt.Fprintf(w, "<CompleteMultipartUploadResult><ETag>%s</ETag></CompleteMultipartUploadResult>", tagOf(string(data)))
			delete(m.uploads, id)
		}
	case "abort":
		delete(m.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case "delete":
		delete(m.objects, name)
		w.WriteHeader(http.StatusNoContent)
	}
}

// failS3 answers with an error of S3.
func failS3(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
}

// make makes an object, unless there is one and there must be none.
func (m *memory) make(w http.ResponseWriter, r *http.Request, name string, o kept) (made bool) {
	if _, ok := m.objects[name]; ok && r.Header.Get("If-None-Match") == "*" {
		failS3(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return false
	}
	w.Header().Set("ETag", tagOf(string(o.data)))
	m.objects[name] = o
	return true
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
