package command

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestSplitsComeBack exports sets with random splits in the formats of images, and converts what that
// wrote without a word about splits: each image is in the split that it was in. Where that is not so,
// for splits of other names, the export says it, and so does the conversion if it can know.
func TestSplitsComeBack(t *testing.T) {
	usual := []string{"train", "val", "test"}
	others := []string{"train", "val", "test", "validation", "dev", "trainval", "fold1", "a", "b"}
	for _, seed := range torture.Sample(t, 2, torture.Seeds(6, 60)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		pool, n := usual, 3
		if seed%2 == 1 {
			pool, n = others, 1+rng.IntN(3)
		}
		var names, shares []string
		for _, i := range rng.Perm(len(pool))[:n] {
			names = append(names, pool[i])
			shares = append(shares, pool[i])
		}
		for i, share := range [][]string{{"1"}, {"0.5", "0.5"}, {"0.4", "0.3", "0.3"}}[n-1] {
			shares[i] += "=" + share
		}
		temp := t.TempDir()
		splits := []string{"--splits", strings.Join(shares, ","), "--seed", fmt.Sprint(seed), "--quiet"}
		drawn, photos := filepath.Join(temp, "drawn"), filepath.Join(temp, "photos")
		const detection = "../../testdata/detection"
		must(t, append([]string{"convert", "images", detection + "/images", drawn, "--annotations", detection + "/coco.json"}, splits...)...)
		must(t, append([]string{"convert", "images", filepath.Join(demo(), "photos"), photos}, splits...)...)
		for _, format := range []string{"coco", "voc", "yolo", "folders", "webdataset"} {
			set, out, again := drawn, filepath.Join(temp, format), filepath.Join(temp, "again-"+format)
			if format == "folders" || format == "webdataset" {
				set = photos
			}
			exported, err := tfrec(t, "export", set, out, "--format", format).CombinedOutput()
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, format, err, exported)
			}
			args := []string{"convert", "images", out, again}
			switch format {
			case "coco":
				lists, err := filepath.Glob(filepath.Join(out, "annotations", "*.json"))
				if err != nil || len(lists) == 0 {
					t.Fatalf("seed %d: %q, %v", seed, lists, err)
				}
				for _, list := range lists {
					if seed%2 == 1 {
						list = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(list), "instances_"), ".json") + "=" + list
					}
					args = append(args, "--annotations", list)
				}
			case "voc":
				args = append(args, "--annotations", filepath.Join(out, "Annotations"))
			case "yolo":
				args = append(args, "--annotations", out)
			case "webdataset":
				args[2] = filepath.Join(out, "*.tar")
			}
			converted, err := tfrec(t, args...).CombinedOutput()
			lost := 0
			if err == nil {
				got, want := splitOfImages(t, again), splitOfImages(t, set)
				lost = differing(got, want)
			}
			switch {
			case err == nil && lost == 0:
			case seed%2 == 0 || !strings.Contains(string(exported), "convert images"):
				t.Errorf("seed %d, %s of %q: %d images are in other splits, %v\n%s%s", seed, format, names, lost, err, exported, converted)
			case len(names) > 1 && !slices.ContainsFunc(names, func(name string) bool { return name != "train" && regexp.MustCompile(`\b`+name+`\b`).Match(converted) }):
				t.Errorf("seed %d, %s of %q: the conversion does not say what it takes them for:\n%s", seed, format, names, converted)
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
