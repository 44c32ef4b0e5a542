package cloud

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/command"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// actAsTfrec in the environment makes the test binary the command itself.
const actAsTfrec = "TFREC_TEST_MAIN"

// impatient makes the command consider others dead, and bodies slow, after seconds. Stores have
// times in whole seconds.
const impatient = "TFREC_TEST_IMPATIENT"

// patient makes it wait as long as it does for users: nobody dies.
const patient = "TFREC_TEST_PATIENT"

// prompt makes it end after an interrupt as soon as it does for users, whatever it leaves.
const prompt = "TFREC_TEST_PROMPT"

func TestMain(m *testing.M) {
	if os.Getenv(patient) == "" {
		claim.Renew, claim.Expire = time.Second, 4*time.Second // do not wait for a killed process
	}
	if os.Getenv(prompt) == "" {
		storage.CleanupAfterInterrupt = time.Minute // the machine may be busy
	}
	if os.Getenv(actAsTfrec) != "" {
		if os.Getenv(impatient) != "" {
			claim.Renew, claim.Expire = 500*time.Millisecond, 3*time.Second
			storage.SpeedWindow = 2 * time.Second
		}
		os.Exit(command.Main())
	}
	os.Exit(m.Run())
}

// tfrec runs the command and returns what it prints and its exit code.
func tfrec(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := testwait.Command(t, self, args...)
	c.Env = append(os.Environ(), actAsTfrec+"=1")
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// must is tfrec for a command that succeeds.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, text, code := tfrec(t, args...)
	if code != 0 {
		t.Fatalf("tfrec %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, text)
	}
	return out
}

// files returns what a set consists of, without the state of the machine.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".tfrec" {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func same(t *testing.T, what string, a, b map[string]string) {
	t.Helper()
	if len(a) == 0 || len(a) != len(b) {
		t.Errorf("%s: %d and %d files", what, len(a), len(b))
	}
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

// Whatever the command makes of what is in a store, it makes of the same on the disk, to the byte.
func TestCommand(t *testing.T) {
	root := t.TempDir()
	bucket := filepath.Join(root, "bucket")
	demo := "../testdata/demo"
	if err := os.CopyFS(filepath.Join(bucket, "photos"), os.DirFS(filepath.Join(demo, "photos"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(bucket, "tables"), os.DirFS(demo)); err != nil {
		t.Fatal(err)
	}
	proxy := &faultproxy.Proxy{Shares: usual}
	useS3(t, faults(t, proxy, "s3", s3Server(t, root)))
	here, there := t.TempDir(), t.TempDir()

	convert := func(src, out string) {
		must(t, "convert", "images", src, out, "--resize", "64", "--splits", "train=0.8,val=0.2", "--shards", "2", "--name", "photos", "--quiet")
	}
	convert(filepath.Join(bucket, "photos"), filepath.Join(here, "set"))
	convert("s3://bucket/photos", filepath.Join(there, "set"))
	same(t, "convert images", files(t, filepath.Join(here, "set")), files(t, filepath.Join(there, "set")))
	if out := must(t, "convert", "images", "s3://bucket/photos", filepath.Join(there, "set"), "--resize", "64", "--splits", "train=0.8,val=0.2", "--shards", "2", "--name", "photos"); !strings.Contains(out, "up to date") {
		t.Errorf("the same again: %s", out)
	}
	must(t, "convert", "csv", filepath.Join(bucket, "tables", "penguins.csv"), filepath.Join(here, "csv"), "--quiet")
	must(t, "convert", "csv", "s3://bucket/tables/peng*.csv", filepath.Join(there, "csv"), "--quiet")
	same(t, "convert csv", files(t, filepath.Join(here, "csv")), files(t, filepath.Join(there, "csv")))

	set := filepath.Join(bucket, "set")
	if err := os.CopyFS(set, os.DirFS(filepath.Join(here, "set"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify"}, {"verify", "--deep"}, {"inspect"}, {"inspect", "--records", "3", "--json"}, {"inspect", "--emit", "tf"}, {"stats"}, {"cat", "--format", "hex"},
		{"cat", "--shuffle", "global", "--seed", "3"}, {"cat", "--cycle", "2", "--shuffle", "20", "--seed", "3"}, {"index"},
	} {
		local := strings.ReplaceAll(must(t, append(args, set)...), set, "PATH")
		remote := strings.ReplaceAll(must(t, append(args, "s3://bucket/set")...), "s3://bucket/set", "PATH")
		if local != remote {
			t.Errorf("tfrec %s: of the disk\n%.2000s\nof the store\n%.2000s", strings.Join(args, " "), local, remote)
		}
	}
	for name, args := range map[string][]string{
		"reshard": {"reshard", "IN", "OUT", "--shards", "3", "--shuffle", "--seed", "5"},
		"merge":   {"merge", "IN", "OUT", "--shards", "2"},
		"filter":  {"filter", "IN", "OUT", "--where", `f["image/class/label"] >= 1`},
		"repair":  {"repair", "IN", "OUT"},
		"export":  {"export", "IN", "OUT", "--format", "folders"},
	} {
		for _, way := range []struct{ in, out string }{{set, filepath.Join(here, name)}, {"s3://bucket/set", filepath.Join(there, name)}} {
			var full []string
			for _, a := range args {
				full = append(full, strings.NewReplacer("IN", way.in, "OUT", way.out).Replace(a))
			}
			must(t, append(full, "--quiet")...)
		}
		same(t, name, files(t, filepath.Join(here, name)), files(t, filepath.Join(there, name)))
	}
	must(t, "bench", "s3://bucket/set", "--quiet")
	must(t, "diff", set, "s3://bucket/set")
	must(t, "preview", "s3://bucket/set", filepath.Join(there, "page.html"), "--quiet")
}

// What would write into a store and cannot says that it does not, and where to go.
func TestStoresAreNotWrittenTo(t *testing.T) {
	root := t.TempDir()
	set := filepath.Join(root, "bucket", "set")
	makeSet(t, set, 10)
	s3Server(t, root)
	data, err := os.ReadFile(filepath.Join(set, "set-train.tfrecord-00000-of-00002"))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "bucket", "bare.tfrecord"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, root)
	for _, args := range [][]string{
		{"repair", "s3://bucket/set", "--in-place"},
		{"repair", "s3://bucket/set", "s3://bucket/out"},
		{"dedupe", set, filepath.Join(root, "out"), "--report", "s3://bucket/dropped.jsonl"},
		{"dedupe", set, "s3://bucket/out", "--report", "s3://bucket/dropped.jsonl"},
		{"cat", set, "--save-state", "s3://bucket/state.json"},
		{"augment", "preview", "../testdata/demo/photos/none.jpg", "--augment", "hflip", "-o", "s3://bucket/sheet.png"},
	} {
		out, text, code := tfrec(t, args...)
		if code != 1 || args[0] == "cat" && out != "" || !strings.Contains(text, "s3://bucket") {
			t.Errorf("tfrec %s: exit code %d, %s", strings.Join(args, " "), code, text)
		}
	}
	same(t, "after all", before, files(t, root))
	if _, err := os.Lstat("s3:"); err == nil {
		t.Error("a folder of the name s3: was made")
		os.RemoveAll("s3:")
	}
}
