package cloud

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// costs are commands by what they read: IN is a set, photographs or a table in a store or on a disk,
// OUT is beside it, and LOCAL on the disk.
var costs = []struct{ name, in, command string }{
	{"verify", "set", "verify IN -q"},
	{"index", "set", "index IN --force -q"},
	{"reshard to a disk", "set", "reshard IN LOCAL --shards 2 -q"},
	{"reshard", "set", "reshard IN OUT --shards 2 -q"},
	{"reshard shuffle", "set", "reshard IN OUT --shards 2 --shuffle --seed 1 -q"},
	{"stats", "kept", "stats IN -q"},
	{"export parquet", "kept", "export IN OUT.parquet --format parquet -q"},
	{"convert images", "photos", "convert images IN OUT --resize 224 -q"},
	{"convert keep", "photos", "convert images IN OUT --encode keep -q"},
	{"convert csv", "table.csv", "convert csv IN OUT -q"},
}

// BenchmarkCPUOfVerbs runs verbs as processes on an S3 server, in turn with the same on a disk. Per
// GB of the input it reports the processor time of the process in seconds, that as a multiple of the
// time on a disk, and its requests; and the bytes that it receives and sends by the byte of input.
func BenchmarkCPUOfVerbs(b *testing.B) {
	root, set := largeSet(b)
	disk := filepath.Dir(set)
	fill(b, disk)
	var through traffic
	address, err := url.Parse(s3Server(b, root))
	if err != nil {
		b.Fatal(err)
	}
	through.to = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(address)
		r.Out.Host = r.In.Host // it is signed
	}, ErrorLog: log.New(io.Discard, "", 0)} // of requests that are cancelled
	server := httptest.NewServer(&through)
	defer server.Close()
	useS3(b, server.URL)
	runs := 0
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			run := func(place string) time.Duration {
				runs++
				out, local := fmt.Sprintf("out%d", runs), filepath.Join(b.TempDir(), "local")
				took := timeOf(b, strings.NewReplacer("IN", place+"/"+c.in, "OUT", place+"/"+out, "LOCAL", local).Replace(c.command))
				for _, made := range []string{filepath.Join(disk, out), filepath.Join(disk, out+".parquet"), local} {
					if err := os.RemoveAll(made); err != nil {
						b.Fatal(err)
					}
				}
				return took
			}
			size := sizeOf(b, filepath.Join(disk, c.in))
			run("s3://bucket")
			through.reset()
			var stored, onDisk time.Duration
			rounds := 0
			for b.Loop() {
				rounds++
				onDisk += run(disk)
				stored += run("s3://bucket")
			}
			gb := float64(size) * float64(rounds) / 1e9
			b.ReportMetric(stored.Seconds()/gb, "s/GB")
			b.ReportMetric(stored.Seconds()/onDisk.Seconds(), "of-disk")
			b.ReportMetric(float64(through.requests.Load())/gb, "requests/GB")
			b.ReportMetric(float64(through.received.Load())/1e9/gb, "received/byte")
			b.ReportMetric(float64(through.sent.Load())/1e9/gb, "sent/byte")
		})
	}
}

// fill puts the inputs of costs beside the set.
func fill(b *testing.B, disk string) {
	b.Helper()
	for name, data := range files(b, photos) {
		for i := range 25 {
			path := filepath.Join(disk, "photos", filepath.Dir(name), fmt.Sprintf("%d-%s", i, filepath.Base(name)))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	table := bytes.NewBufferString("number,text,share\n")
	for i := range 1_000_000 {
		fmt.Fprintf(table, "%d,the text of row %d,%.6f\n", random.Uint32(), i, random.Float64())
	}
	if err := os.WriteFile(filepath.Join(disk, "table.csv"), table.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	timeOf(b, "convert images "+filepath.Join(disk, "photos")+" "+filepath.Join(disk, "kept")+" --encode keep -q")
}

// timeOf is that of a command of tfrec, which must succeed.
func timeOf(b *testing.B, command string) time.Duration {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(self, strings.Fields(command)...)
	c.Env = append(os.Environ(), actAsTfrec+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", command, err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// sizeOf is the size of the files at path, without the state of a machine.
func sizeOf(b *testing.B, path string) (n int64) {
	b.Helper()
	for _, data := range files(b, path) {
		n += int64(len(data))
	}
	return n
}

// traffic counts what goes to a server and comes from it.
type traffic struct {
	to                       http.Handler
	requests, received, sent atomic.Int64
}

func (t *traffic) reset() {
	t.requests.Store(0)
	t.received.Store(0)
	t.sent.Store(0)
}

func (t *traffic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.requests.Add(1)
	r.Body = countedBody{r.Body, &t.sent}
	t.to.ServeHTTP(countedAnswer{w, &t.received}, r)
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

type countedAnswer struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c countedAnswer) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}
