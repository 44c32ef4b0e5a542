package cloud

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// List, Stat and Open report the same version of an object, which plans rely on.
func TestVersionsAgree(t *testing.T) {
	for name, serve := range map[string]func(testing.TB, string) string{"s3": s3Server, "gs": gcsServer, "azblob": azureServerOf} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			bucket := filepath.Join(root, "bucket")
			if err := os.MkdirAll(filepath.Join(bucket, "a"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"a/x", "a/y"} {
				if err := os.WriteFile(filepath.Join(bucket, file), []byte("some bytes"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			serve(t, root)
			storage.Forget()
			objects := 0
			for listed, err := range storage.Parse(name + "://bucket/a").Walk(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				objects++
				path := name + "://bucket/a/" + listed.Name
				st, err := storage.Stat(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				f, err := storage.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				opened, err := f.Stat()
				if err != nil {
					t.Fatal(err)
				}
				f.Close()
				seen, read := st.Sys().(storage.Object).Version, opened.Sys().(storage.Object).Version
				if listed.Version == "" || listed.Version != seen || seen != read {
					t.Errorf("%s: version %q in a list, %q when looked at, %q when opened", path, listed.Version, seen, read)
				}
				data, err := storage.Parse(path).ReadListed(t.Context(), listed, nil)
				if err != nil || string(data) != "some bytes" {
					t.Errorf("%s: %q, %v", path, data, err)
				}
			}
			if objects != 2 {
				t.Errorf("%d objects in the list, want 2", objects)
			}
		})
	}
}

// An object that was replaced since it was listed is not read.
func TestReplacedSinceListed(t *testing.T) {
	root := t.TempDir()
	bucket := filepath.Join(root, "bucket")
	if err := os.Mkdir(bucket, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(bucket, "x")
	if err := os.WriteFile(file, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	s3Server(t, root)
	storage.Forget()
	for listed, err := range storage.Parse("s3://bucket").Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("two"), 0o644); err != nil {
			t.Fatal(err)
		}
		if data, err := storage.Parse("s3://bucket/x").ReadListed(t.Context(), listed, nil); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("read %q, %v", data, err)
		}
		f, err := storage.Parse("s3://bucket/x").OpenListed(t.Context(), listed)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if data, err := io.ReadAll(f); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("opened, and read %q, %v", data, err)
		}
	}
}
