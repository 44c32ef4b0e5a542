package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/gomlx/examples/internal/fittest"
)

func TestMain(m *testing.M) { fittest.Main(m, main) }

func TestPenguins(t *testing.T) {
	const table = "../../../testdata/demo/penguins.csv"
	data, plain := filepath.Join(t.TempDir(), "penguins"), filepath.Join(t.TempDir(), "plain")
	tfrec := fittest.Build(t)
	fittest.Run(t, tfrec, "convert", "csv", table, data,
		"--vector", "measurements=bill_length_mm..body_mass_g", "--label", "species", "--vocab",
		"--na", "error", "--max-errors", "11", "--splits", "train=0.6,val=0.2,test=0.2")
	t.Run("learns", func(t *testing.T) {
		job, err := newJob(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		fittest.Learns(t, job)
	})
	t.Run("killed", func(t *testing.T) { fittest.Killed(t, data, 100) })
	t.Run("refused", func(t *testing.T) {
		fittest.Run(t, tfrec, "convert", "csv", table, plain, "--splits", "train=0.6,val=0.2,test=0.2")
		if _, err := newJob(t.Context(), plain); err == nil || !strings.Contains(err.Error(), "without labels") {
			t.Errorf("a set without labels: %v", err)
		}
		if _, err := newJob(t.Context(), t.TempDir()); err == nil {
			t.Error("an empty directory is no error")
		}
	})
}
