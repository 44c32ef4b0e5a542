package sample

import (
	"fmt"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/set/shares"
)

func TestLimitIsTheSameSampleWhateverElseIsThere(t *testing.T) {
	images := make([]origin.Image, 100)
	for i := range images {
		images[i].Path = fmt.Sprintf("%03d", i)
	}
	h := shares.NewHasher(5, shares.ForLimit)
	few, more := limit(images, 10, h), limit(images, 20, h)
	chosen := map[string]bool{}
	for _, p := range more {
		chosen[p.Path] = true
	}
	for i, p := range few {
		if !chosen[p.Path] {
			t.Errorf("%s is among 10 but not among 20", p.Path)
		}
		if i > 0 && few[i-1].Path >= p.Path {
			t.Errorf("not sorted by path: %s, %s", few[i-1].Path, p.Path)
		}
	}
}
