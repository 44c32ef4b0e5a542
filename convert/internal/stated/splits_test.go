package stated

import (
	"fmt"
	"strings"
	"testing"
)

// Files named after splits keep them, unless others are asked for.
func TestSplitsOfFiles(t *testing.T) {
	for names, want := range map[string]string{
		"train-000000.tar train-000001.tar":                              "[train train]",
		"train-00000-of-00002.parquet validation-00000-of-00001.parquet": "[train val]",
		"test-00000-of-00001-a09b74b3ef9c3b56.parquet":                   "[test]",
		"train-000000.tar extra-000000.tar":                              "[train extra]",
		"train-000000.tar web.tar":                                       "[]",
		"web-000000.tar web-000001.tar":                                  "[]",
		"train-1.tar":                                                    "[train]",
		"my-train-000000.tar":                                            "[train]",
		"train.tfrecord x_val.record":                                    "[train val]",
		"trainval.record":                                                "[]",
		"a/test.tar":                                                     "[test]",
		"a/test/1.tar a/train/1.tar":                                     "[test train]",
		"test/1.tar test/2.tar":                                          "[]",
		"a/test/1.tar a/more/1.tar":                                      "a/test/1.tar is of the split test",
		"test.tar extra.tar":                                             "test.tar is of the split test by its name, and the name of extra.tar states none",
		"data.train.tfrecord data.dev.tfrecord":                          "[train val]",
		"x.test.parquet":                                                 "[test]",
		"photos-a.tfrecord-00000-of-00001 photos-b.tfrecord-00000-of-00001": "[a b]",
		"coco_train/1.tar coco_val/1.tar":                                   "[train val]",
		"train.tar extra.tar":                                               "[]",
		"test-000000.tar extra-000000.tar":                                  "[test extra]",
	} {
		splits, err := SplitsOfFiles(strings.Fields(names))
		if got := fmt.Sprint(splits); got != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v, want %s", names, got, err, want)
		}
	}
}
