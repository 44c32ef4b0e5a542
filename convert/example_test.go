package convert_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/manifest"
)

// tempDir makes a directory, and returns it and a function that removes it.
func tempDir() (string, func()) {
	dir, err := os.MkdirTemp("", "convert-example")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// photos fills a directory with images of two labels.
func photos(dir string) {
	for _, label := range []string{"daisy", "tulip"} {
		if err := os.MkdirAll(filepath.Join(dir, label), 0o755); err != nil {
			log.Fatal(err)
		}
		for i := range 4 {
			f, err := os.Create(filepath.Join(dir, label, fmt.Sprint(i, ".png")))
			if err != nil {
				log.Fatal(err)
			}
			if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
				log.Fatal(err)
			}
			if err := f.Close(); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// Convert a directory of images whose subdirectories are labels. The second run finds the
// set up to date.
func ExampleImages() {
	dir, remove := tempDir()
	defer remove()
	src, out := filepath.Join(dir, "photos"), filepath.Join(dir, "set")
	photos(src)

	for range 2 {
		summary, err := convert.Images(context.Background(), src, out, convert.ImageOptions{
			Options: convert.Options{Name: "flowers", Seed: 1, Shards: 2},
			Resize:  augment.ResizeSpec{Width: 16, Height: 16, NoAntialias: true},
		})
		var bad *convert.BadSamplesError
		switch {
		case errors.As(err, &bad):
			log.Fatalf("%d unusable images, listed in %s", len(bad.Samples), bad.Ledger)
		case err != nil:
			log.Fatal(err) // finished shards are kept, and the next run continues
		}
		fmt.Println(summary.Status, summary.Records, summary.ShardsWritten, summary.ShardsKept)
	}

	m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Labels, m.Splits[0].Name, m.Records)
	// Output:
	// written 8 2 0
	// up_to_date 8 0 2
	// [daisy tulip] train tf.train.Example
}

// Convert a table. Columns become features with inferred kinds.
func ExampleCSV() {
	dir, remove := tempDir()
	defer remove()
	src, out := filepath.Join(dir, "birds.csv"), filepath.Join(dir, "birds")
	if err := os.WriteFile(src, []byte("name,legs,weight\nheron,2,1.5\nstork,2,3.25\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	summary, err := convert.CSV(context.Background(), []string{src}, out, convert.CSVOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Status, summary.Records)

	m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range m.Features {
		fmt.Println(f.Key, f.Kind)
	}
	// Output:
	// written 2
	// legs int64
	// name bytes
	// weight float
}
