package shares

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplitsOf(t *testing.T) {
	for paths, want := range map[string]string{
		"photos-fold1.tfrecord-00000-of-00002 photos-train.tfrecord-00000-of-00001": "[fold1 train]",
		"data.train.tfrecord data.dev.tfrecord x.tfrecord":                          "[train dev ]",
		"a/train/1.tfrecord a/test/1.tfrecord":                                      "[train test]",
		"coco_train2017/1.tfrecord coco_val2017/1.tfrecord other/1.tfrecord":        "[train val ]",
		`test/1.tfrecord test/2.tfrecord`:                                           "[ ]",
		"test/train.tfrecord val/more.tfrecord":                                     "[train ]",
		"train/a/1.tfrecord test/a/1.tfrecord":                                      "[ ]",
	} {
		if got := fmt.Sprint(SplitsOf(strings.Fields(paths))); got != want {
			t.Errorf("%s: %s, want %s", paths, got, want)
		}
	}
}
