package annotation

import (
	"slices"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		what, format, at, names, images string
		of                              []int
		split                           string
	}{
		{what: "a split's labels", format: "yolo", at: "y/labels/val", names: "1.txt 2.txt", images: "images/train/1.png images/train/2.png images/val/1.png", of: []int{-1, -1, 0}},
		{what: "labels in a split", format: "yolo", at: "y/val/labels/", names: "1.txt 2.txt", images: "train/images/1.png train/images/2.png val/images/1.png", of: []int{-1, -1, 0}},
		{what: "labels beside images", format: "yolo", at: "y/val", names: "1.txt 2.txt", images: "train/1.png train/2.png val/1.png", of: []int{-1, -1, 0}},
		{what: "a format without a directory", format: "labelme", at: "json/val", names: "1.json", images: "train/1.png val/1.png", of: []int{-1, 0}},
		{what: "a store", format: "kitti", at: "s3://b/label_2/training", names: "1.txt", images: "testing/1.png training/1.png", of: []int{-1, 0}},
		{what: "another case", format: "voc", at: "Annotations/Val", names: "1.xml", images: "train/1.png val/1.png", of: []int{-1, 0}},
		{what: "the images of that split alone", format: "yolo", at: "y/labels/val", names: "1.txt a/1.txt", images: "1.png a/1.png", of: []int{0, 1}},
		{what: "all labels", format: "yolo", at: "train/y/labels", names: "1.txt", images: "train/2.png 1.png", of: []int{-1, 0}},
		{what: "a split of another name", format: "yolo", at: "y/labels/valid", names: "1.txt 2.txt", images: "images/train/1.png images/train/2.png images/Val/1.png", of: []int{-1, -1, 0}},
		{what: "in a directory of it", format: "voc", at: "Annotations/training/a", names: "1.xml", images: "JPEGImages/test/a/1.png JPEGImages/train/a/1.png JPEGImages/train/b/1.png", of: []int{-1, 0, -1}},
		{what: "two such splits", format: "yolo", at: "y/labels/dev", names: "1.txt", images: "val/1.png valid/2.png", of: []int{0, -1}},
		{what: "its own case first", format: "yolo", at: "y/labels/Val", names: "1.txt", images: "val/1.png Val/1.png", of: []int{-1, 0}},
		{what: "its own name first", format: "yolo", at: "y/labels/valid", names: "1.txt", images: "val/1.png valid/1.png", of: []int{-1, 0}},
		{what: "COCO", format: "coco", at: "val", names: "train/1.png", images: "train/1.png val/1.png", of: []int{0, -1}},
		{what: "COCO as Roboflow writes it", format: "coco", at: "ds/train/_annotations.coco.json", names: "1.jpg 2.jpg", images: "test/1.jpg train/1.jpg train/2.jpg valid/1.jpg valid/2.jpg", of: []int{-1, 0, 1, -1, -1}},
		{what: "COCO, a split of another name", format: "coco", at: "ds/valid/a.json", names: "1.jpg 2.jpg", images: "train/1.jpg val/1.jpg val/2.jpg", of: []int{-1, 0, 1}},
		{what: "COCO, an image that was removed", format: "coco", at: "s3://b/train/a.json", names: "1.jpg 2.jpg", images: "train/1.jpg val/2.jpg", of: []int{0, -1}},
		{what: "COCO in the directory of another split", format: "coco", at: "ds/train/a.json", names: "1.jpg 2.jpg", images: "train/3.jpg val/1.jpg val/2.jpg", of: []int{-1, 0, 1}},
		{what: "COCO in no split", format: "coco", at: "ds/annotations/a.json", names: "1.jpg", images: "val/1.jpg", of: []int{0}},
		{what: "a table as Roboflow writes it", format: "csv", at: "ds/valid/_annotations.csv", names: "1.jpg 2.jpg", images: "train/1.jpg val/1.jpg val/2.jpg", of: []int{-1, 0, 1}},
		{what: "a table with directories", format: "csv", at: "ds/train/a.csv", names: "val/1.jpg", images: "train/1.jpg val/1.jpg", of: []int{-1, 0}},
		{what: "COCO's own names", format: "coco", at: "ds/annotations/instances_val2017.json", names: "1.jpg 2.jpg", images: "train2017/1.jpg val2017/1.jpg val2017/2.jpg", of: []int{-1, 0, 1}},
		{what: "COCO's own names, for images of one place", format: "coco", at: "instances_val.json", names: "1.jpg 2.jpg", images: "train/1.jpg val/2.jpg", of: []int{0, 1}},
		{what: "COCO for a split", format: "coco", at: "b.json", split: "val", names: "1.jpg 2.jpg", images: "train/1.jpg valid/1.jpg valid/2.jpg", of: []int{-1, 0, 1}},
		{what: "a table of a split", format: "csv", at: "test_labels.csv", names: "1.jpg", images: "test/1.jpg train/1.jpg", of: []int{0, -1}},
		{what: "COCO with directories", format: "coco", at: "ds/train/a.json", names: "val/1.jpg 2.jpg", images: "train/1.jpg train/3.jpg val/1.jpg val/2.jpg", of: []int{-1, -1, 0, 1}},
	} {
		s, images := setOf(c.format, strings.Fields(c.names)...), strings.Fields(c.images)
		s.Within(c.at, c.split, images)
		m, err := s.Match(images)
		if err != nil || !slices.Equal(m.Of, c.of) {
			t.Errorf("%s: got %v, %v; want %v", c.what, m, err, c.of)
		}
	}
}
