package cloud

import (
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hanging is a server that stops answering at the first request of a kind: at "body" in the middle
// of an answer, at "busy" by refusing each request from then on.
type hanging struct {
	*memory
	at    string
	after func() // is called when it stops

	mu      sync.Mutex
	stopped bool
	end     chan struct{} // of the test
}

func (h *hanging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := kindOf(r)
	h.mu.Lock()
	first := !h.stopped && (kind == h.at || h.at == "body" && kind == "get" || h.at == "busy" && kind == "head")
	if first {
		h.stopped = true
	}
	stopped := h.stopped
	h.mu.Unlock()
	if first && h.at != "body" {
		h.after()
	}
	switch {
	case !stopped:
		h.memory.ServeHTTP(w, r)
		return
	case h.at == "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case h.at == "body" && kind == "get":
		w.Header().Set("Content-Range", "bytes 0-99999/100000")
		w.Header().Set("Content-Length", "100000")
		w.Header().Set("ETag", `"tag"`)
		w.WriteHeader(http.StatusPartialContent)
		w.Write(make([]byte, 10))
		w.(http.Flusher).Flush()
		if first {
			h.after()
		}
	}
	select {
	case <-r.Context().Done():
	case <-h.end:
	}
}

// The first Ctrl-C ends each verb, whatever it waits for from a server that answers nothing any
// more. Two seconds are the goal, and on a busy machine nothing can be measured: so the limit is
// below the 30 s after which requests end on their own.
func TestInterruptedWhileTheServerHangs(t *testing.T) {
	seed := newMemory()
	add := func(dir, to string) {
		for name, data := range files(t, dir) {
			seed.objects[to+filepath.ToSlash(name)] = kept{[]byte(data), "", time.Unix(1e9, 0)}
		}
	}
	const demo = "../testdata/demo"
	add(filepath.Join(demo, "photos"), "photos")
	add(demo, "tables")
	set := filepath.Join(t.TempDir(), "set")
	must(t, "convert", "images", photos, set, "--resize", "640", "--encode", "raw", "--shards", "2", "--quiet")
	add(set, "set")
	for name, test := range map[string]struct {
		args   string
		phases string
	}{
		"cat":            {"cat s3://bucket/set", "list head get body busy"},
		"verify":         {"verify s3://bucket/set --deep", "list get"},
		"bench":          {"bench s3://bucket/set", "get"},
		"convert images": {"convert images s3://bucket/photos OUT --resize 64", "list get body"},
		"convert csv":    {"convert csv s3://bucket/tables/penguins.csv OUT", "get"},
		"into a store":   {"convert images PHOTOS s3://bucket/out --resize 640 --encode raw", "list put begin part finish delete busy"},
		"reshard":        {"reshard s3://bucket/set s3://bucket/new --shards 3", "list get put part finish delete"},
		"clean":          {"clean s3://bucket/set", "list uploads"},
	} {
		for _, phase := range strings.Fields(test.phases) {
			t.Run(name+"/"+phase, func(t *testing.T) {
				k := &killer{at: 1 << 30}
				var began time.Time
				m := newMemory()
				m.objects = maps.Clone(seed.objects)
				h := &hanging{memory: m, at: phase, end: make(chan struct{})}
				h.after = func() {
					began = time.Now()
					k.signal(os.Interrupt)
				}
				server := httptest.NewServer(h)
				defer server.Close()
				defer close(h.end)
				useS3(t, server.URL)
				t.Setenv(prompt, "1")
				out := filepath.Join(t.TempDir(), "out")
				args := strings.Fields(strings.NewReplacer("OUT", out, "PHOTOS", photos).Replace(test.args))
				_, code, text := k.run(t, append(args, "--quiet")...)
				took := time.Since(began)
				if began.IsZero() {
					t.Fatalf("there was no such request: exit code %d\n%s", code, text)
				}
				if code != 130 || took > 30*time.Second-5*time.Second {
					t.Errorf("exit code %d after %v\n%s", code, took, text)
				}
				t.Logf("%v  %s", took.Round(time.Millisecond), text)
			})
		}
	}
	_ = slices.Sort[[]string]
	_ = fs.ErrExist
}
