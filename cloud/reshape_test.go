package cloud

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// downloaded returns what a set in a store consists of, without the state of runs.
func downloaded(t *testing.T, url string) map[string]string {
	t.Helper()
	storage.Forget()
	found := map[string]string{}
	for o, err := range storage.Parse(url).Walk(t.Context()) {
		if errors.Is(err, fs.ErrNotExist) {
			break // there is nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains("/"+o.Name, "/"+shard.StateDir+"/") {
			continue
		}
		data, err := storage.Parse(url+"/"+o.Name).ReadListed(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		found["/"+o.Name] = string(data)
	}
	return found
}

// makePeople writes a set of records with features that verbs can go by: some 3 MB in
// two splits.
func makePeople(t *testing.T, dir string) {
	t.Helper()
	out, err := shard.OpenDir(t.Context(), dir, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i, name := range []string{"people-train.tfrecord-00000-of-00002", "people-train.tfrecord-00001-of-00002", "people-val.tfrecord-00000-of-00001"} {
		w, err := out.Create(name, shard.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 500 {
			var b tfrecord.Builder
			b.Int64("age", int64(n*7919%100))
			b.Bytes("kind", []byte([]string{"cat", "dog", "owl"}[n%3]))
			b.Bytes("blob", bytes.Repeat([]byte{byte(n % 50), byte(i)}, 1000))
			if err := w.WriteRecord(b.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// reshapings are one of each kind: the arguments before and after IN and OUT.
var reshapings = map[string][2]string{
	"reshard":  {"reshard", "--shards 3"},
	"shuffled": {"reshard", "--shards 3 --shuffle --seed 5"},
	"spilled":  {"reshard", "--shards 3 --shuffle --seed 5 --memory 1MB --compression gzip"},
	"sorted":   {"reshard", "--sort-by age --records-per-shard 200"},
	"grouped":  {"reshard", "--group-by kind --shards 2"},
	"merge":    {"merge", "--shards 2"},
	"split":    {"split", "--splits train=0.7,val=0.2,test=0.1 --seed 1"},
	"filter":   {"filter", "--where f[\"age\"]>=50"},
	"sample":   {"sample", "--count 100 --seed 1"},
	"take":     {"take", "--count 700"},
	"dedupe":   {"dedupe", "--by blob"},
	"select":   {"features select", "--keys age,kind"},
	"drop":     {"features drop", "--keys blob"},
	"zstd":     {"reshard", "--shards 2 --compression zstd"},
}

func reshaping(name, in, out string) []string {
	r := reshapings[name]
	args := append(strings.Fields(r[0]), in, out)
	return append(append(args, strings.Fields(r[1])...), "--name", "people", "--quiet")
}

// What the verbs that make a new set write into a store is what they write onto a
// disk, to the byte, whatever happens on the way.
func TestReshapeIntoStores(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	makePeople(t, set)
	want := map[string]map[string]string{}
	here := t.TempDir()
	for name := range reshapings {
		must(t, reshaping(name, set, filepath.Join(here, name))...)
		want[name] = files(t, filepath.Join(here, name))
	}
	for _, kind := range []string{"s3", "gs"} {
		t.Run(kind, func(t *testing.T) {
			proxy := &faultproxy.Proxy{Shares: usual, Only: unlessAppended(kind)}
			stores[kind].use(t, faults(t, proxy, kind, stores[kind].serve(t)))
			root := kind + "://bucket"
			for name := range reshapings {
				if kind != "s3" && !slices.Contains([]string{"spilled", "grouped", "merge", "filter"}, name) {
					continue
				}
				must(t, reshaping(name, set, root+"/"+name)...)
				same(t, name, want[name], downloaded(t, root+"/"+name))
				if name != "grouped" && name != "merge" {
					continue
				}
				if out := must(t, append(reshaping(name, set, root+"/"+name), "--json")...); !strings.Contains(out, `"status":"up_to_date"`) {
					t.Errorf("%s: the same again: %s", name, out)
				}
			}
			// From store to store; an existing output is refused.
			must(t, reshaping("shuffled", root+"/merge", root+"/again")...)
			must(t, reshaping("shuffled", filepath.Join(here, "merge"), filepath.Join(here, "again"))...)
			same(t, "from a store", files(t, filepath.Join(here, "again")), downloaded(t, root+"/again"))
			for want, args := range map[string][]string{
				"made from other inputs or options": append(reshaping("take", set, root+"/merge"), "--seed", "9"),
				"give a directory elsewhere":        reshaping("take", root+"/merge", root+"/merge/sub"),
				"cannot be replaced in one step":    append(reshaping("take", set, root+"/merge"), "--overwrite"),
				"exists and is not empty":           reshaping("take", set, root),
			} {
				_, text, code := tfrec(t, args...)
				if code != 1 || !strings.Contains(text, want) {
					t.Errorf("tfrec %s: exit code %d, %s; want %q", strings.Join(args, " "), code, text, want)
				}
			}
			same(t, "behind all that", want["merge"], downloaded(t, root+"/merge"))
			if proxy.Count("") < 10 {
				t.Errorf("only few faults: %s", proxy)
			}
		})
	}
}

// watched is a proxy that calls then with each request, whose body is read, and with its
// number, from 1 on, and refuses it, as when credentials expire, if that says so.
type watched struct {
	then     func(request int64, r *http.Request) (refused bool)
	requests atomic.Int64
}

func (p *watched) before(t *testing.T, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if p.then(p.requests.Add(1), r) {
			http.Error(w, "expired", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A run that is refused from some request on leaves no manifest, one that is interrupted
// leaves nothing, one that is killed what it has; and the same run again makes the set.
func TestReshapeIntoStoresIsCutShort(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	makePeople(t, set)
	local := filepath.Join(t.TempDir(), "out")
	must(t, reshaping("shuffled", set, local)...)
	want := files(t, local)
	address := stores["s3"].serve(t)
	t.Setenv(impatient, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The run makes some 50 requests, most shards are there after 20.
	for name, at := range map[string][]int64{"refused": {30}, "interrupted": {4, 16, 30}, "killed": {20}} {
		for _, at := range at {
			out := fmt.Sprintf("s3://bucket/%s%d", name, at)
			c := testwait.Command(t, self, reshaping("shuffled", set, out)...)
			begun, heard := make(chan struct{}), make(chan struct{})
			proxy := &watched{then: func(n int64, r *http.Request) bool {
				<-begun
				switch {
				case n < at:
				case name == "refused":
					return true
				case name == "killed":
					c.Process.Kill()
				case name == "interrupted" && n == at:
					c.Process.Signal(os.Interrupt)
					<-r.Context().Done() // the process gives the request up
					close(heard)
					return true
				case name == "interrupted":
					// Nothing is done until the process has heard, and then only what it cleans up
					// with, while it renews its claim. It gives up what would make something.
					makes := r.Method == http.MethodPut || r.Method == http.MethodPost && !r.URL.Query().Has("delete")
					if makes && !strings.Contains(r.URL.Path, place.ClaimsDir) {
						<-r.Context().Done()
						return true
					}
					<-heard
				}
				return false
			}}
			useS3(t, proxy.before(t, address))
			c.Env = append(os.Environ(), actAsTfrec+"=1")
			var text bytes.Buffer
			c.Stderr = &text
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			close(begun)
			c.Wait()
			useS3(t, address)
			left := downloaded(t, out)
			switch code := c.ProcessState.ExitCode(); {
			case proxy.requests.Load() < at:
				t.Errorf("%s: done after %d requests", out, proxy.requests.Load())
			case name == "refused" && (code != 1 || left["/"+manifest.File] != ""):
				t.Errorf("%s: exit code %d, %s; left %d files", out, code, text.String(), len(left))
			case name == "interrupted" && (code != 130 || len(left) > 0):
				t.Errorf("%s: exit code %d, %s; left %d files", out, code, text.String(), len(left))
			case name == "killed" && code != -1:
				t.Errorf("%s: exit code %d, %s", out, code, text.String())
			}
			must(t, reshaping("shuffled", set, out)...)
			same(t, "again, behind "+out, want, downloaded(t, out))
		}
	}
}
