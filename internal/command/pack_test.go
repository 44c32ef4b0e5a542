package command

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// pack writes what is in a directory as the archive that the name of path says: tar, tar.gz,
// tar.zst or zip.
func pack(path, dir string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasSuffix(path, ".zip") {
		w := zip.NewWriter(f)
		if err := w.AddFS(os.DirFS(dir)); err != nil {
			return err
		}
		return w.Close()
	}
	out := io.WriteCloser(f)
	switch filepath.Ext(path) {
	case ".gz":
		out = gzip.NewWriter(f)
	case ".zst":
		if out, err = zstd.NewWriter(f); err != nil {
			return err
		}
	}
	w := tar.NewWriter(out)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if out != f {
		return out.Close()
	}
	return nil
}

// packedDemo returns an archive of the demo's photographs.
func packedDemo(t *testing.T, ext string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "photos"+ext)
	if err := pack(path, filepath.Join(demo(), "photos")); err != nil {
		t.Fatal(err)
	}
	return path
}
