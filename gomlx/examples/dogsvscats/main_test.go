package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gomlx/examples/dogsvscats/pets"
	"github.com/tfrec/tfrec/gomlx/examples/internal/fittest"
	"github.com/tfrec/tfrec/reader"
)

// The training is too long for a test: this one looks at the batches, which are the same in each run
// and vary from epoch to epoch.
func TestBatches(t *testing.T) {
	photos, data := filepath.Join(t.TempDir(), "PetImages"), filepath.Join(t.TempDir(), "pets")
	fittest.Run(t, "go", "run", "./photos", "40", photos)
	if err := os.WriteFile(filepath.Join(photos, "Dog", "11702.jpg"), nil, 0o644); err != nil { // is empty in Kaggle's files, too
		t.Fatal(err)
	}
	fittest.Run(t, fittest.Build(t), "convert", "images", photos, data, "--resize", "150x150", "--fit", "longer",
		"--max-errors", "1", "--splits", "train=0.6,val=0.2,test=0.2")
	if errors, err := os.ReadFile(filepath.Join(data, "errors.jsonl")); err != nil || !strings.Contains(string(errors), "11702.jpg") {
		t.Errorf("errors.jsonl: %s, %v; want the damaged file", errors, err)
	}

	if _, err := newJob(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	all, err := reader.Open(t.Context(), data, reader.Options{Split: "train", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	flow, err := pets.Train(all, 8)
	if err != nil {
		t.Fatal(err)
	}
	n, err := all.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, again := sums(t, flow, n), sums(t, flow, n)
	varied := 0
	for i, sum := range first {
		if sum != again[i] {
			t.Errorf("image %d differs in another run", i)
		}
		if i >= int(n) && sum != first[i-int(n)] {
			varied++
		}
	}
	if varied < int(n)/2 {
		t.Errorf("%d of %d images are other ones in the second epoch", varied, n)
	}
}

// sums returns a number for each image of the first two epochs, of n images each.
func sums(t *testing.T, flow reader.Flow[*reader.ImageBatch], n int64) (all []float32) {
	t.Helper()
	stream, err := flow.Start(t.Context(), reader.From{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for len(all) < int(2*n) {
		batch, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		images, size := len(batch.Labels), pets.Size*pets.Size*3
		for i := range images {
			var sum float32
			for _, x := range batch.Pixels[i*size : (i+1)*size] {
				if x < 0 || x > 1 {
					t.Fatalf("a sample of %v; want 0 to 1", x)
				}
				sum += x
			}
			all = append(all, sum)
		}
	}
	return all
}
