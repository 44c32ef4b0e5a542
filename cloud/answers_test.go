package cloud

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// A page of HTML of status 200 is no answer of a store: the request is made again, whatever it is
// for. So an object is what was written, and gone when it was removed.
func TestPagesOfHTML(t *testing.T) {
	for kind, server := range stores {
		t.Run(kind, func(t *testing.T) {
			var mu sync.Mutex
			pages := map[string]int{}
			p := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Page: 1}, Only: func(_ faultproxy.Kind, r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				operation := faultproxy.Operation(r)
				pages[operation]++
				return pages[operation] <= 2
			}}
			if kind == "s3" {
				p.Backend = newMemory()
				s := httptest.NewServer(p)
				t.Cleanup(s.Close)
				useS3(t, s.URL)
			} else {
				server.use(t, faults(t, p, kind, server.serve(t)))
			}
			store := opened(t, kind+"://bucket")
			for name, data := range map[string][]byte{"small": []byte("some bytes"), "large": bytes.Repeat([]byte("0123456789abcdef"), part/16+1)} {
				clear(pages)
				if is, err := storage.Put(t.Context(), store, name, data, storage.CreateOptions{}); err != nil || is.Size != int64(len(data)) {
					t.Fatalf("%s: %+v, %v", name, is, err)
				}
				if is, err := storage.Look(t.Context(), store, name); err != nil || is.Size != int64(len(data)) {
					t.Errorf("%s: %+v, %v", name, is, err)
				}
				if got, err := storage.ReadFile(t.Context(), kind+"://bucket/"+name, 1<<30); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(data), err)
				}
				if err := store.Remove(t.Context(), name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if _, err := storage.Look(t.Context(), store, name); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s was removed: %v", name, err)
				}
			}
			if p.Count(faultproxy.Page) < 8 {
				t.Errorf("only few pages: %s", p)
			}
		})
	}
}

// Pages of HTML that do not end are an error that names the server and what came.
func TestPagesOfHTMLThatDoNotEnd(t *testing.T) {
	s := httptest.NewServer(&faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Page: 1}})
	t.Cleanup(s.Close)
	useS3(t, s.URL)
	store := opened(t, "s3://bucket")
	_, looked := store.Stat(t.Context(), "x")
	_, _, read := store.Open(t.Context(), "x", "", 0, 100)
	_, _, known := store.Open(t.Context(), "x", `"a"`, 0, 100)
	for _, err := range []error{looked, read, known} {
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:") || !strings.Contains(err.Error(), "status 200 (text/html) without an ETag") {
			t.Errorf("%v", err)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrChanged) {
			t.Errorf("%v: it says something of the object", err)
		}
	}
}
