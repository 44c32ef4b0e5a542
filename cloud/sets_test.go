package cloud

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/store/storage"
)

const photos = "../testdata/demo/photos"

// inBucket returns what is in a directory of a store, without the state.
func inBucket(t *testing.T, url string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for o, err := range storage.Parse(url).Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(o.Name, ".tfrec/") {
			continue
		}
		data, err := storage.ReadFile(t.Context(), storage.Join(url, o.Name), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		found["/"+o.Name] = string(data)
	}
	return found
}

// nothingLeft reports claims and unfinished uploads in a directory of a store.
func nothingLeft(t *testing.T, url string) {
	t.Helper()
	store, name, err := storage.Parse(url).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"claims", "together"} {
		for o, err := range store.List(t.Context(), name+"/.tfrec/"+dir+"/", true) {
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s is left", o.Name)
		}
	}
	if keeps, ok := store.(storage.Unfinished); ok {
		for l, err := range keeps.Unfinished(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("an upload of %s is left", l.Name)
		}
	}
}

// convertPhotos are the arguments that make a set of the demo's photographs.
func convertPhotos(out string, more ...string) []string {
	return append([]string{"convert", "images", photos, out, "--resize", "64", "--splits", "train=0.8,val=0.2", "--shards", "3"}, more...)
}

// What is written into a store is, to the byte, what is written on a disk; and the
// store holds all that another machine has to know of it.
func TestSetsIntoStores(t *testing.T) {
	local := t.TempDir()
	must(t, convertPhotos(filepath.Join(local, "photos"), "--quiet")...)
	must(t, "convert", "csv", "../testdata/demo/penguins.csv", filepath.Join(local, "csv"), "--shards", "2", "--shuffle", "--quiet")
	for name, server := range stores {
		t.Run(name, func(t *testing.T) {
			server.serve(t)
			storage.Forget()
			url := name + "://bucket/deep/sets"
			must(t, convertPhotos(url+"/photos", "--quiet")...)
			must(t, "convert", "csv", "../testdata/demo/penguins.csv", url+"/csv", "--shards", "2", "--shuffle", "--quiet")
			for _, set := range []string{"photos", "csv"} {
				same(t, set, files(t, filepath.Join(local, set)), inBucket(t, url+"/"+set))
				nothingLeft(t, url+"/"+set)
				must(t, "verify", url+"/"+set, "--quiet")
			}
			t.Setenv("HOME", t.TempDir())
			t.Setenv("TMPDIR", t.TempDir())
			if out := must(t, convertPhotos(url+"/photos", "--json")...); !strings.Contains(out, `"up_to_date"`) {
				t.Errorf("again, on another machine: %s", out)
			}
			if out := must(t, "clean", url+"/photos"); !strings.Contains(out, "nothing is left") {
				t.Errorf("clean: %s", out)
			}
		})
	}
	t.Run("mem", func(t *testing.T) { // it lives as long as the process
		storage.Forget()
		o := convert.ImageOptions{Resize: augment.ResizeSpec{Width: 64, Height: 64}}
		o.Shards = 3
		here := filepath.Join(local, "here")
		for _, out := range []string{here, "mem://bucket/here"} {
			if _, err := convert.Images(t.Context(), photos, out, o); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "mem", files(t, here), inBucket(t, "mem://bucket/here"))
	})
}

