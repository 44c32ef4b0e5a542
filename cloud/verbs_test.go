package cloud

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// writers are verbs that write to a place which is a directory of shards, a set or empty: what is
// there before, and their arguments, in which AT is the place.
var writers = map[string]struct{ before, args string }{
	"append":     {"set", "append AT MORE"},
	"adopt":      {"bare", "adopt AT --name birds"},
	"renamed":    {"bare", "adopt AT --name birds --rename"},
	"index":      {"bare", "index AT --force"},
	"folders":    {"", "export SET AT --format folders"},
	"webdataset": {"", "export SET AT --format webdataset"},
	"parquet":    {"", "export SET AT/deep/table.parquet --format parquet"},
	"preview":    {"", "preview SET AT/page.html --samples 5 --overwrite"},
}

// writing has the inputs of writers, and what they make on a disk.
type writing struct {
	before map[string]map[string]string // by the kind of what is there
	set    string
	more   string
	want   map[string]map[string]string // by the name of the writer
}

func (w *writing) args(name, at string) []string {
	return append(strings.Fields(strings.NewReplacer("AT", at, "SET", w.set, "MORE", w.more).Replace(writers[name].args)), "--quiet")
}

func newWriting(t *testing.T) *writing {
	t.Helper()
	dir := t.TempDir()
	w := &writing{before: map[string]map[string]string{}, set: filepath.Join(dir, "set"), more: filepath.Join(dir, "more"), want: map[string]map[string]string{}}
	// Shards and tars above 8 MiB are uploaded in parts.
	must(t, "convert", "images", photos, w.set, "--resize", "320", "--encode", "raw", "--splits", "train=0.8,val=0.2", "--name", "photos", "--quiet")
	must(t, "take", w.set, w.more, "--count", "10", "--name", "photos", "--quiet")
	w.before["set"] = files(t, w.set)
	w.before["bare"] = map[string]string{}
	for name, data := range w.before["set"] {
		if strings.HasPrefix(name, "/photos-") {
			w.before["bare"][strings.Replace(name, "photos", "birds", 1)[:len("/birds-train")]+".tfrecord"] = data
		}
	}
	for name, v := range writers {
		at := filepath.Join(dir, "made", name)
		if err := os.MkdirAll(filepath.Join(at, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(v.args, "SET AT --") {
			at = filepath.Join(at, "out")
		}
		for file, data := range w.before[v.before] {
			path := filepath.Join(at, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		must(t, w.args(name, at)...)
		w.want[name] = files(t, at)
	}
	return w
}

// begin puts what is there before into a store.
func (w *writing) begin(t *testing.T, name, url string) {
	t.Helper()
	storage.Forget()
	store, at, err := storage.Parse(url).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range w.before[writers[name].before] {
		if _, err := storage.Put(t.Context(), store, at+file, []byte(data), storage.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// What verbs write into a store is what they write onto a disk, to the byte, whatever happens on
// the way, and nothing else is left.
func TestVerbsIntoStores(t *testing.T) {
	w := newWriting(t)
	for _, kind := range []string{"s3", "gs"} {
		t.Run(kind, func(t *testing.T) {
			proxy := &faultproxy.Proxy{Shares: usual, Only: unlessAppended(kind)}
			address := stores[kind].serve(t)
			for name := range writers {
				url := kind + "://bucket/" + name
				stores[kind].use(t, address)
				w.begin(t, name, url)
				stores[kind].use(t, faults(t, proxy, kind, address))
				must(t, w.args(name, url)...)
				stores[kind].use(t, address)
				same(t, name, w.want[name], downloaded(t, url))
				nothingLeft(t, url)
			}
			if proxy.Count("") < 10 {
				t.Errorf("only few faults: %s", proxy)
			}
		})
	}
}

// A verb that is killed at any request leaves what the same verb makes right, to the byte.
func TestVerbsIntoStoresAreKilled(t *testing.T) {
	w := newWriting(t)
	address := stores["s3"].serve(t)
	t.Setenv(impatient, "1")
	random := rand.New(rand.NewPCG(3, 3))
	for _, name := range []string{"append", "renamed", "folders", "webdataset", "parquet"} {
		url := "s3://bucket/" + name
		stores["s3"].use(t, address)
		w.begin(t, name, url)
		kills := 0
		for round := 0; ; round++ {
			p := &killer{at: 8 + random.IntN(10+20*round), after: random.IntN(2) == 0}
			stores["s3"].use(t, faults(t, &faultproxy.Proxy{Break: p.seen}, "s3", address))
			killed, code, text := p.run(t, w.args(name, url)...)
			stores["s3"].use(t, address)
			storage.Forget()
			if !killed {
				if code != 0 {
					t.Fatalf("%s: after %d that were killed: exit code %d\n%s", name, kills, code, text)
				}
				break
			}
			kills++
			forgetClaims(t, url)
		}
		if kills == 0 && name != "parquet" {
			t.Errorf("%s: none was killed", name)
		}
		same(t, name+" of those that were killed", w.want[name], downloaded(t, url))
		if name != "parquet" { // whose parts a rule of the bucket removes
			nothingLeft(t, url)
		}
	}
}
