package cloud

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// A process that dies at any request, before or after it was executed, leaves a set that another
// one completes, in another directory on another machine, with the same bytes as on disk. Nothing
// is left of interrupted uploads.
func TestConversionsIntoStoresAreKilled(t *testing.T) {
	images, err := filepath.Abs(photos)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"convert", "images", images, "--resize", "640", "--encode", "raw", "--splits", "train=0.8,val=0.2", "--shards", "2", "--quiet"}
	local := filepath.Join(t.TempDir(), "set")
	must(t, append(args, local)...)
	want := files(t, local)
	for name, server := range stores {
		t.Run(name, func(t *testing.T) {
			address := server.serve(t)
			url := name + "://bucket/set"
			t.Setenv(impatient, "1")
			random := rand.New(rand.NewPCG(7, 7))
			kills, unfinished := 0, 0
			for round := 0; ; round++ {
				p := &killer{at: 1 + random.IntN(20+10*round), after: random.IntN(2) == 0}
				server.use(t, faults(t, &faultproxy.Proxy{Break: p.seen}, name, address))
				for _, name := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME"} {
					t.Setenv(name, t.TempDir())
				}
				t.Chdir(t.TempDir())
				killed, code, text := p.run(t, append(args, url)...)
				server.use(t, address)
				storage.Forget()
				if !killed {
					if code != 0 {
						t.Fatalf("behind %d that were killed: exit code %d\n%s", kills, code, text)
					}
					break
				}
				unfinished += left(t, url)
				if kills++; kills%4 != 0 { // which is waited for
					forgetClaims(t, url)
				}
			}
			if kills < 3 || name == "s3" && unfinished == 0 {
				t.Errorf("%d were killed, with %d uploads of parts under way", kills, unfinished)
			}
			same(t, "the set of those that were killed", want, inBucket(t, url))
			nothingLeft(t, url)
			must(t, "verify", url)
		})
	}
}

// Interrupting a run while it uploads parts leaves none of them in the store.
func TestInterruptedOnTheWayIntoAStore(t *testing.T) {
	root := bucketDirectory(t)
	address := s3Server(t, root)
	var parts atomic.Int32
	heard := make(chan struct{})
	k := &killer{at: 1 << 30}
	p := &faultproxy.Proxy{Break: func(r *http.Request, after bool) bool {
		if r.URL.Query().Get("partNumber") == "" {
			return k.seen(r, after)
		}
		// The first part arrives and is not answered, and others do not even arrive, before the
		// process has heard. Otherwise it could finish the shard first, and rightly keep it; or the
		// store could finish a part after it has discarded the upload, and then keeps that.
		switch {
		case after:
			k.signal(os.Interrupt)
			<-r.Context().Done() // the process has given up the request
			close(heard)
		case parts.Add(1) == 1:
			return false
		default: // whose bodies are not read, so that their contexts do not end
			select {
			case <-heard:
			case <-t.Context().Done():
			}
		}
		return true
	}}
	useS3(t, faults(t, p, "s3", address))
	_, code, text := k.run(t, "convert", "images", photos, "s3://bucket/set", "--resize", "640", "--encode", "raw", "--quiet")
	useS3(t, address)
	if code != 130 {
		t.Errorf("exit code %d\n%s", code, text)
	}
	storage.Forget()
	nothingLeft(t, "s3://bucket/set")
	if made := inBucket(t, "s3://bucket/set"); len(made) > 0 {
		t.Errorf("files were made: %q", slices.Sorted(maps.Keys(made)))
	}
}

// left returns how many unfinished uploads into a set the store lists.
func left(t *testing.T, url string) (n int) {
	t.Helper()
	store, name, err := storage.Parse(url).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keeps, ok := store.(storage.Unfinished)
	if !ok {
		return 0
	}
	for _, err := range keeps.Unfinished(t.Context(), name) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// forgetClaims removes the claims of dead processes, which would expire.
func forgetClaims(t *testing.T, url string) {
	t.Helper()
	store, name, err := storage.Parse(url).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for o, err := range store.List(t.Context(), name+"/.tfrec/claims/", true) {
		if err == nil {
			err = store.Remove(t.Context(), o.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// killer ends the process whose requests it sees.
type killer struct {
	at    int  // the request, from 1 on
	after bool // after it was executed

	mu      sync.Mutex
	process *os.Process
	n       int
}

// seen is called before and after each request. It reports whether the connection is to break.
func (k *killer) seen(_ *http.Request, after bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if after == k.after {
		k.n++
	}
	if k.n < k.at {
		return false
	}
	k.process.Kill()
	return true
}

func (k *killer) signal(s os.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process.Signal(s)
}

// run runs the command until it ends, or is ended.
func (k *killer) run(t *testing.T, args ...string) (killed bool, code int, text string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := testwait.Command(t, self, args...)
	c.Env = append(os.Environ(), actAsTfrec+"=1")
	c.Stdout, c.Stderr = &out, &out
	k.mu.Lock()
	err = c.Start()
	k.process = c.Process
	k.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	c.Wait()
	return c.ProcessState.ExitCode() < 0, c.ProcessState.ExitCode(), out.String()
}
