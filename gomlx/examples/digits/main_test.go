package main

import (
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/gomlx/examples/internal/fittest"
)

func TestMain(m *testing.M) { fittest.Main(m, main) }

func TestDigits(t *testing.T) {
	images, data := filepath.Join(t.TempDir(), "digits-png"), filepath.Join(t.TempDir(), "digits")
	fittest.Run(t, "go", "run", "./images", "digits.csv.gz", images)
	fittest.Run(t, fittest.Build(t), "convert", "images", images, data, "--encode", "raw", "--channels", "1", "--resize", "8",
		"--splits", "train=0.7,val=0.15,test=0.15")
	t.Run("learns", func(t *testing.T) {
		job, err := newJob(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		fittest.Learns(t, job)
	})
	t.Run("killed", func(t *testing.T) { fittest.Killed(t, data, 80) })
}
