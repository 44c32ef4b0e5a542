package cloud

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// setIn returns a server with a set, whose shards are larger than what has a checksum, and the set
// on the disk.
func setIn(t *testing.T) (all *objects, dir string) {
	dir = filepath.Join(t.TempDir(), "set")
	makeSet(t, dir, 2000)
	all = &objects{contents: map[string]string{}, page: 100}
	for name, data := range files(t, dir) {
		all.contents["set"+filepath.ToSlash(name)] = data
		if isShard(name) && len(data) < 300<<10 {
			t.Fatalf("%s has only %d bytes", name, len(data))
		}
	}
	return all, dir
}

// Bits that flip on the way to a reader of records, of which no store states checksums, change
// nothing: with and without a cache, and for every verb that reads records.
func TestFlippedBitsInRecords(t *testing.T) {
	all, dir := setIn(t)
	(&badCache{server: all}).serve(t)
	verbs := map[string][]string{
		"verify": {"verify", "--deep"}, "sample": {"verify", "--sample", "100"}, "stats": {"stats"},
		"cat": {"cat", "--format", "hex"},
	}
	cached := []string{"--cache-dir", filepath.Join(t.TempDir(), "cache")}
	for name, args := range verbs {
		want := must(t, append(args, dir)...)
		flags := [][]string{nil}
		if name == "cat" {
			flags = append(flags, cached, cached)
		}
		for i, more := range flags {
			out, text, code := tfrec(t, append(append(args, "s3://bucket/set"), more...)...)
			if name == "cat" && out != want || code != 0 {
				t.Errorf("%s %v: exit code %d, %s%d bytes of output, want %d", name, more, code, text, len(out), len(want))
			}
			if noted := strings.Contains(text, "changed in transit"); noted != (i < 2) {
				t.Errorf("%s %v: a note is %v: %s", name, more, noted, text)
			}
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	must(t, "reshard", "s3://bucket/set", out, "--shards", "3", "--shuffle", "--seed", "1")
	local := filepath.Join(t.TempDir(), "out")
	must(t, "reshard", dir, local, "--shards", "3", "--shuffle", "--seed", "1")
	for name, data := range files(t, local) {
		if got, err := os.ReadFile(out + name); isShard(name) && (err != nil || string(got) != data) {
			t.Errorf("reshard: %s differs", name)
		}
	}
	for name, order := range orders {
		want, n := digest(t, dir, order)
		storage.Forget()
		if got, m := digest(t, "s3://bucket/set", order); got != want || n != m {
			t.Errorf("%s: %d records, want %d", name, m, n)
		}
	}
	if events(t, "s3://bucket/set") == 0 {
		t.Error("a reader logged no event")
	}
}

// Damage that a cache kept is found when the records are read, and dropped: the next reader finds
// none.
func TestFlippedBitsInACache(t *testing.T) {
	all, dir := setIn(t)
	proxy := &badCache{server: all}
	proxy.serve(t)
	cache := filepath.Join(t.TempDir(), "cache")
	cat := []string{"cat", "s3://bucket/set", "--format", "hex", "--cache-dir", cache}
	want := must(t, "cat", dir, "--format", "hex")
	// Who reads bytes and no records does not notice.
	stop, err := UseCache(CacheOptions{Dir: cache})
	if err != nil {
		t.Fatal(err)
	}
	harmed := false
	for name, data := range all.contents {
		storage.Forget()
		f, err := storage.Open(t.Context(), "s3://bucket/"+name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		harmed = harmed || string(got) != data
	}
	stop()
	if !harmed {
		t.Fatal("no bits flipped")
	}
	proxy.good.Store(true)
	for round, noted := range []bool{true, false} {
		out, text, _ := tfrec(t, cat...)
		if out != want || strings.Contains(text, "in transit or in a cache") != noted {
			t.Errorf("round %d: %d bytes, want %d; %s", round, len(out), len(want), text)
		}
	}
}

// Damage of the object itself is reported as before, and requests that fetch bytes again are none
// that caches on the way may answer.
func TestDamageIsAskedForAroundCaches(t *testing.T) {
	all, _ := setIn(t)
	name := "set/set-train.tfrecord-00000-of-00002"
	data := []byte(all.contents[name])
	data[len(data)/2] ^= 1
	all.contents[name] = string(data)
	proxy := &badCache{server: all}
	proxy.good.Store(true)
	proxy.serve(t)
	out, text, code := tfrec(t, "verify", "s3://bucket/set")
	if code != 3 || !strings.Contains(out, "data_crc") || strings.Contains(text+out, "transit") || proxy.around.Load() != 1 {
		t.Errorf("exit code %d, %d requests around caches:\n%s%s", code, proxy.around.Load(), out, text)
	}
}

// shaking puts a proxy in front of a server, which flips a bit of each answer for objects of some
// names, each time another one.
func shaking(t *testing.T, server http.Handler, names func(name string) bool) {
	p := &faultproxy.Proxy{Seed: torture.Rand(t).Uint64(), Shares: faultproxy.Shares{faultproxy.Flip: 1}, Backend: server}
	p.Only = func(_ faultproxy.Kind, r *http.Request) bool { return names(r.URL.Path) }
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	useS3(t, s.URL)
}

// Records that never arrive as the store has them are a failure of transport, for each verb for which
// damage of the data has an exit code of its own.
func TestDamageInTransitIsNoFault(t *testing.T) {
	all, _ := setIn(t)
	for _, command := range []string{
		"verify ROOT/set --deep", "cat ROOT/set --skip-bad 3 --format hex", "stats ROOT/set", "inspect ROOT/set", "diff ROOT/set ROOT/set --unordered",
		"preview ROOT/set LOCAL/page.html", "repair ROOT/set LOCAL/out", "export ROOT/set LOCAL/out.csv --format csv", "reshard ROOT/set LOCAL/out", "index ROOT/set --force",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := &faultproxy.Proxy{Seed: torture.Rand(t).Uint64(), Shares: faultproxy.Shares{faultproxy.Flip: 1}}
			p.Only = func(_ faultproxy.Kind, r *http.Request) bool { return isShard(r.URL.Path) }
			got := inMemory(t, command, inBucketOf(all.contents), p)
			if got.code != 1 || !transport.MatchString(got.text) {
				t.Errorf("exit code %d: %s\n%.300s", got.code, got.text, got.out)
			}
			for name := range got.files {
				if strings.HasPrefix(name, "LOCAL") {
					t.Errorf("it left %s", name)
				}
			}
		})
	}
}

func isShard(name string) bool {
	return strings.Contains(name, ".tfrecord-") && !strings.HasSuffix(name, ".idx")
}

// badCache is in front of a server, and flips a bit in the middle of each answer to a request for an
// image or a shard that a cache may answer.
type badCache struct {
	server *objects
	good   atomic.Bool  // flips nothing any more
	around atomic.Int64 // requests that a cache may not answer
	suffix string       // of the names of other objects whose answers are harmed
	least  int          // answers of fewer bytes are not
	at     int          // the byte that is harmed; 0: the one in the middle
}

func (c *badCache) serve(t *testing.T) {
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	useS3(t, server.URL)
}

func (c *badCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	c.server.ServeHTTP(answer, r)
	data := answer.Body.Bytes()
	switch name := r.URL.Path; {
	case r.Header.Get("Cache-Control") == "no-cache":
		c.around.Add(1)
	case r.Method == http.MethodGet && (strings.HasSuffix(name, ".png") || isShard(name)) && !c.good.Load():
		data[len(data)/2] ^= 1
	case c.suffix != "" && r.Method == http.MethodGet && strings.HasSuffix(name, c.suffix) && !c.good.Load() && len(data) > max(c.at, c.least):
		at := c.at
		if at == 0 {
			at = len(data) / 2
		}
		data[at] ^= 1
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(data)
}

// Images that cannot be decoded since bits flipped, and of which the store states no checksum, are
// read once more, and a shard is hashed again.
func TestFlippedBitsInImages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "photos")
	all := &objects{contents: map[string]string{}, page: 100, states: func(h http.Header, data string) { h.Set("ETag", fmt.Sprintf("\"%d-1\"", len(data))) }}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		m := image.NewRGBA(image.Rect(0, 0, 40+i, 40))
		for n := range m.Pix {
			m.Pix[n] = byte(random.Uint32()) | 3
		}
		var data bytes.Buffer
		if err := png.Encode(&data, m); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprint(i%2), fmt.Sprint(i)+".png")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		all.contents[fmt.Sprintf("photos/%d/%d.png", i%2, i)] = data.String()
	}
	(&badCache{server: all}).serve(t)
	local, out := filepath.Join(t.TempDir(), "local"), filepath.Join(t.TempDir(), "out")
	must(t, "convert", "images", dir, local, "--resize", "16")
	_, text, code := tfrec(t, "convert", "images", "s3://bucket/photos", out, "--resize", "16", "--max-errors", "0")
	if code != 0 || !strings.Contains(text, "changed in transit") {
		t.Fatalf("exit code %d: %s", code, text)
	}
	for name, data := range files(t, local) {
		if got, err := os.ReadFile(out + name); isShard(name) && (err != nil || string(got) != data) {
			t.Errorf("%s differs", name)
		}
	}

	// If other bits flip each time, the network is at fault: no image is taken for unusable.
	shaking(t, all, func(name string) bool { return strings.HasSuffix(name, ".png") })
	none := filepath.Join(t.TempDir(), "none")
	_, text, code = tfrec(t, "convert", "images", "s3://bucket/photos", none, "--resize", "16", "--max-errors", "100%")
	if code != 1 || !strings.Contains(text, "other bytes arrive each time") {
		t.Errorf("other bits each time: exit code %d: %s", code, text)
	}
	if _, err := os.Stat(filepath.Join(none, "errors.jsonl")); err == nil {
		t.Error("other bits each time: there is a ledger")
	}

	// The hashes in a manifest are those of the right bytes.
	set := &objects{contents: map[string]string{}, page: 100, states: all.states}
	for name, data := range files(t, local) {
		set.contents["set"+filepath.ToSlash(name)] = data
	}
	(&badCache{server: set}).serve(t)
	if _, text, code := tfrec(t, "verify", "s3://bucket/set"); code != 0 || !strings.Contains(text, "changed in transit") {
		t.Errorf("verify: exit code %d: %s", code, text)
	}
}
