package cloud

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// resumable is a server of Google's protocol for one object, which does what
// fake-gcs-server does not: it knows which bytes of a part it has already, keeps fewer
// than it is sent, repeats its last answer, and looks at conditions and checksums.
type resumable struct {
	fault func() string // what befalls a request: "", "refused", "lost" or "short"

	mu       sync.Mutex
	there    bool // an object that somebody else made
	have     []byte
	mark     string
	made     bool
	sessions int
	deleted  int
}

func (s *resumable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	fault := s.fault()
	if fault == "refused" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	answer := httptest.NewRecorder()
	s.serve(answer, r, body, fault == "short")
	if fault == "lost" {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

func (s *resumable) object(w http.ResponseWriter) {
	mark := s.mark
	if !s.made {
		mark = "somebody else's"
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"name": "x", "bucket": "bucket", "size": fmt.Sprint(len(s.have)), "generation": "7", "updated": "2026-01-02T03:04:05Z", "metadata": map[string]string{markName: mark},
	})
}

func (s *resumable) serve(w http.ResponseWriter, r *http.Request, body []byte, short bool) {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodGet:
		if !s.made && !s.there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.object(w)
	case r.Method == http.MethodDelete:
		s.deleted++
		w.WriteHeader(statusClosed)
	case query.Get("uploadType") == "resumable" && r.Method == http.MethodPost:
		if s.there && query.Get("ifGenerationMatch") == "0" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		var m gsMetadata
		if err := json.Unmarshal(body, &m); err != nil || m.Name != "x" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.sessions++
		s.have, s.mark, s.made = nil, m.Metadata[markName], false
		w.Header().Set("Location", fmt.Sprintf("http://%s/session/%d", r.Host, s.sessions))
	case r.URL.Path == fmt.Sprintf("/session/%d", s.sessions):
		s.part(w, r, body, short)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *resumable) part(w http.ResponseWriter, r *http.Request, body []byte, short bool) {
	var from, to int
	var total string
	if _, err := fmt.Sscanf(strings.Replace(r.Header.Get("Content-Range"), "/", " ", 1), "bytes %d-%d %s", &from, &to, &total); err != nil || from > len(s.have) || to-from+1 != len(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !s.made {
		fresh := body[len(s.have)-from:]
		if short && len(fresh) > 512<<10 {
			fresh = fresh[:256<<10]
		}
		s.have = append(s.have, fresh...)
	}
	if total == fmt.Sprint(len(s.have)) {
		sum := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(s.have, crc32.MakeTable(crc32.Castagnoli))))
		switch {
		case s.there && !s.made:
			w.WriteHeader(http.StatusPreconditionFailed)
		case r.Header.Get("X-Goog-Hash") != "crc32c="+sum:
			w.WriteHeader(http.StatusBadRequest)
		default:
			s.made = true
			s.object(w)
		}
		return
	}
	w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(s.have)-1))
	w.WriteHeader(http.StatusPermanentRedirect)
}

func (s *resumable) open(t *testing.T) storage.Store {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	useGCS(t, server.URL)
	return opened(t, "gs://bucket")
}

func TestResumableUploads(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	data := make([]byte, 3*part+1234)
	rand.NewChaCha8([32]byte{1}).Read(data)
	seen := map[string]int{}
	s := &resumable{fault: func() string {
		f := []string{"", "", "refused", "lost", "short"}[random.IntN(5)]
		seen[f]++
		return f
	}}
	store := s.open(t)
	for range 3 {
		is, err := storage.Put(t.Context(), store, "x", data, storage.CreateOptions{Replace: true})
		if err != nil || is.Size != int64(len(data)) || is.Version != "7" || !bytes.Equal(s.have, data) {
			t.Errorf("%+v, %v", is, err)
		}
		s.made = false
	}
	if len(seen) != 4 {
		t.Errorf("not all happened: %v", seen)
	}
}

func TestResumableUploadsEnd(t *testing.T) {
	s := &resumable{fault: func() string { return "" }}
	store := s.open(t)
	u, err := store.Create(t.Context(), "x", storage.CreateOptions{})
	if err == nil {
		_, err = u.Write(make([]byte, part+1))
	}
	if err != nil {
		t.Fatal(err)
	}
	u.Abort()
	if s.deleted != 1 || s.made {
		t.Errorf("aborted: deleted %d times, made: %v", s.deleted, s.made)
	}

	// Somebody else is faster: before the upload begins, and before it ends.
	for _, early := range []bool{true, false} {
		s.there = early
		u, err := store.Create(t.Context(), "x", storage.CreateOptions{})
		if err == nil {
			_, err = u.Write(make([]byte, 2*part+1))
		}
		s.mu.Lock()
		s.there = true
		s.mu.Unlock()
		if err == nil {
			_, err = u.Commit()
		}
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("early: %v: %v", early, err)
		}
	}
}
