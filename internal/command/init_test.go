package command

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/testpng"
)

// layout is a directory as some tool or habit leaves it: its files, and what tfrec init proposes.
type layout struct {
	files   map[string]string // by name; those of a .tar name its members
	command string            // the words after the set's directory, "none", or the verb and source where they differ
	records int
	labels  string
}

const (
	vocText  = `<annotation><filename>%s</filename><size><width>8</width><height>6</height></size><object><name>cat</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>4</xmax><ymax>5</ymax></bndbox></object></annotation>`
	cocoText = `{"images":[{"id":1,"file_name":"1.png","width":8,"height":6},{"id":2,"file_name":"2.png","width":8,"height":6}],"annotations":[{"id":1,"image_id":1,"category_id":7,"bbox":[1,2,3,4]},{"id":2,"image_id":2,"category_id":9,"bbox":[1,2,3,4]}],"categories":[{"id":7,"name":"cat"},{"id":9,"name":"dog"}]}`
	boxes    = "filename,width,height,class,xmin,ymin,xmax,ymax\n1.png,8,6,cat,1,2,4,5\n"
)

var layouts = map[string]layout{
	"classes":          {map[string]string{"a/1.png": "", "b/1.png": "", "README.md": "x"}, "convert images SRC", 2, "a b"},
	"splits":           {map[string]string{"train/a/1.png": "", "val/b/1.png": ""}, "convert images SRC", 2, "a b"},
	"classes deeper":   {map[string]string{"raw/a/1.png": "", "raw/b/1.png": ""}, "convert images SRC/raw", 2, "a b"},
	"flat":             {map[string]string{"1.png": "", "2.png": ""}, "convert images SRC --unlabelled", 2, ""},
	"table":            {map[string]string{"1.png": "", "2.png": "", "labels.csv": "path,label\n1.png,a\n2.png,b\n"}, "convert images SRC --table SRC/labels.csv", 2, "a b"},
	"table of stems":   {map[string]string{"train/1.png": "", "train/2.png": "", "test/3.png": "", "train.csv": "id,label\n1,a\n2,b\n"}, "convert images SRC/train --table SRC/train.csv --image-suffix .png", 2, "a b"},
	"imagefolder":      {map[string]string{"1.png": "", "metadata.jsonl": `{"file_name":"1.png","text":"a bird"}` + "\n"}, "convert images SRC --table SRC/metadata.jsonl --unlabelled --features text", 1, ""},
	"captions":         {map[string]string{"1.png": "", "x.csv": "file_name,caption\n1.png,a bird\n"}, "convert images SRC --table SRC/x.csv --unlabelled --features caption", 1, ""},
	"coco":             {map[string]string{"train2017/1.png": "", "train2017/2.png": "", "val2017/1.png": "", "val2017/2.png": "", "annotations/instances_train2017.json": cocoText, "annotations/instances_val2017.json": cocoText}, "convert images SRC --annotations train=SRC/annotations/instances_train2017.json --annotations val=SRC/annotations/instances_val2017.json", 4, "cat dog"},
	"roboflow":         {map[string]string{"train/1.png": "", "train/2.png": "", "valid/1.png": "", "valid/2.png": "", "train/_annotations.coco.json": cocoText, "valid/_annotations.coco.json": cocoText, "README.roboflow.txt": "x"}, "convert images SRC --annotations train=SRC/train/_annotations.coco.json --annotations val=SRC/valid/_annotations.coco.json", 4, "cat dog"},
	"one coco":         {map[string]string{"images/1.png": "", "images/2.png": "", "result.json": cocoText}, "convert images SRC --annotations SRC/result.json", 2, "cat dog"},
	"voc":              {map[string]string{"JPEGImages/1.png": "", "JPEGImages/2.png": "", "Annotations/1.xml": fmt.Sprintf(vocText, "1.png"), "Annotations/2.xml": fmt.Sprintf(vocText, "2.png"), "ImageSets/Main/train.txt": "1\n", "ImageSets/Main/val.txt": "2\n"}, "convert images SRC --annotations SRC", 2, "cat"},
	"yolo":             {map[string]string{"images/train/1.png": "", "images/val/2.png": "", "labels/train/1.txt": "0 0.5 0.5 0.2 0.2\n", "labels/val/2.txt": "1 0.5 0.5 0.2 0.2\n", "data.yaml": "train: images/train\nval: images/val\nnc: 2\nnames: [cat, dog]\n"}, "convert images SRC --annotations SRC", 2, "cat dog"},
	"labelme":          {map[string]string{"1.png": "", "1.json": `{"shapes":[{"label":"cat","points":[[1,2],[4,5]],"shape_type":"rectangle"}],"imagePath":"1.png","imageHeight":6,"imageWidth":8}`}, "convert images SRC --annotations SRC", 1, "cat"},
	"boxes":            {map[string]string{"images/1.png": "", "images/2.png": "", "train_labels.csv": boxes, "test_labels.csv": strings.Replace(boxes, "1.png", "2.png", 1)}, "convert images SRC --annotations test=SRC/test_labels.csv --annotations train=SRC/train_labels.csv", 2, "cat"},
	"masks":            {map[string]string{"images/1.png": "", "masks/1.png": ""}, "convert images SRC/images --masks SRC/masks --unlabelled", 1, ""},
	"archives":         {map[string]string{"0.tar": "1.png 1.cls", "1.tar": "2.png 2.cls", "0_stats.json": "{}"}, "convert images SRC/*.tar", 2, "0"},
	"captions in tars": {map[string]string{"0.tar": "1.png 1.txt", "1.tar": "2.png 2.txt"}, "convert images SRC/*.tar --unlabelled", 2, ""},
	"parts":            {map[string]string{"part-0.jsonl": "{\"a\":1}\n", "part-1.jsonl": "{\"a\":2}\n"}, "convert table SRC/*.jsonl", 2, ""},
	"one table":        {map[string]string{"x.csv": "a,b\n1,2\n"}, "convert table SRC/x.csv", 1, ""},
	"other tables":     {map[string]string{"x.csv": "a,b\n1,2\n", "y.csv": "c,d\n1,2\n"}, "none", 0, ""},
	"nothing":          {map[string]string{"x.docx": "x"}, "none", 0, ""},
}

