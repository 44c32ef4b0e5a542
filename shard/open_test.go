package shard

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(others, "README.md")
	r, err := Open(t.Context(), path, tfrecord.ReaderOptions{})
	check(t, err)
	defer r.Close()
	if _, err := r.Next(); err == nil || err == io.EOF || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name %s", err, path)
	}
	if _, err := Open(t.Context(), filepath.Join(others, "missing"), tfrecord.ReaderOptions{}); !storage.Missing(err) {
		t.Errorf("missing file: %v", err)
	}
}
