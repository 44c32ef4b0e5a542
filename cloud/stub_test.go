package cloud

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// stub is a server of S3's protocol that keeps nothing of what it is sent. It answers
// one kind of request as a test wants it.
type stub struct {
	kind   string // "put", "begin", "part", "finish" or "abort"
	answer func(w http.ResponseWriter, times int) bool

	mu    sync.Mutex
	times map[string]int // requests of each kind
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	kind := map[string]string{"PUT": "put", "POST": "begin", "DELETE": "abort", "HEAD": "head"}[r.Method]
	if query.Has("uploadId") {
		kind = map[string]string{"PUT": "part", "POST": "finish", "DELETE": "abort"}[r.Method]
	}
	sum := md5.New()
	io.Copy(sum, r.Body)
	s.mu.Lock()
	s.times[kind]++
	times := s.times[kind]
	s.mu.Unlock()
	if kind == s.kind && s.answer(w, times) {
		return
	}
	switch kind {
	case "put", "part":
		w.Header().Set("ETag", fmt.Sprintf("\"%x\"", sum.Sum(nil)))
	case "begin":
		fmt.Fprint(w, "<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>x</Key><UploadId>upload</UploadId></InitiateMultipartUploadResult>")
	case "finish":
		fmt.Fprint(w, "<CompleteMultipartUploadResult><ETag>\"tag\"</ETag></CompleteMultipartUploadResult>")
	case "abort":
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// serve runs the server, and opens its bucket.
func (s *stub) serve(t testing.TB) storage.Store {
	s.times = map[string]int{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	useS3(t, server.URL)
	return opened(t, "s3://bucket")
}

// says is an answer of S3's, the first few times.
func says(times, status int, code string) func(http.ResponseWriter, int) bool {
	return func(w http.ResponseWriter, n int) bool {
		if n > times {
			return false
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>the server's words, Signature=%s</Message></Error>", code, testSecret)
		return true
	}
}

const always = 1 << 30

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		kind   string
		answer func(http.ResponseWriter, int) bool
		want   error  // nil when the object is made
		says   string // part of the error
		times  int    // requests of the kind
	}{
		"busy":                       {"put", says(2, 503, "SlowDown"), nil, "", 3},
		"an error of 200":            {"finish", says(2, 200, "InternalError"), nil, "", 3},
		"a body that came slowly":    {"part", says(1, 400, "RequestTimeout"), nil, "", 3},
		"a body that was changed":    {"part", says(1, 400, "BadDigest"), nil, "", 3},
		"another writer at work":     {"put", says(1, 409, "ConditionalRequestConflict"), nil, "", 2},
		"and with parts":             {"finish", says(1, 409, "ConditionalRequestConflict"), nil, "", 2},
		"no such bucket":             {"put", says(always, 404, "NoSuchBucket"), fs.ErrNotExist, "s3://bucket does not exist", 1},
		"and with parts there":       {"begin", says(always, 404, "NoSuchBucket"), fs.ErrNotExist, "s3://bucket does not exist", 1},
		"no permission":              {"put", says(always, 403, "AccessDenied"), fs.ErrPermission, "check the credentials", 1},
		"no permission for parts":    {"begin", says(always, 403, "AccessDenied"), fs.ErrPermission, "check the credentials", 1},
		"no conditions":              {"put", says(always, 501, "NotImplemented"), errors.ErrUnsupported, "If-None-Match", 1},
		"no conditions for parts":    {"finish", says(always, 501, "NotImplemented"), errors.ErrUnsupported, "If-None-Match", 1},
		"there is one":               {"put", says(always, 412, "PreconditionFailed"), fs.ErrExist, "s3://bucket/", 1},
		"there is one of parts":      {"finish", says(always, 412, "PreconditionFailed"), fs.ErrExist, "s3://bucket/", 1},
		"somebody discarded it":      {"finish", says(always, 404, "NoSuchUpload"), storage.ErrGone, "", 1},
		"too large for the server":   {"put", says(always, 400, "EntityTooLarge"), errors.ErrUnsupported, "EntityTooLarge", 1},
		"a bucket of another region": {"put", says(always, 301, "PermanentRedirect"), errors.ErrUnsupported, "AWS_REGION", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{kind: test.kind, answer: test.answer}
			store := s.serve(t)
			size := 100
			if test.kind != "put" {
				size = part + 1
			}
			is, err := storage.Put(t.Context(), store, "some/name", make([]byte, size), storage.CreateOptions{})
			if test.want == nil && (err != nil || is.Size != int64(size)) {
				t.Errorf("%+v, %v", is, err)
			}
			if test.want != nil {
				if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "s3://bucket/some/name") {
					t.Errorf("%v", err)
				}
				if err != nil && strings.Contains(err.Error(), testSecret) {
					t.Errorf("with what is secret: %v", err)
				}
				if (s.times["abort"] > 0) != (s.times["begin"] > 0 && test.kind != "begin") {
					t.Errorf("begun %d times, aborted %d times", s.times["begin"], s.times["abort"])
				}
			}
			if s.times[test.kind] != test.times {
				t.Errorf("asked for %d times, not %d", s.times[test.kind], test.times)
			}
		})
	}
}

// A list of more uploads than fit a page continues where the page ended.
func TestPagesOfUnfinished(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		asked = append(asked, query.Get("prefix")+" "+query.Get("key-marker")+" "+query.Get("upload-id-marker"))
		upload := func(name, id string) string {
			return "<Upload><Key>" + name + "</Key><UploadId>" + id + "</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>"
		}
		switch len(asked) {
		case 2:
			fmt.Fprint(w, "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a/x</NextKeyMarker><NextUploadIdMarker>2</NextUploadIdMarker>"+
				upload("a/x", "1")+upload("a/x", "2")+"</ListMultipartUploadsResult>")
		case 3:
			fmt.Fprint(w, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>"+upload("a/x", "3")+upload("a/y__0xa__z", "1")+"</ListMultipartUploadsResult>")
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	useS3(t, server.URL)
	var found []string
	for l, err := range opened(t, "s3://bucket").(storage.Unfinished).Unfinished(t.Context(), "a/") {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, l.Name+" "+l.ID+" "+l.Begun.Format(time.DateOnly))
	}
	if want := []string{"a/x 1 2026-01-02", "a/x 2 2026-01-02", "a/x 3 2026-01-02", "a/y\nz 1 2026-01-02"}; !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
	if want := []string{"a/  ", "a/  ", "a/ a/x 2"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}

// Eight uploads of 200 MB at a time take eight parts, and what may be on its way.
func TestMemoryOfUploads(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 1.6 GB")
	}
	store := (&stub{}).serve(t)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	stop := make(chan struct{})
	var watch, work sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				runtime.GC() // or what requests leave would count, as much as there is at that time
				runtime.ReadMemStats(&now)
				peak.Store(max(peak.Load(), now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc)))
			}
		}
	})
	record := make([]byte, 100_000)
	for i := range 8 {
		work.Go(func() {
			u, err := store.Create(t.Context(), fmt.Sprint(i), storage.CreateOptions{})
			for n := 0; err == nil && n < 2000; n++ {
				_, err = u.Write(record)
			}
			if err == nil {
				_, err = u.Commit()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	close(stop)
	watch.Wait()
	bound := uint64(8*part + storage.MaxUploading)
	t.Logf("%d MiB at most, of %d MiB that are stated", peak.Load()>>20, bound>>20)
	if peak.Load() > bound*5/4 || peak.Load() < part {
		t.Errorf("%d MiB at most: more than the %d MiB that are stated, and a quarter", peak.Load()>>20, bound>>20)
	}
}
