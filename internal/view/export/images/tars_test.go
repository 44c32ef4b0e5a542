package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// Tars are bounded in size and of one split; their samples are all records in order.
func TestWebDatasetTarsAreBounded(t *testing.T) {
	var builds []exporttest.Build
	for i := range 50 {
		builds = append(builds, exporttest.Photo(fmt.Sprintf("a/%d.jpg", i), strings.Repeat("x", i*200)))
	}
	in, err := input.Open(context.Background(), []string{exporttest.WriteRecords(t, "images", builds...)}, &spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := &tarWriter{Files: filetree.Below(root, false, &spec.Report{}), o: &spec.Options{ImageKey: imagekey.Encoded}, images: input.ImageReader{Key: imagekey.Encoded}, limit: 20_000}
	if _, err := in.Each(context.Background(), nil, w.add); err != nil {
		t.Fatal(err)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	tars, _ := filepath.Glob(filepath.Join(dir, "train-*.tar"))
	next, bytes := 0, int64(0)
	for _, path := range tars {
		names, _ := exporttest.TarMembers(t, path)
		st, err := os.Stat(path)
		if err != nil || st.Size() > 20_000+1024 && len(names) > 2 {
			t.Errorf("%s of %d members has %d bytes, %v", path, len(names), st.Size(), err)
		}
		bytes += st.Size()
		for _, name := range names {
			if strings.HasSuffix(name, ".json") {
				if name != fmt.Sprintf("%09d.json", next) {
					t.Errorf("%s is after %d", name, next)
				}
				next++
			}
		}
	}
	if next != 50 || len(tars) < 5 || w.Report.Files != int64(len(tars)) || w.Report.Bytes != bytes {
		t.Errorf("%d samples in %d tars of %d bytes, reported %+v", next, len(tars), bytes, w.Report)
	}
}
