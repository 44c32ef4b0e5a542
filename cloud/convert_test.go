package cloud

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// One request in five refused, one in ten dropped, one body in five cut: the sets
// that are made are those of the disk, to the byte.
func TestConvertThroughFaults(t *testing.T) {
	root := t.TempDir()
	bucket := filepath.Join(root, "bucket")
	if err := os.CopyFS(bucket, os.DirFS("../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	for name, server := range map[string]struct {
		serve func(testing.TB, string) string
		use   func(testing.TB, string)
	}{"s3": {s3Server, useS3}, "gs": {gcsServer, useGCS}} {
		t.Run(name, func(t *testing.T) {
			proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Busy: 0.2, faultproxy.Drop: 0.1, faultproxy.Cut: 0.2}}
			server.use(t, faults(t, proxy, name, server.serve(t, root)))
			storage.Forget()
			here, there := t.TempDir(), t.TempDir()
			for dir, source := range map[string]string{here: bucket, there: name + "://bucket"} {
				_, err := convert.Images(t.Context(), storage.Join(source, "photos"), filepath.Join(dir, "photos"), convert.ImageOptions{
					Options: convert.Options{Shards: 3, Workers: 8}, Resize: augment.ResizeSpec{Width: 64, Height: 64, NoAntialias: true},
				})
				if err != nil {
					t.Fatal(err)
				}
				_, err = convert.CSV(t.Context(), []string{storage.Join(source, "penguins.csv")}, filepath.Join(dir, "table"), convert.CSVOptions{})
				if err != nil {
					t.Fatal(err)
				}
			}
			same(t, "photos", files(t, filepath.Join(here, "photos")), files(t, filepath.Join(there, "photos")))
			same(t, "table", files(t, filepath.Join(here, "table")), files(t, filepath.Join(there, "table")))
			if proxy.Count("") < 10 {
				t.Errorf("only few faults: %s", proxy)
			}
		})
	}
}
