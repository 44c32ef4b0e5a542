//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/coco"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// pycocotools reads the same objects from a file, with the same masks. The test also reports the CPU
// time, and that of Python's json:
//
//	go test -tags interop -run COCOFile -v ./internal/dev/interop
func TestCOCOFileIsWhatPycocotoolsReads(t *testing.T) {
	const w, h, images, objects = 64, 48, 1000, 6_000
	type m = map[string]any
	rng := rand.New(rand.NewPCG(11, 12))
	file := m{"info": m{}, "annotations": []m{}, "images": []m{}, "categories": []m{{"id": 90, "name": "last"}, {"id": 3, "name": "first"}}}
	for i := range images {
		file["images"] = append(file["images"].([]m), m{"id": 7 * i, "file_name": fmt.Sprintf("%06d.jpg", i), "width": w, "height": h, "coco_url": "http://example.org/1.jpg"})
	}
	for i := range objects {
		var segmentation any = randomPolygons(rng, w, h)
		mask := make([]uint8, w*h)
		if err := region.Fill(mask, w, h, &annotation.Region{Polygons: segmentation.([][]float64)}); err != nil {
			t.Fatal(err)
		}
		switch runs := region.Runs(mask, w, h); rng.IntN(10) {
		case 0:
			segmentation = m{"size": []int{h, w}, "counts": runs}
		case 1:
			segmentation = m{"size": []int{h, w}, "counts": string(region.AppendCompressed(nil, runs))}
		}
		file["annotations"] = append(file["annotations"].([]m), m{"id": i + 1, "image_id": 7 * rng.IntN(images), "category_id": 3 + 87*rng.IntN(2), "iscrowd": rng.IntN(2),
			"area": region.Area(mask), "bbox": []float64{rng.Float64() * 9, rng.Float64() * 9, 1 + rng.Float64(), 1}, "segmentation": segmentation})
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "instances.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var want struct {
		Seconds     float64
		Annotations map[string][4]any
	}
	startScript(t, *python, "regions.py")(t, m{"coco": path}, &want)
	start := cpuTime(t)
	set, err := coco.Read(t.Context(), path, annotation.Options{Regions: true})
	seconds := cpuTime(t) - start
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes: %.0f ms, Python's json %.0f ms, a ratio of %.1f", len(text), 1e3*seconds, 1e3*want.Seconds, want.Seconds/seconds)
	if seconds > 4*want.Seconds { // on many cores, collecting garbage in idle ones counts
		t.Error("much slower than Python")
	}
	found := 0
	mask := make([]uint8, w*h)
	for _, im := range set.Images {
		for _, o := range im.Objects {
			if err := region.Fill(mask, w, h, o.Region); err != nil {
				t.Fatal(err)
			}
			found++
			judged := want.Annotations[o.Name]
			got := fmt.Sprint([4]any{im.Name, set.Classes[o.Class].Name, nil, string(region.AppendCompressed(nil, region.Runs(mask, w, h)))})
			box, ok := judged[2].([]any)
			judged[2] = nil
			if !ok || got != fmt.Sprint(judged) || o.Box.XMin != box[0] || o.Box.YMin != box[1] || o.Box.XMax != box[0].(float64)+box[2].(float64) || o.Box.YMax != box[1].(float64)+box[3].(float64) {
				t.Fatalf("%s: %+v, %s, want %v %v", o.Name, o.Box, got, judged, box)
			}
		}
	}
	if found != objects {
		t.Errorf("%d objects of %d", found, objects)
	}
}
