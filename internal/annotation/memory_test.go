package annotation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/kitti"
	"github.com/tfrec/tfrec/internal/annotation/labelme"
	"github.com/tfrec/tfrec/internal/annotation/yolo"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestMemory: all that reading a file allocates, but for what it returns, is within the Memory of
// its format (docs/security.md).
func TestMemory(t *testing.T) {
	type reader = func(context.Context, string, annotation.Options) (*annotation.Set, error)
	if race.Enabled {
		t.Skip("the race detector allocates, too")
	}
	const size = 1 << 20
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, (size-len(before)-len(after))/len(part)) + after
	}
	groups := func(shape string) string {
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, ","+shape, i)
		}
		return `{"shapes":[` + b.String()[1:] + "]}"
	}
	shape := func(before, part, after string) string {
		return fill(`{"shapes":[{"label":"a","points":[`+before, part, after+`]}]}`)
	}
	for what, c := range map[string]struct {
		read    reader
		ext     string
		text    string
		memory  int64
		objects int
	}{
		"YOLO: boxes":              {yolo.Read, ".txt", fill("", "0 1 1 1 1\n", ""), 6, size / 10},
		"YOLO: polygons":           {yolo.Read, ".txt", fill("", "0 0 0 0 1 1 0\n", ""), 6, size / 14},
		"YOLO: a polygon":          {yolo.Read, ".txt", fill("0", " 1 0 0 1", ""), 6, 1},
		"YOLO: a line of letters":  {yolo.Read, ".txt", fill("0 0 0 1 1\n0", " 1", " x"), 6, 1},
		"YOLO: blank lines":        {yolo.Read, ".txt", fill("", "\n", "0 1 1 1 1"), 6, 1},
		"KITTI":                    {kitti.Read, ".txt", fill("", "a 0 0 0 0 0 1 1 0 0 0 0 0 0 0\n", ""), 2, size / 30},
		"KITTI: nothing else":      {kitti.Read, ".txt", fill("", "DontCare\n", ""), 2, 0},
		"LabelMe: shapes":          {labelme.Read, ".json", fill(`{"shapes":[0`, `,{"label":"a","points":[[0,0],[1,0],[0,1]]}`, "]}"), 8, size / 43},
		"LabelMe: circles":         {labelme.Read, ".json", fill(`{"shapes":[0`, `,{"label":"a","points":[[0,0],[1,1]],"shape_type":"circle"}`, "]}"), 8, size / 59},
		"LabelMe: groups":          {labelme.Read, ".json", groups(`{"label":"a","points":[[0,0],[1,0],[0,1]],"group_id":%d}`), 8, 50_000},
		"LabelMe: boxes in groups": {labelme.Read, ".json", groups(`{"label":"a","points":[[0,0],[1,1]],"shape_type":"rectangle","group_id":%d}`), 8, 50_000},
		"LabelMe: a group":         {labelme.Read, ".json", fill(`{"shapes":[0`, `,{"label":"a","points":[[0,0],[1,0],[0,1]],"group_id":7}`, "]}"), 8, 1},
		"LabelMe: masks":           {labelme.Read, ".json", fill(`{"imageWidth":9,"imageHeight":9,"shapes":[{"label":"a","points":[[0,0],[1,1]],"shape_type":"mask","mask":"`, "a", `"}]}`), 8, 1},
		"LabelMe: a polygon":       {labelme.Read, ".json", shape("[1,1]", ",[0,0]", ""), 8, 1},
		"LabelMe: empty points":    {labelme.Read, ".json", shape("[]", ",[]", ""), 8, 0},
		"LabelMe: no points":       {labelme.Read, ".json", shape("0", ",0", ""), 8, 0},
		"LabelMe: a long point":    {labelme.Read, ".json", shape("[0", ",0", "]"), 8, 0},
		"LabelMe: lists in points": {labelme.Read, ".json", shape("[[]", ",[]", "]"), 8, 0},
		"LabelMe: an image":        {labelme.Read, ".json", fill(`{"shapes":[],"imageData":"\/`, "a", `"}`), 8, 0},
		"LabelMe: long labels":     {labelme.Read, ".json", fill(`{"shapes":[{"points":[[0,0],[1,0],[0,1]],"label":"\/`, "a", `"}]}`), 8, 0},
		"LabelMe: escapes":         {labelme.Read, ".json", fill(`{"shapes":[],"imageData":"`, `\/aaaa`, `"}`), 8, 0},
		"LabelMe: a long name":     {labelme.Read, ".json", fill(`{"shapes":[],"\/`, "a", `":0}`), 8, 0},
		"LabelMe: a long path":     {labelme.Read, ".json", fill(`{"shapes":[],"imagePath":"\/`, "a", `"}`), 8, 0},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "1"+c.ext), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var before, after, kept runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s, err := c.read(t.Context(), dir, annotation.Options{Regions: true, Classes: []string{"a"}, Workers: 1})
			runtime.ReadMemStats(&after)
			runtime.GC()
			runtime.ReadMemStats(&kept)
			if err != nil || c.objects > 0 && (len(s.Images[0].Objects) < c.objects-1 || len(s.Images[0].Objects) > c.objects) {
				t.Fatalf("%v, %d objects, want %d", err, len(s.Images[0].Objects), c.objects)
			}
			stays := int64(kept.HeapAlloc) - int64(before.HeapAlloc)
			took := int64(after.TotalAlloc-before.TotalAlloc) - stays
			if limit := c.memory * int64(len(c.text)); took > limit {
				t.Errorf("reading took %d bytes besides %d that stay: the limit is %d", took, stays, limit)
			}
			runtime.KeepAlive(s)
		})
	}
}
