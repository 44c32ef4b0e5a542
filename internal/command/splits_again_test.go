package command

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestSplitsComeBack exports sets with random splits in the formats of images, and converts what that
// wrote without a word about splits: each image is in the split that it was in.
func TestSplitsComeBack(t *testing.T) {
	for _, seed := range torture.Sample(t, 1, torture.Seeds(2, 20)) {
		temp := t.TempDir()
		splits := []string{"--splits", "train=0.5,val=0.3,test=0.2", "--seed", fmt.Sprint(seed), "--quiet"}
		drawn, photos := filepath.Join(temp, "drawn"), filepath.Join(temp, "photos")
		const detection = "../../testdata/detection"
		must(t, append([]string{"convert", "images", detection + "/images", drawn, "--annotations", detection + "/coco.json"}, splits...)...)
		must(t, append([]string{"convert", "images", filepath.Join(demo(), "photos"), photos}, splits...)...)
		for _, format := range []string{"coco", "voc", "yolo", "folders", "webdataset"} {
			set, out, again := drawn, filepath.Join(temp, format), filepath.Join(temp, "again-"+format)
			if format == "folders" || format == "webdataset" {
				set = photos
			}
			must(t, "export", set, out, "--format", format, "-q")
			args := []string{"convert", "images", out, again, "-q"}
			switch format {
			case "coco":
				lists, err := filepath.Glob(filepath.Join(out, "annotations", "*.json"))
				if err != nil || len(lists) < 2 {
					t.Fatalf("seed %d: %q, %v", seed, lists, err)
				}
				for _, list := range lists {
					args = append(args, "--annotations", list)
				}
			case "voc":
				args = append(args, "--annotations", filepath.Join(out, "Annotations"))
			case "yolo":
				args = append(args, "--annotations", out)
			case "webdataset":
				args[2] = filepath.Join(out, "*.tar")
			}
			must(t, args...)
			if got, want := splitOfImages(t, again), splitOfImages(t, set); !maps.Equal(got, want) {
				t.Errorf("seed %d, %s: %d images of %d are in other splits", seed, format, differing(got, want), len(want))
			}
		}
	}
}

func differing(got, want map[[32]byte]string) (n int) {
	for image, split := range want {
		if got[image] != split {
			n++
		}
	}
	return n
}

// splitOfImages returns the split of each image of a set, by the hash of its bytes.
func splitOfImages(t *testing.T, set string) map[[32]byte]string {
	t.Helper()
	m, err := manifest.Read(t.Context(), filepath.Join(set, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	of := map[[32]byte]string{}
	for _, split := range m.Splits {
		for _, shard := range split.Shards {
			for _, record := range settest.RecordsOf(t, filepath.Join(set, shard.File)) {
				var e tfrecord.Example
				if err := e.Parse(record); err != nil {
					t.Fatal(err)
				}
				f, _ := e.Get("image/encoded")
				image, _ := f.Bytes()
				of[sha256.Sum256(image)] = split.Name
			}
		}
	}
	if len(of) < 5 {
		t.Fatalf("%s has %d images", set, len(of))
	}
	return of
}
