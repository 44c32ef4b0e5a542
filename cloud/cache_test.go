package cloud

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// counting is a proxy in front of a server of S3's protocol that counts what it is
// asked for.
type counting struct {
	data  atomic.Int64 // answers with contents
	looks atomic.Int64 // at an object
}

func (c *counting) before(t testing.TB, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: func(r *http.Response) error {
			_, name, _ := strings.Cut(strings.TrimPrefix(r.Request.URL.Path, "/"), "/")
			switch {
			case r.Request.Method == http.MethodHead:
				c.looks.Add(1)
			case name != "" && r.StatusCode < 300: // and no list, nor what is not there
				c.data.Add(1)
			}
			return nil
		},
	})
	t.Cleanup(s.Close)
	return s.URL
}

// settle has the files of a directory be an hour old: the server knows the versions of
// those that it did not write itself by their times.
func settle(t testing.TB, dir string) {
	t.Helper()
	hourAgo := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, hourAgo, hourAgo)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What was read once is read again without a request for contents, by other
// processes and in other orders, and is the same; unless it was replaced.
func TestCache(t *testing.T) {
	root := t.TempDir()
	set := filepath.Join(root, "bucket", "set")
	makeSet(t, set, 4000)
	settle(t, set)
	requests := new(counting)
	useS3(t, requests.before(t, s3Server(t, root)))
	cache := filepath.Join(t.TempDir(), "objects")

	cat := func(path string) string {
		return must(t, "cat", path, "--format", "hex", "--cache-dir", cache, "--cache-size", "64MiB")
	}
	want := cat(set)
	for _, round := range []string{"cold", "warm"} {
		requests.data.Store(0)
		requests.looks.Store(0)
		if got := cat("s3://bucket/set"); got != want {
			t.Errorf("%s: the records are not those on disk", round)
		}
		data, looks := requests.data.Load(), requests.looks.Load()
		if (data == 0) != (round == "warm") || looks == 0 {
			t.Errorf("%s: %d requests for contents, %d for versions", round, data, looks)
		}
	}

	storage.Forget()
	stop, err := UseCache(CacheOptions{Dir: cache, Note: func(s string) { t.Error(s) }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	requests.data.Store(0)
	for name, order := range orders {
		want, n := digest(t, set, order)
		if got, m := digest(t, "s3://bucket/set", order); got != want || n != m {
			t.Errorf("%s: %d records, not those of the %d on disk", name, m, n)
		}
	}
	if n := requests.data.Load(); n > 0 {
		t.Errorf("%d requests for contents, in a third process", n)
	}

	shards, err := filepath.Glob(filepath.Join(set, "*.tfrecord-*"))
	if err != nil || len(shards) != 2 {
		t.Fatal(shards, err)
	}
	for i := range shards { // each gets the other's records
		data, err := os.ReadFile(shards[i])
		if err == nil {
			err = os.WriteFile(shards[i]+".new", data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range shards {
		if err := os.Rename(shards[1-i]+".new", name); err != nil {
			t.Fatal(err)
		}
		twoHoursAgo := time.Now().Add(-2 * time.Hour) // an older version is another one, too
		if err := os.Chtimes(name, twoHoursAgo, twoHoursAgo); err != nil {
			t.Fatal(err)
		}
	}
	if got := cat("s3://bucket/set/*.tfrecord-*"); got == want || len(got) != len(want) || got != cat(set+"/*.tfrecord-*") {
		t.Error("replaced objects were taken from the cache")
	}
}

// Images come from a cache in their listed versions, without a request for each.
func TestCacheOfImages(t *testing.T) {
	root := t.TempDir()
	photos := filepath.Join(root, "bucket", "photos")
	if err := os.CopyFS(photos, os.DirFS("../testdata/demo/photos")); err != nil {
		t.Fatal(err)
	}
	settle(t, photos)
	requests := new(counting)
	useS3(t, requests.before(t, s3Server(t, root)))
	here := t.TempDir()
	convert := func(src, out string) {
		must(t, "convert", "images", src, filepath.Join(here, out), "--resize", "64", "--name", "photos", "--cache-dir", filepath.Join(here, "objects"))
	}
	convert(photos, "local")
	for _, round := range []string{"cold", "warm"} {
		requests.data.Store(0)
		requests.looks.Store(0)
		convert("s3://bucket/photos", round)
		same(t, round, files(t, filepath.Join(here, "local")), files(t, filepath.Join(here, round)))
		data, looks := requests.data.Load(), requests.looks.Load()
		if (data == 0) != (round == "warm") || looks > 4 {
			t.Errorf("%s: %d requests for contents, %d for versions", round, data, looks)
		}
	}
}

// The same names on another server, and the same times and sizes, are other objects.
func TestCacheTellsServersApart(t *testing.T) {
	stop, err := UseCache(CacheOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	then := time.Now().Add(-time.Hour)
	for _, want := range []string{"here", "away"} {
		root := t.TempDir()
		file := filepath.Join(root, "bucket", "x")
		if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
		s3Server(t, root)
		for range 2 {
			storage.Forget()
			if got, err := storage.ReadFile(t.Context(), "s3://bucket/x", 10); err != nil || string(got) != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
	}
}

// Faults on the way leave nothing in a cache but what the store has.
func TestCacheBehindFaults(t *testing.T) {
	root := t.TempDir()
	large := filepath.Join(root, "bucket", "large")
	if err := os.MkdirAll(filepath.Dir(large), 0o755); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("0123456789abcdefg"), 1<<20)
	if err := os.WriteFile(large, want, 0o644); err != nil {
		t.Fatal(err)
	}
	settle(t, root)
	proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Busy: 0.2, faultproxy.Drop: 0.1, faultproxy.Cut: 0.4}}
	useS3(t, faults(t, proxy, "s3", s3Server(t, root)))
	storage.Forget()
	stop, err := UseCache(CacheOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for range 2 {
		if got, err := storage.ReadFile(t.Context(), "s3://bucket/large", 1<<30); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if proxy.Count("") == 0 {
		t.Error("nothing broke")
	}
}

// What package storage takes for a version by time begins as such ones do here.
func TestVersionsByTime(t *testing.T) {
	if v := versionOr("", time.Now(), 1); !strings.HasPrefix(v, storage.Modified) {
		t.Errorf("version %q", v)
	}
}
