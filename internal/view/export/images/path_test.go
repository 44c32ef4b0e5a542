package images

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
)

func TestWithoutExtension(t *testing.T) {
	for name, want := range map[string]string{"a/1.png": "a/1", "a/1.JPG": "a/1.JPG", "a/1": "a/1", "a.png/1": "a.png/1", "a/.png": "a/.png", "1.tar.gif": "1.tar", "1.x": "1.x"} {
		if got := WithoutExtension(name, augment.JPEG); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
