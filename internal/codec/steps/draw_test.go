package steps

import (
	"bytes"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestDrawApply(t *testing.T) {
	steps := []Step{CropBox{X: -2, Y: 3, W: 30, H: 20}, HFlip{}, Brightness{Factor: 1.5}, ResizeTo{Width: 11, Height: 13, Antialias: true}, Invert{}}
	for n := range len(steps) + 1 {
		src := imagetest.Wave(40, 30, 3)
		before := bytes.Clone(src.Pix)
		want := *src
		for _, s := range steps[:n] {
			var next bitmap.Image
			if err := s.apply(&next, &want, nil); err != nil {
				t.Fatal(err)
			}
			want = next
		}
		d := Draw{Steps: steps[:n]}
		var scratch workspace.Scratch
		for _, sc := range []*workspace.Scratch{nil, &scratch, &scratch} {
			var got bitmap.Image
			if err := d.Apply(&got, src, sc); err != nil {
				t.Fatal(err)
			}
			if got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%d steps at once differ from one after another", n)
			}
			if &got.Pix[0] == &src.Pix[0] {
				t.Errorf("%d steps: the result shares memory with the source", n)
			}
		}
		if !bytes.Equal(src.Pix, before) {
			t.Errorf("%d steps changed the source", n)
		}
	}
}
