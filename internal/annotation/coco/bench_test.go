package coco

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
)

// writeLarge writes a file like instances_train2017.json, of n annotations.
func writeLarge(tb testing.TB, n int) (path string) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(`{"info": {},"images": [{"license": 3,"file_name": "0.jpg","height": 480,"width": 640,"id": 0}`)
	for i := range n / 7 {
		fmt.Fprintf(&b, `,{"license": 3,"file_name": "%012d.jpg","coco_url": "http://images.cocodataset.org/train2017/%012[1]d.jpg","height": 480,"width": 640,"date_captured": "2013-11-14 11:18:45","id": %[1]d}`, i+1)
	}
	b.WriteString(`],"annotations": [`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"segmentation": [[1.5,2.25`)
		for range 2 * min(2+int(rng.ExpFloat64()*28), 400) {
			fmt.Fprintf(&b, ",%.2f", rng.Float64()*480)
		}
		fmt.Fprintf(&b, `]],"area": %.5f,"iscrowd": 0,"image_id": %d,"bbox": [%.2f,%.2f,%.2f,%.2f],"category_id": %d,"id": %d}`,
			rng.Float64()*9999, rng.IntN(n/7), rng.Float64()*400, rng.Float64()*400, 1+rng.Float64()*99, 1+rng.Float64()*99, 1+rng.IntN(3), i)
	}
	b.WriteString(`],"categories": [{"supercategory": "s","id": 1,"name": "a"},{"id": 2,"name": "b"},{"id": 3,"name": "c"}]}`)
	path = filepath.Join(tb.TempDir(), "large.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	path := writeLarge(b, 50_000)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]annotation.Options{"boxes": {Workers: 1}, "regions": {Workers: 1, Regions: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(st.Size())
			b.ReportAllocs()
			for b.Loop() {
				if set, err := Read(context.Background(), path, o); err != nil || len(set.Faults) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