// A run that is killed with its uploads under way is taken up by the next, which
// waits until it is sure that the first is dead.
func TestKilledOnTheWayIntoAStore(t *testing.T) {
	local, root := t.TempDir(), bucketDirectory(t)
	args := func(out string) []string {
		return []string{"convert", "images", photos, out, "--resize", "256", "--encode", "raw", "--shards", "6", "--workers", "1", "--name", "photos"}
	}
	must(t, append(args(local), "--quiet")...)
	address := s3Server(t, root)
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	useS3(t, faults(t, &faultproxy.Proxy{Break: func(r *http.Request, after bool) bool {
		if after || r.Method == http.MethodGet || r.Method == http.MethodHead || !strings.HasSuffix(r.URL.Path, "/set/manifest.json") {
			return false
		}
		<-over // nobody is done before being killed
		return true
	}}, "s3", address))
	t.Cleanup(end)
	storage.Forget()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for kill := range 2 {
		c := testwait.Command(t, self, append(args("s3://bucket/set"), "--quiet")...)
		c.Env = append(os.Environ(), actAsTfrec+"=1")
		p := testwait.Start(t, c)
		testwait.Until(func() bool {
			there, _ := filepath.Glob(filepath.Join(root, "bucket", "set", "photos-train*"))
			return len(there) > kill || p.Ended()
		})
		p.Process.Kill()
		p.Wait()
	}
	if _, err := os.Stat(filepath.Join(root, "bucket", "set", "manifest.json")); err == nil {
		t.Fatal("it was done before it was killed")
	}
	end()
	useS3(t, address)
	t.Setenv(patient, "1") // or the claim could expire before this one starts, on a busy machine
	_, text, code := tfrec(t, args("s3://bucket/set")...)
	if code != 0 || !strings.Contains(text, "waiting up to") {
		t.Errorf("exit code %d, %s", code, text)
	}
	same(t, "after two kills", files(t, local), inBucket(t, "s3://bucket/set"))
	nothingLeft(t, "s3://bucket/set")
}

// Tasks that are processes of their own make one set, also when each of them runs
// twice at the same time.
func TestTasksIntoAStore(t *testing.T) {
	t.Setenv(patient, "1") // six processes at once on a busy machine
	local := t.TempDir()
	must(t, convertPhotos(local, "--quiet", "--name", "photos")...)
	s3Server(t, bucketDirectory(t))
	storage.Forget()
	const url = "s3://bucket/set"
	const tasks = 3
	var running sync.WaitGroup
	for i := range 2 * tasks {
		running.Go(func() {
			_, text, code := tfrec(t, convertPhotos(url, "--quiet", "--name", "photos", "--task", fmt.Sprint(i%tasks), "--tasks", fmt.Sprint(tasks))...)
			if code != 0 {
				t.Errorf("task %d: exit code %d, %s", i%tasks, code, text)
			}
		})
	}
	running.Wait()
	must(t, "finalize", url, "--quiet")
	same(t, "of tasks", files(t, local), inBucket(t, url))
	nothingLeft(t, url)
}

// A server that refuses, drops and loses answers changes nothing of a set.
func TestSetsThroughFaults(t *testing.T) {
	local := t.TempDir()
	must(t, convertPhotos(local, "--quiet", "--name", "photos")...)
	proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Busy: 0.2, faultproxy.Drop: 0.05, faultproxy.Lose: 0.05, faultproxy.Cut: 0.1}}
	useS3(t, faults(t, proxy, "s3", s3Server(t, bucketDirectory(t))))
	storage.Forget()
	must(t, convertPhotos("s3://bucket/set", "--quiet", "--name", "photos")...)
	same(t, "through faults", files(t, local), inBucket(t, "s3://bucket/set"))
	nothingLeft(t, "s3://bucket/set")
	if proxy.Count("") < 20 {
		t.Errorf("only few faults: %s", proxy)
	}
}

// TensorFlow and TFDS read what is in the directory of the S3 server's bucket.
func TestTensorFlowReadsWhatIsInAStore(t *testing.T) {
	const python = "../.venv/bin/python"
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no TensorFlow: %v (`make venv` installs it)", err)
	}
	root := bucketDirectory(t)
	s3Server(t, root)
	storage.Forget()
	must(t, convertPhotos("s3://bucket/set", "--quiet", "--name", "photos")...)
	const program = `
import glob, sys
import tensorflow as tf, tensorflow_datasets as tfds
out = sys.argv[1]
ours = sum(1 for _ in tf.data.TFRecordDataset(sorted(glob.glob(out + "/photos-*.tfrecord-*"))))
b = tfds.builder_from_directory(out)
theirs = sum(1 for s in b.info.splits for _ in b.as_dataset(split=s))
print(ours, theirs)
`
	c := testwait.Command(t, python, "-c", program, filepath.Join(root, "bucket", "set"))
	c.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=3", "CUDA_VISIBLE_DEVICES=-1")
	var text strings.Builder
	c.Stderr = &text
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, text.String())
	}
	images := 0
	for name := range files(t, photos) {
		if filepath.Ext(name) == ".jpg" {
			images++
		}
	}
	if want := fmt.Sprintf("%d %[1]d\n", images); string(out) != want {
		t.Errorf("TensorFlow and TFDS read %q records, want %q", out, want)
	}
}
