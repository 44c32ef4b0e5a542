package coco

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// A compressed file in an object store is read, and one that is cut short is not.
func TestReadFromStore(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(one(box)))
	z.Close()
	s := storagetest.New()
	s.Put("a/instances.json.gz", packed.Bytes())
	s.Put("a/cut.json.gz", packed.Bytes()[:packed.Len()-20])
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)

	set, err := Read(t.Context(), "mem://store/a/instances.json.gz", annotation.Options{})
	if err != nil || len(set.Images[1].Objects) != 1 || set.Images[1].Source != "instances.json.gz" {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := Read(t.Context(), "mem://store/a/cut.json.gz", annotation.Options{}); err == nil || !strings.Contains(err.Error(), "mem://store/a/cut.json.gz: ") || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut: %v", err)
	}
	s.Fault = func(string, string) error { return fs.ErrPermission }
	if _, err := Read(t.Context(), "mem://store/a/instances.json.gz", annotation.Options{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("refused: %v", err)
	}
}
