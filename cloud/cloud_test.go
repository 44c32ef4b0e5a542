package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// makeSet writes a set of small records into dir: two shards, with indexes.
func makeSet(t *testing.T, dir string, records int) {
	t.Helper()
	out, err := shard.OpenDir(context.Background(), dir, shard.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i := range 2 {
		w, err := out.Create(fmt.Sprintf("set-train.tfrecord-%05d-of-00002", i), shard.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range records / 2 {
			var b tfrecord.Builder
			b.Int64("number", int64(i*records/2+n))
			b.Bytes("blob", bytes.Repeat([]byte{byte(n)}, n%5000))
			if err := w.WriteRecord(b.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// digest reads a set in an order, and hashes what came.
func digest(t *testing.T, path string, order func(*reader.Set) reader.Pipe) (string, int) {
	t.Helper()
	set, err := reader.Open(t.Context(), path, reader.Options{Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	h, n := sha256.New(), 0
	for record, err := range order(set).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		h.Write(record.Data)
		n++
	}
	return hex.EncodeToString(h.Sum(nil)), n
}

var orders = map[string]func(*reader.Set) reader.Pipe{
	"interleaved": func(s *reader.Set) reader.Pipe { return s.Interleave(2, 3) },
	"shuffled":    func(s *reader.Set) reader.Pipe { return s.Interleave(2, 1).Shuffle(100) },
	"global":      func(s *reader.Set) reader.Pipe { return s.ShuffleAll(reader.ShuffleAllOptions{}) },
}

func TestSetsInStores(t *testing.T) {
	servers := map[string]struct {
		serve func(t testing.TB, dir string) string
		use   func(t testing.TB, address string)
		url   string
	}{
		"s3":     {s3Server, useS3, "s3://bucket/sets/one"},
		"gs":     {gcsServer, useGCS, "gs://bucket/sets/one"},
		"azblob": {azureServerOf, useAzure, "azblob://bucket/sets/one"},
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			local := filepath.Join(root, "bucket", "sets", "one")
			makeSet(t, local, 4000)
			if err := os.RemoveAll(filepath.Join(local, shard.StateDir)); err != nil {
				t.Fatal(err)
			}
			address := server.serve(t, root)
			proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Busy: 0.2, faultproxy.Drop: 0.1, faultproxy.Cut: 0.2}}
			for _, through := range []string{"", "faults"} {
				if through != "" {
					server.use(t, faults(t, proxy, name, address))
				}
				storage.Forget()
				for order, pipe := range orders {
					want, n := digest(t, local, pipe)
					got, m := digest(t, server.url, pipe)
					if got != want || n != m || n != 4000 {
						t.Errorf("%s %s: %d records, not those of the %d on disk", order, through, m, n)
					}
				}
				report, err := verify.Files(t.Context(), []string{server.url}, verify.Options{})
				if err != nil || len(report.Faults) > 0 {
					t.Errorf("%s: verify: %v, %v", through, err, report)
				}
			}
			if proxy.Count("") < 10 {
				t.Errorf("only few faults: %s", proxy)
			}
		})
	}
}

func TestWhatGoesWrong(t *testing.T) {
	root := t.TempDir()
	bucket := filepath.Join(root, "bucket")
	if err := os.MkdirAll(bucket, 0o755); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(bucket, "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte("abc"), 10<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	// Of files that the server did not write itself it knows no ETag, and a time
	// in whole seconds.
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(large, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	s3Server(t, root)
	storage.Forget()

	if _, err := storage.Open(t.Context(), "s3://bucket/nothing"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "s3://bucket/nothing") {
		t.Errorf("no such object: %v", err)
	}
	if _, err := storage.Open(t.Context(), "s3://no-such-bucket/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such bucket: %v", err)
	}

	if err := os.WriteFile(filepath.Join(bucket, "empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if data, err := storage.ReadFile(t.Context(), "s3://bucket/empty", 10); err != nil || len(data) > 0 {
		t.Errorf("an empty object: %q, %v", data, err)
	}

	f, err := storage.Open(t.Context(), "s3://bucket/large")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	replacement := filepath.Join(root, "replacement")
	if err := os.WriteFile(replacement, bytes.Repeat([]byte("xyz"), 10<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacement, large); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, f); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("an object that was replaced while it was read: %v", err)
	}

	t.Setenv("AWS_SECRET_ACCESS_KEY", "another-that-must-not-be-seen")
	storage.Forget()
	_, err = storage.Open(t.Context(), "s3://bucket/large")
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "not-be-seen") {
		t.Errorf("with wrong credentials: %v", err)
	}
}

func TestListsOfManyPages(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bucket", "many")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2500 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s3Server(t, root)
	storage.Forget()
	entries, err := storage.ReadDir(t.Context(), "s3://bucket/many")
	if err != nil || len(entries) != 2500 || entries[2499].Name() != "02499" {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	found, err := storage.Glob(t.Context(), "s3://bucket/many/0?000")
	if err != nil || len(found) != 3 {
		t.Errorf("glob: %q, %v", found, err)
	}
}

// A machine without a role is asked for one, and nothing is said on the command's stderr.
func TestQuietWithoutCredentials(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer metadata.Close()
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.URL)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "none"))
	}
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	stderr := os.Stderr
	os.Stderr = said
	_, err = openS3(t.Context(), "bucket")
	os.Stderr = stderr
	if err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(said.Name()); err != nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMemory(t *testing.T) {
	if _, err := storage.ReadDir(t.Context(), "mem://store"); err != nil {
		t.Error(err)
	}
	if _, err := storage.Open(t.Context(), "mem://store/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
