package imagetree

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for dir, want := range map[string]string{
		"train": "train", "Train": "train", "TRAINING": "train", "val": "val", "Valid": "val", "validation": "val", "DEV": "val",
		"train2017": "train", "val2014": "val", "Test-2015": "test", "2017": "", "train217": "", "train3017": "", "cat2017": "",
		"test": "test", "Testing": "test", "eval": "test", "": "", "trains": "", "invalid": "", "tests": "", "daisy": "",
	} {
		if got := Split(dir); got != want {
			t.Errorf("%q names the split %q, want %q", dir, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	for name, want := range map[string]bool{".git": true, "._1.jpg": true, "__MACOSX": true, "__macosx": false, "a.jpg": false, "_": false, "": false} {
		if Hidden(name) != want {
			t.Errorf("%q: hidden %v", name, !want)
		}
	}
	for p, want := range map[string]bool{"a/b.jpg": false, ".a/b.jpg": true, "a/.b.jpg": true, "a/__MACOSX/b": true, "a/b/.": true} {
		if HiddenPath(p) != want {
			t.Errorf("%q: hidden %v", p, !want)
		}
	}
}

func TestSplitOfFile(t *testing.T) {
	for name, want := range map[string]string{
		"train-00000-of-00004.parquet": "train", "train-00000-of-00004-8e34ae0123.parquet": "train", "x_val.record": "val", "train.tfrecord": "train",
		"coco_validation.record-00000-of-00010": "val", "test2017_0001.tar": "test", "eval-3.tar.gz": "test",
		"train_test_split.tar": "", "trainval.record": "", "data-0001.tar": "", "part-r-00000": "", "contest.tar": "", "": "",
		"a.test.tar": "test", "data.dev.tfrecord": "val", "x.valid.parquet": "val", "v1.0.train.tfrecord.gz": "train", "evaluation.record": "test", "train.vs.test.tar": "",
	} {
		if got := SplitOfFile(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestSplitsOf(t *testing.T) {
	for dirs, want := range map[string]string{
		"train test": "[train test]", "Train valid fold1": "[train val ]", "seg_train seg_test": "[train test]", "training_set test_set": "[train test]",
		"train_images test_images": "[train test]", "train test_images": "[train test]", "seg_train seg_test seg_pred": "[  ]", "test_tube bus": "[ ]",
		"train test train_2": "[train test ]", "train_a train_b": "[ ]", "test_images": "[]", "val2017": "[val]", "train_test test_train": "[ ]", "": "[]",
	} {
		if got := fmt.Sprint(SplitsOf(strings.Fields(dirs))); got != want {
			t.Errorf("%s: %s, want %s", dirs, got, want)
		}
	}
}
