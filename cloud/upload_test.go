package cloud

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/storage/storagetest"
)

const part = 8 << 20

// stores are the kinds of stores that are tested, each empty.
var stores = map[string]func(t testing.TB) string{
	"mem": func(t testing.TB) string { return "mem://bucket" },
	"s3": func(t testing.TB) string {
		root := bucketFolder(t)
		s3Server(t, root)
		return "s3://bucket"
	},
	"gs": func(t testing.TB) string {
		gcsServer(t, bucketFolder(t))
		return "gs://bucket"
	},
	"azblob": func(t testing.TB) string {
		azureServer(t, "bucket")
		return "azblob://bucket"
	},
}

// bucketFolder returns a folder with an empty bucket in it.
func bucketFolder(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// opened opens a store anew.
func opened(t testing.TB, url string) storage.Store {
	t.Helper()
	storage.Forget()
	s, _, err := storage.At(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	for name, serve := range stores {
		t.Run(name, func(t *testing.T) {
			traits := storagetest.Traits{Part: part, Names: storagetest.OddNames, Listed: 2300}
			storagetest.Conformance(t, opened(t, serve(t)), traits)
		})
	}
}
