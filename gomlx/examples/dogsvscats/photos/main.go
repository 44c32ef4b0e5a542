// Photos draws JPEG files of two classes, in the layout and the usual sizes of Kaggle's Dogs vs.
// Cats: DIR/Cat/N.jpg and DIR/Dog/N.jpg. Cats have green eyes and pointed, upright ears, dogs brown
// eyes and round ears that hang down. Fur, position, scale, background and noise are random.
//
//	go run ./examples/dogsvscats/photos 1000 PetImages
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: photos N DIR")
	}
	n, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = write(n, os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// sizes are usual widths and heights.
var sizes = []image.Point{{500, 375}, {499, 375}, {375, 500}, {500, 333}, {350, 263}, {320, 240}, {300, 400}, {448, 336}}

// write writes n images of each class.
func write(n int, dir string) error {
	var all sync.WaitGroup
	classes := []string{"Cat", "Dog"}
	failed := make([]error, len(classes))
	for class, name := range classes {
		all.Go(func() { failed[class] = writeClass(n, class, filepath.Join(dir, name)) })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func writeClass(n, class int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range n {
		var b bytes.Buffer
		m := draw(rand.New(rand.NewPCG(uint64(class), uint64(i))), class == 0)
		if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jpg", i)), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the head of a cat or a dog.
func draw(rnd *rand.Rand, cat bool) image.Image {
	size := sizes[rnd.IntN(len(sizes))]
	m := image.NewRGBA(image.Rectangle{Max: size})
	var back, fur [3]float64
	for i := range back {
		back[i], fur[i] = 40+160*rnd.Float64(), 40+160*rnd.Float64()
	}
	eyes, nose := [3]float64{90, 60, 30}, [3]float64{20, 20, 20}
	if cat {
		eyes = [3]float64{70, 230, 60}
	}
	waves := [3]float64{0.01 + 0.05*rnd.Float64(), 0.01 + 0.05*rnd.Float64(), 2 * math.Pi * rnd.Float64()}
	radius := (0.2 + 0.12*rnd.Float64()) * float64(min(size.X, size.Y))
	middle := [2]float64{(0.4 + 0.2*rnd.Float64()) * float64(size.X), (0.45 + 0.15*rnd.Float64()) * float64(size.Y)}
	for y := range size.Y {
		for x := range size.X {
			u, v := (float64(x)-middle[0])/radius, (float64(y)-middle[1])/radius
			paint, shade := back, 25*math.Sin(waves[0]*float64(x)+waves[1]*float64(y)+waves[2])
			switch {
			case math.Hypot(math.Abs(u)-0.38, v+0.2) < 0.17:
				paint, shade = eyes, 0
			case math.Hypot(u, 1.5*(v-0.3)) < 0.15:
				paint, shade = nose, 0
			case u*u+v*v < 1, ears(math.Abs(u), v, cat):
				paint = fur
			}
			shade += 14 * (rnd.Float64() + rnd.Float64() - 1)
			sample := func(i int) uint8 { return uint8(min(max(paint[i]+shade, 0), 255)) }
			m.SetRGBA(x, y, color.RGBA{sample(0), sample(1), sample(2), 255})
		}
	}
	return m
}

// ears reports whether a point is in an ear: a triangle on top of the head, or an ellipse that
// hangs from it.
func ears(u, v float64, cat bool) bool {
	if cat {
		return v > -1.45 && v < -0.4 && math.Abs(u-0.62) < 0.36*(v+1.45)
	}
	return math.Hypot((u-1)/0.32, (v-0.05)/0.75) < 1
}
