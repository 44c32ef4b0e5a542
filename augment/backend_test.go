package augment_test

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

func TestCPUConforms(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, augment.CPU{}, 900)
	backendtest.RunCoded(t, augment.CPU{}, 300)
}

// TestTasksThatAreWrong have an error each, and no effect on the others.
func TestTasksThatAreWrong(t *testing.T) {
	t.Parallel()
	testImage := func() *augment.Image {
		im := new(augment.Image)
		im.Reset(4, 3, 3)
		return im
	}
	small := &augment.ResizeSpec{Width: 2, Height: 2, NoAntialias: true}
	tasks := []*augment.Task{
		{},
		{Image: testImage(), Planes: new(augment.Planes)},
		{Image: new(augment.Image), Resize: small},
		{Planes: new(augment.Planes), Resize: small},
		{Image: testImage(), Form: augment.YCbCr, Resize: small},
		{Image: testImage(), Form: 9},
		{Image: testImage(), Resize: new(augment.ResizeSpec)},
		{Image: testImage(), Draw: augment.Draw{Steps: []augment.Step{augment.Hue{Factor: 3}}}},
		{Image: testImage(), Form: augment.Floats, Normalize: augment.Normalize{Std: [3]float32{-1}}},
		{Image: testImage(), Resize: small, Form: augment.Floats},
	}
	if err := (augment.CPU{}).Render(tasks); err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		if wrong := i < len(tasks)-1; (task.Err != nil) != wrong {
			t.Errorf("task %d: %v", i, task.Err)
		}
	}
	if last := tasks[len(tasks)-1]; len(last.Floats) != 2*2*3 {
		t.Errorf("%d floats", len(last.Floats))
	}
}
