package annotation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	const (
		yolo  = "\ufeff\r\n0 0.5 0.5 0.25 0.25\r\n"
		kitti = "Car 0.00 0 -1.57 1 2 3.5 4 -1 -1 -1 -1000 -1000 -1000 -10\n"
		coco  = `{"info": {}, "images": []}`
		shape = `{"version": "5.4.1", "flags": {}, "shapes": []}`
	)
	many := []string{}
	for i := range 1000 {
		many = append(many, fmt.Sprintf("%04d.txt", i), strings.Repeat(yolo, i%2))
	}
	for what, c := range map[string]struct {
		files []string
		want  string // the format, or the error
	}{
		"XML":                  {[]string{"a/1.xml", "", "a/1.jpg", ""}, "voc"},
		"XML and its lists":    {[]string{"Annotations/1.XML", "", "ImageSets/Main/train.txt", "000001\n"}, "voc"},
		"LabelMe":              {[]string{"1.json", shape, "1.jpg", ""}, "labelme"},
		"boxes":                {[]string{"1.txt", yolo}, "yolo"},
		"polygons":             {[]string{"1.txt", "0 0.1 0.2 0.3 0.25 0.2 0.5"}, "yolo"},
		"a polygon of 15":      {[]string{"1.txt", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14"}, "yolo"},
		"empty and classes":    {[]string{"1.txt", "", "classes.txt", "cat"}, "yolo"},
		"boxes and classes":    {[]string{"labels/1.txt", yolo, "data.yaml", "names: [cat]", "README.txt", "hello"}, "yolo"},
		"half of them empty":   {many, "yolo"},
		"KITTI":                {[]string{"1.txt", kitti}, "kitti"},
		"KITTI with a score":   {[]string{"1.txt", strings.TrimSpace(kitti) + " 0.5"}, "kitti"},
		"KITTI and others":     {[]string{"training/label_2/1.txt", kitti, "training/calib/1.txt", "P0: 1 2 3"}, "kitti"},
		"nothing":              {[]string{"1.jpg", ""}, "it has no annotations: want .xml (voc), .json (labelme) or .txt files (yolo, kitti), or the path of COCO's .json file"},
		"XML and JSON":         {[]string{"1.xml", "", "2.json", shape, "3.json", shape}, "it has annotations of several formats (1 .xml file, 2 .json files): set AnnotationSpec.Format to one of voc, labelme"},
		"two kinds of text":    {[]string{"1.txt", yolo, "2.txt", kitti}, "(2 .txt files): set AnnotationSpec.Format to one of kitti, yolo"},
		"text":                 {[]string{"1.txt", "hello", "2.txt", "1 2 3"}, "cannot tell the format of the annotations from 2 .txt files: set AnnotationSpec.Format to voc, yolo, kitti or labelme, or give the path of COCO's .json file"},
		"COCO in a directory":  {[]string{"instances.json", `{"annotations": []}`}, "it has COCO's files, which are given one by one in AnnotationSpec.Files: DIR/instances.json"},
		"COCO with shapes":     {[]string{"instances.json", `{"categories": [{"name": "shapes", "shapes": 1}]}`}, "it has COCO's files"},
		"COCO in splits":       {[]string{"train/_annotations.coco.json", coco, "valid/_annotations.coco.json", coco, "test/1.json", coco}, "AnnotationSpec.Files: test=DIR/test/1.json, train=DIR/train/_annotations.coco.json, val=DIR/valid/_annotations.coco.json"},
		"much of COCO":         {[]string{"1.json", coco, "2.json", coco, "3.json", coco, "4.json", coco, "5.json", coco}, "DIR/3.json, DIR/4.json, ..."},
		"COCO and XML":         {[]string{"1.xml", "", "instances.json", coco}, "voc"},
		"results":              {[]string{"results.json", `[{"image_id": 1}]`}, "cannot tell the format of the annotations from 1 .json file: set"},
		"an image first":       {[]string{"1.json", "\ufeff" + `{"flags": {}, "imageData": "` + strings.Repeat("x", 1<<20)}, "labelme"},
		"READMEs":              {[]string{"README.roboflow.txt", "0 1 1 1 1", "readme.TXT", "x"}, "it has no annotations"},
		"empty text alone":     {[]string{"1.txt", ""}, "cannot tell the format of the annotations from 1 .txt file: set"},
		"hidden annotations":   {[]string{".1.xml", ""}, "it has no annotations"},
		"classes without text": {[]string{"classes.txt", "cat"}, "it has no annotations"},
	} {
		dir := write(t, c.files...)
		got, err := Detect(t.Context(), dir)
		if err != nil {
			got = strings.ReplaceAll(filepath.ToSlash(err.Error()), filepath.ToSlash(dir), "DIR")
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	above := write(t, "train/labels/1.txt", "", "data.yaml", "names: [cat]")
	if err := os.Symlink("none", filepath.Join(above, "train/labels/0.txt")); err != nil {
		t.Log("no symbolic links here:", err)
	}
	if got, err := Detect(t.Context(), filepath.Join(above, "train/labels")); got != "yolo" {
		t.Errorf("a list of classes above: %q, %v", got, err)
	}
	dir := write(t, "a.json", "", "b.JSON.gz", "", "c.json.zst", "", "d.xml", "", "e.gz", "", "f.csv", "", "g.CSV.gz", "")
	for name, want := range map[string]string{"a.json": "coco", "b.JSON.gz": "coco", "c.json.zst": "coco", "f.csv": "csv", "g.CSV.gz": "csv", "d.xml": "", "e.gz": "", "none": ""} {
		if got, err := Detect(t.Context(), filepath.Join(dir, name)); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}
