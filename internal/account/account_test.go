package account

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOfFile(t *testing.T) {
	for name, want := range map[string]Reason{
		"IMG_1.HEIC": HEIC, "a/b.avif": AVIF, "x.jxl": JPEGXL, "x.cr2": RAW, "clip.MP4": Video, "a.wav": Audio, "a.svg": SVG, "a.PDF": PDF, "a.psd": PSD,
		"photos.tar": Archive, "photos.tar.gz": Archive, "x.tfrecord": Records, "x.tfrecord-00000-of-00001": Records, "train.record-00000-of-00010": Records,
		"train.parquet": Records, "Annotations/x.heic": HEIC,
		"data.yaml": Splits, "a/Data.YML": Splits, "ImageSets/Main/dog_train.txt": Splits, "train.txt": Splits, "a/valid.txt": Splits, "trainlist01.txt": Splits,
		"train_test_split.txt": Splits, "list_eval_partition.txt": Splits, "val.lst": Splits, "obj.data": Splits, "testing_list.txt": Splits,
		"a/metadata.jsonl": Labels, "metadata.csv": Labels, "metadata.csv.gz": Labels, "metadata.parquet": Labels, "train.csv": Labels, "trainLabels.csv": Labels,
		"train/_annotations.coco.json": Labels, "_annotations.csv": Labels, "_annotations.createml.json": Labels, "_classes.csv": Labels, "labels.csv": Labels,
		"annotations/instances_val2017.json": Labels, "person_keypoints_train2017.json": Labels, "captions.json": Labels, "image_class_labels.txt": Labels,
		"labels/train/1.txt": Labels, "labels/val/test1.txt": Labels, "test1.txt": Splits, "Annotations/1.xml": Labels, "Annotation/a/n02.json": Labels, "list_attr_celeba.txt": Labels, "train_labels.npy": Labels,
		"label_map.pbtxt": Metadata, "pascal_label_map.pbtxt": Metadata, "labelmap.txt": Metadata, "classes.txt": Metadata, "labels.txt": Metadata, "coco.names": Metadata,
		"image.class.label.labels.txt": Metadata, "sample_submission.csv": Metadata, "dataset_info.json": Metadata,
		"notes.txt": Other, "README": Other, "": Other, "a.jpg_large": Other, "x.json.gz": Other, "instances": Other, "iris.data": Other, "contest.csv": Other,
		"README.train.txt": Other, "requirements-dev.txt": Other, "train.py": Other, "train.log": Other, "train_results.csv": Other, "labels/README.md": Other,
		"1.xml": Other, "latest.txt": Other,
	} {
		if got := OfFile(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// TestEntries adds things in any order: entries are in that of the reasons, with five names at most,
// and each reads well for one and for several.
func TestEntries(t *testing.T) {
	var a Account
	for _, m := range slices.Backward(reasons) {
		for i := range 10 {
			a.Add(m.reason, fmt.Sprint(i))
		}
		if n := a.Count(m.reason); n != 10 {
			t.Errorf("%s: %d", m.reason, n)
		}
	}
	entries := a.Entries()
	for i, e := range entries {
		if e.Reason != reasons[i].reason || e.Count != 10 || !slices.Equal(e.Names, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("entry %d: %+v", i, e)
		}
		if text := e.String(); !strings.HasPrefix(text, "10 ") || !strings.HasSuffix(text, ": 0, 1, 2 and 7 more") {
			t.Errorf("%s", text)
		}
		one := Entry{Reason: e.Reason, Count: 1, Names: []string{"x"}}
		if text := one.String(); !strings.HasPrefix(text, "1 ") || !strings.HasSuffix(text, ": x") || strings.Contains(text, "more") {
			t.Errorf("%s", text)
		}
	}
	if len(entries) != len(reasons) {
		t.Errorf("%d entries of %d reasons", len(entries), len(reasons))
	}
	if list := new(Account).Entries(); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
}
