package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// store is an object store on this machine with the buckets raw, which holds photos, sets and
// staging.
type store interface {
	address() string
	// env returns the variables that have a container use the store at an address.
	env(address string) []string
	// set returns the objects below photos/ in the bucket sets.
	set(t *testing.T) map[string]string
	// remove removes one of them.
	remove(t *testing.T, name string)
}

// buckets makes a directory with a directory for each bucket.
func buckets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "raw", "photos"), os.DirFS(photos)); err != nil {
		t.Fatal(err)
	}
	for _, empty := range []string{"sets", "staging"} {
		if err := os.Mkdir(filepath.Join(dir, empty), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// s3 is an S3 server, whose buckets are directories.
type s3 struct{ dir, url string }

// newS3 starts a server that takes these keys.
func newS3(t *testing.T, key, secret string) s3 {
	t.Helper()
	dir := buckets(t)
	return s3{dir, serve(t, "versitygw", func(port string) []string {
		return []string{"--access", key, "--secret", secret, "--region", "us-east-1", "--port", "127.0.0.1:" + port, "posix", dir}
	})}
}

func (s s3) address() string { return s.url }

func (s s3) env(address string) []string {
	return []string{"AWS_ENDPOINT_URL=" + address, "AWS_EC2_METADATA_DISABLED=true"}
}

func (s s3) set(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(s.dir, "sets", "photos")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return filesBelow(t, dir)
}

func (s s3) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.dir, "sets", "photos", name)); err != nil {
		t.Fatal(err)
	}
}

// gcs is a server of Google's protocol, whose objects are in memory.
type gcs struct{ url string }

func newGCS(t *testing.T) gcs {
	t.Helper()
	dir := buckets(t)
	return gcs{serve(t, "fake-gcs-server", func(port string) []string {
		return []string{"-scheme", "http", "-host", "127.0.0.1", "-port", port,
			"-public-host", "127.0.0.1:" + port, "-backend", "memory", "-data", dir}
	})}
}

func (g gcs) address() string { return g.url }

func (g gcs) env(address string) []string {
	return []string{"STORAGE_EMULATOR_HOST=" + strings.TrimPrefix(address, "http://")}
}

func (g gcs) set(t *testing.T) map[string]string {
	t.Helper()
	var list struct {
		Items         []struct{ Name string }
		NextPageToken string
	}
	if err := json.Unmarshal(g.do(t, "sets", http.MethodGet, "?prefix=photos/&maxResults=10000"), &list); err != nil || list.NextPageToken != "" {
		t.Fatal("a list of one page is expected: ", err)
	}
	objects := map[string]string{}
	for _, item := range list.Items {
		data := g.do(t, "sets", http.MethodGet, "/"+url.PathEscape(item.Name)+"?alt=media")
		objects[strings.TrimPrefix(item.Name, "photos/")] = string(data)
	}
	return objects
}

func (g gcs) remove(t *testing.T, name string) {
	t.Helper()
	g.do(t, "sets", http.MethodDelete, "/"+url.PathEscape("photos/"+name))
}

// do sends a request for the objects of a bucket, or one of them, and returns the answer.
func (g gcs) do(t *testing.T, bucket, method, of string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, g.url+"/storage/v1/b/"+bucket+"/o"+of, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s, %v: %.200s", method, r.URL, response.Status, err, data)
	}
	return data
}
