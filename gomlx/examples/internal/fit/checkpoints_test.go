package fit

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// names returns what is in a directory of checkpoints.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// begin opens checkpoints for a model with one variable w.
func begin(t *testing.T, dir string) (*checkpointDir, *model.Variable) {
	t.Helper()
	store := model.NewStore()
	c, err := openCheckpoints(dir, store)
	if err != nil {
		t.Fatal(err)
	}
	return c, store.VariableWithValue("w", float32(0))
}

// The last checkpoint and the best one are kept, and what a killed program left is not one.
func TestCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	c, _ := begin(t, dir)
	if c.last != nil {
		t.Fatalf("a new directory has progress: %+v", c.last)
	}
	for i, want := range [][]string{
		{"step-00000010"},
		{"step-00000010", "step-00000020"},
		{"step-00000010", "step-00000030"},
		{"step-00000040"},
	} {
		step := 10 * (i + 1)
		c, w := begin(t, dir)
		if i > 0 && (c.last == nil || c.last.Step != step-10 || w.MustValue().Value() != float32(i)) {
			t.Fatalf("step %d and w = %v; want step %d and %d", c.last.Step, w.MustValue(), step-10, i)
		}
		if err := w.SetValue(tensors.FromScalar(float32(i + 1))); err != nil {
			t.Fatal(err)
		}
		best := 10
		if i == 3 {
			best = step
		}
		if err := c.save(progress{Step: step, Best: best}); err != nil {
			t.Fatal(err)
		}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("after step %d: %q; want %q", step, got, want)
		}
		if err := os.MkdirAll(c.unfinished(), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"checkpoint-n0000009-20991231-000000-step-00000099.bin", "checkpoint-n0000009-20991231-000000-step-00000099.json"} {
			if err := os.WriteFile(filepath.Join(c.unfinished(), name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}

	// One without progress is not ours.
	store := model.NewStore()
	other, err := openCheckpoints(t.TempDir(), store)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.handler.Save(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other.unfinished(), other.path(5)); err != nil {
		t.Fatal(err)
	}
	if _, err := openCheckpoints(other.dir, model.NewStore()); err == nil {
		t.Error("a checkpoint of another program was opened")
	}
	if err := load(t.TempDir(), model.NewStore()); err == nil {
		t.Error("an empty directory was loaded")
	}
}
