package cloud

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/store/storage"
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
	kind := faultproxy.Operation(r)
	if h.at == "body" && kind == "get" {
		h.memory.ServeHTTP(&hangingBody{w, r, h}, r)
		return
	}
	h.mu.Lock()
	if kind == h.at || r.URL.Path == "/"+h.at || h.at == "busy" && kind == "head" {
		h.stop()
	}
	stopped := h.stopped
	h.mu.Unlock()
	switch {
	case !stopped:
		h.memory.ServeHTTP(w, r)
	case h.at == "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		h.wait(r)
	}
}

// stop has nothing answered any more. The caller holds h.mu.
func (h *hanging) stop() {
	if !h.stopped {
		h.stopped = true
		h.after()
	}
}

func (h *hanging) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-h.end:
	}
}

// hangingBody is an answer that stops after a few bytes.
type hangingBody struct {
	http.ResponseWriter
	request *http.Request
	of      *hanging
}

func (b *hangingBody) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(len(p), 10)])
	if err != nil {
		return n, err
	}
	b.ResponseWriter.(http.Flusher).Flush()
	b.of.mu.Lock()
	b.of.stop()
	b.of.mu.Unlock()
	b.of.wait(b.request)
	return n, io.ErrClosedPipe
}

// The first Ctrl-C ends each verb, whatever it waits for from a server that answers nothing any
// more. It takes two seconds at most; that is logged, and not tested, since the machine may be busy.
// No request ends by itself.
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
		"cat":            {"cat s3://bucket/set", "credentials list head get body busy"},
		"verify":         {"verify s3://bucket/set --deep", "list body"},
		"bench":          {"bench s3://bucket/set", "get"},
		"convert images": {"convert images s3://bucket/photos OUT --resize 64", "list get body"},
		"convert csv":    {"convert csv s3://bucket/tables/penguins.csv OUT", "body"},
		"into a store":   {"convert images PHOTOS s3://bucket/out --resize 640 --encode raw", "list put begin part finish delete busy"},
		"reshard":        {"reshard s3://bucket/set s3://bucket/new --shards 3", "part delete"},
		"clean":          {"clean s3://bucket/set", "uploads"},
	} {
		for _, phase := range strings.Fields(test.phases) {
			t.Run(name+"/"+phase, func(t *testing.T) {
				t.Parallel()
				m := newMemory()
				m.objects = maps.Clone(seed.objects)
				text, code, took := runHanging(t, &hanging{memory: m, at: phase}, test.args, func(address string) []string {
					if phase == "credentials" {
						return []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + address + "/credentials"}
					}
					return []string{"AWS_ACCESS_KEY_ID=" + testKey, "AWS_SECRET_ACCESS_KEY=" + testSecret}
				})
				if code != 130 && phase != "delete" { // which may be the last request, and no failure
					t.Errorf("exit code %d\n%s", code, text)
				}
				t.Logf("%v  %s", took.Round(time.Millisecond), text)
			})
		}
	}
}

// Google's clients fetch tokens without the context of the request that needs one.
func TestInterruptedWhileWaitingForAToken(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	h := &hanging{memory: newMemory(), at: "token"}
	text, code, took := runHanging(t, h, "cat gs://bucket/set", func(address string) []string {
		account, err := json.Marshal(map[string]string{
			"type": "service_account", "client_email": "a@b.c", "private_key_id": "1", "token_uri": address + "/token",
			"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		})
		file := filepath.Join(t.TempDir(), "account.json")
		if err := errors.Join(err, os.WriteFile(file, account, 0o600)); err != nil {
			t.Fatal(err)
		}
		return []string{"GOOGLE_APPLICATION_CREDENTIALS=" + file, "STORAGE_EMULATOR_HOST="}
	})
	if code != 130 {
		t.Errorf("exit code %d\n%s", code, text)
	}
	t.Logf("%v  %s", took.Round(time.Millisecond), text)
}

// runHanging runs the command against a server that stops answering, interrupts it then, and
// returns how long it took to end after that.
func runHanging(t *testing.T, h *hanging, args string, environment func(address string) []string) (text string, code int, took time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.end = make(chan struct{})
	stopped := make(chan struct{})
	h.after = func() { close(stopped) }
	server := httptest.NewServer(h)
	defer server.Close()
	defer close(h.end)
	out := filepath.Join(t.TempDir(), "out")
	var output strings.Builder
	c := testwait.Command(t, self, append(strings.Fields(strings.NewReplacer("OUT", out, "PHOTOS", photos).Replace(args)), "--quiet")...)
	c.Env = append(os.Environ(), actAsTfrec+"=1", prompt+"=1", storage.TimeoutVariable+"=24h", storage.MinSpeedVariable+"=0", "AWS_ENDPOINT_URL="+server.URL, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=")
	c.Env = append(c.Env, environment(server.URL)...)
	c.Stdout, c.Stderr = &output, &output
	p := testwait.Start(t, c)
	select {
	case <-stopped:
	case <-p.Done():
		t.Fatalf("it ended before there was such a request: exit code %d\n%s", c.ProcessState.ExitCode(), &output)
	}
	began := time.Now()
	p.Process.Signal(os.Interrupt)
	p.Wait()
	return output.String(), c.ProcessState.ExitCode(), time.Since(began)
}
