// Command imaging processes images with pure Go packages, without libjpeg-turbo or tfrec:
// image/jpeg decodes, github.com/disintegration/imaging resizes, image/jpeg encodes.
//
//	imaging DIR WORKERS
//
// It converts every DIR/*/*.jpg, the layout of peers.py's input, to a 224x224 JPEG of quality 95,
// like the others in peers.py, and drops the results.
package main

import (
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/disintegration/imaging"
	"golang.org/x/sync/errgroup"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "imaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("want DIR WORKERS")
	}
	workers, err := strconv.Atoi(args[1])
	if err != nil || workers < 1 {
		return fmt.Errorf("workers %q: want 1 or more", args[1])
	}
	files, err := filepath.Glob(filepath.Join(args[0], "*", "*.jpg"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no %s/*/*.jpg", args[0])
	}
	var g errgroup.Group
	g.SetLimit(workers)
	for _, file := range files {
		g.Go(func() error { return convert(file) })
	}
	return g.Wait()
}

// convert brings one image to size. Linear weighs every pixel when it reduces, as tfrec's
// default does.
func convert(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	img, err := jpeg.Decode(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return jpeg.Encode(io.Discard, imaging.Resize(img, 224, 224, imaging.Linear), &jpeg.Options{Quality: 95})
}