// TestInitOfLayouts runs what tfrec init proposes, and counts its records.
func TestInitOfLayouts(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := filepath.Join(t.TempDir(), "src")
			l.write(t, src)
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"init", src, "--json"}, &stdout, &stderr)
			if l.command == "none" {
				if code != 1 {
					t.Errorf("exit %d: %s", code, &stdout)
				}
				return
			}
			var got struct {
				Readings []struct {
					Command string   `json:"command"`
					Labels  []string `json:"labels"`
				} `json:"readings"`
			}
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || code != 0 || len(got.Readings) != 1 {
				t.Fatalf("exit %d, %v: %s%s", code, err, &stdout, &stderr)
			}
			words := strings.Fields(strings.ReplaceAll(got.Readings[0].Command, "'", ""))[1:]
			said := strings.ReplaceAll(strings.Join(append(words[:3:3], words[4:]...), " "), src, "SRC")
			if said != l.command || strings.Join(got.Readings[0].Labels, " ") != l.labels {
				t.Errorf("proposes %q with labels %v; want %q, %s", said, got.Readings[0].Labels, l.command, l.labels)
			}
			out := filepath.Join(t.TempDir(), "out")
			words[3] = out
			for _, args := range [][]string{words, {"convert", src, out}} { // which is up to date then
				stdout.Reset()
				if code := run(t.Context(), append(args, "--json"), &stdout, &stderr); code != 0 {
					t.Fatalf("%v: exit %d: %s", args, code, &stderr)
				}
				var sum struct{ Records int }
				if err := json.Unmarshal(stdout.Bytes(), &sum); err != nil || sum.Records != l.records {
					t.Errorf("%v: %d records, %v; want %d", args, sum.Records, err, l.records)
				}
			}
			if !strings.Contains(stdout.String(), `"up_to_date"`) {
				t.Errorf("convert without a verb makes another set: %s", &stdout)
			}
		})
	}
}

func (l layout) write(t *testing.T, src string) {
	t.Helper()
	pixels := testpng.Encode(image.NewGray(image.Rect(0, 0, 8, 6)))
	content := func(name, text string) []byte {
		if filepath.Ext(name) == ".png" {
			return pixels
		}
		return []byte(text)
	}
	for name, text := range l.files {
		data := content(name, text)
		if filepath.Ext(name) == ".tar" {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			for member := range strings.FieldsSeq(text) {
				inside := content(member, "0")
				if err := w.WriteHeader(&tar.Header{Name: member, Size: int64(len(inside)), Mode: 0o644}); err != nil {
					t.Fatal(err)
				}
				w.Write(inside)
			}
			w.Close()
			data = b.Bytes()
		}
		path := filepath.Join(src, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
