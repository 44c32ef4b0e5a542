package backendtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// Run executes n random tasks with a backend, in batches of different sizes and from several
// goroutines, and compares the results. The tasks are the same every time.
func Run(t *testing.T, b augment.Backend, tasks int) { run(t, b, tasks, (*maker).fill) }

// RunCoded is Run with tasks whose images are JPEGs that are not decoded yet. The backend must
// decode them to a codec's pixels, or leave that to the codec.
func RunCoded(t *testing.T, b augment.Backend, tasks int) { run(t, b, tasks, (*maker).fillCoded) }

func run(t *testing.T, b augment.Backend, tasks int, fill func(*maker, *augment.Task)) {
	const goroutines = 3
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			m := newMaker(t, uint64(g))
			var batch []*augment.Task
			for done := 0; done < tasks/goroutines && !t.Failed(); done += len(batch) {
				for len(batch) < 1+m.r.IntN(20) {
					batch = append(batch, new(augment.Task))
				}
				batch = batch[:1+m.r.IntN(len(batch))]
				for _, task := range batch {
					fill(m, task) // over the state of an earlier one
				}
				if err := b.Render(batch); err != nil {
					t.Errorf("Render: %v", err)
					return
				}
				for _, task := range batch {
					if fault := Compare(task); fault != "" {
						t.Errorf("%s\n%s", fault, Describe(task))
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// Compare returns the difference of the result of an executed task from the expected one, or "".
func Compare(t *augment.Task) string {
	want, err := expect(t)
	if err != nil || t.Err != nil {
		if err == nil || t.Err == nil || err.Error() != t.Err.Error() {
			return fmt.Sprintf("error %v; want %v", t.Err, err)
		}
		return ""
	}
	if t.ResultWidth != want.width || t.ResultHeight != want.height || t.Channels != want.channels {
		return fmt.Sprintf("result of %dx%dx%d; want %dx%dx%d", t.ResultWidth, t.ResultHeight, t.Channels, want.width, want.height, want.channels)
	}
	switch t.Form {
	case augment.Pixels:
		return differ("pixels", &t.Pixels, want.pixels[0])
	case augment.YCbCr:
		if t.YCbCr.Subsampling != t.Subsampling {
			return fmt.Sprintf("subsampling %q; want %q", t.YCbCr.Subsampling, t.Subsampling)
		}
		for i, plane := range []*augment.Image{&t.YCbCr.Y, &t.YCbCr.Cb, &t.YCbCr.Cr} {
			if fault := differ([]string{"Y", "Cb", "Cr"}[i], plane, want.pixels[i]); fault != "" {
				return fault
			}
		}
		return ""
	}
	if len(t.Floats) != len(want.floats) {
		return fmt.Sprintf("%d floats; want %d", len(t.Floats), len(want.floats))
	}
	for i, v := range want.floats {
		if math.Float32bits(v) != math.Float32bits(t.Floats[i]) {
			return fmt.Sprintf("float %d is %v; want %v", i, t.Floats[i], v)
		}
	}
	return ""
}

// differ describes the first difference of two images, or returns "".
func differ(what string, got, want *augment.Image) string {
	if got.Width != want.Width || got.Height != want.Height || got.Channels != want.Channels {
		return fmt.Sprintf("%s: %dx%dx%d; want %dx%dx%d", what, got.Width, got.Height, got.Channels, want.Width, want.Height, want.Channels)
	}
	for y := range want.Height {
		if bytes.Equal(got.Row(y), want.Row(y)) {
			continue
		}
		for i, v := range want.Row(y) {
			if got.Row(y)[i] != v {
				return fmt.Sprintf("%s: sample %d of row %d is %d; want %d", what, i, y, got.Row(y)[i], v)
			}
		}
	}
	return ""
}

// result is the expected result of a task.
type result struct {
	width, height, channels int
	pixels                  []*augment.Image
	floats                  []float32
}

// expect executes a task with functions of package augment that are independent of backends.
func expect(t *augment.Task) (r result, err error) {
	if t.JPEGInfo.Format == augment.JPEG {
		own := *t
		own.Image, own.Planes = nil, nil
		if err := render.Decode(&own); err != nil {
			return r, err
		}
		t = &own
	}
	var im augment.Image
	scratch := augment.Scratch{}
	if t.Scratch != nil {
		scratch.Codec = t.Scratch.Codec
	}
	switch {
	case t.Form == augment.YCbCr:
		var p augment.Planes
		g := t.Resize.Geometry(t.Planes.Width, t.Planes.Height)
		err := t.Resize.RenderPlanes(&p, t.Planes, g, t.Subsampling, &scratch)
		return result{g.Width, g.Height, 3, []*augment.Image{&p.Y, &p.Cb, &p.Cr}, nil}, err
	case t.Planes != nil && len(t.Draw.Steps) == 0 && t.Resize != nil:
		err = t.Resize.RenderRGB(&im, t.Planes, t.Resize.Geometry(t.Planes.Width, t.Planes.Height), &scratch)
	case t.Planes != nil && len(t.Draw.Steps) == 0:
		err = t.Planes.RGB(&im)
	default:
		w, h := t.Width, t.Height
		if t.Planes != nil {
			err = t.Draw.ApplyPlanes(&im, t.Planes, &scratch)
		} else {
			err = t.Draw.Apply(&im, t.Image, &scratch)
		}
		if len(t.Draw.Steps) > 0 || w == 0 {
			w, h = im.Width, im.Height
		}
		if err == nil && t.Resize != nil {
			var resized augment.Image
			err = t.Resize.Render(&resized, &im, t.Resize.Geometry(w, h), &scratch)
			im = resized
		}
	}
	r = result{im.Width, im.Height, im.Channels, []*augment.Image{&im}, nil}
	if err != nil || t.Form == augment.Pixels {
		return r, err
	}
	r.floats = make([]float32, im.Width*im.Height*im.Channels)
	for i, v := range augment.AppendRaw(nil, &im) {
		c, at := i%im.Channels, i
		if t.Form == augment.FloatPlanes {
			at = c*im.Width*im.Height + i/im.Channels
		}
		r.floats[at] = t.Normalize.Of(v, c)
	}
	return r, nil
}

// Describe describes a task, for a failing test.
func Describe(t *augment.Task) string {
	ops, _ := json.Marshal(t.Draw)
	var of string
	switch {
	case t.JPEGInfo.Format == augment.JPEG:
		i := t.JPEGInfo
		of = fmt.Sprintf("JPEG %dx%dx%d, orientation %d, to %d channels (planes: %v)", i.Width, i.Height, i.Channels, i.Orientation, t.JPEGChannels, t.JPEGPlanes)
	case t.Image != nil:
		of = fmt.Sprintf("image %dx%dx%d of %dx%d", t.Image.Width, t.Image.Height, t.Image.Channels, t.Width, t.Height)
	default:
		of = fmt.Sprintf("planes %s of %dx%d at 1/%d", t.Planes.Subsampling, t.Planes.Width, t.Planes.Height, t.Planes.Denom)
	}
	return fmt.Sprintf("%s, draw %s, resize %+v, form %d %s", of, ops, t.Resize, t.Form, t.Subsampling)
}

// random is a source of numbers that is the same on every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20261)) }
