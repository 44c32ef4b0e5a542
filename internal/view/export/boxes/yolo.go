package boxes

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/view/export/images"
)

// yoloWriter writes the directories of Ultralytics' YOLO: images/SPLIT, labels/SPLIT with a text an
// image, data.yaml, and classes.txt. A class is its index in both, in the order of ids. If objects have
// keypoints, each line has them.
type yoloWriter struct {
	files *images.DirectoryWriter
	scan  *objectScan
	dirOf map[string]string // of the images of a split
	line  []byte
}

func newYOLO(files *images.DirectoryWriter, scan *objectScan) (*yoloWriter, error) {
	for _, c := range scan.classes.list {
		if strings.ContainsAny(c.Name, "\r\n") {
			return nil, fmt.Errorf("the name of class %d cannot be a line of classes.txt: %q", c.ID, c.Name)
		}
	}
	if err := scan.classes.checkNames(); err != nil {
		return nil, err
	}
	if k := &scan.keypoints; k.count > 0 && objects.MirrorOf(k.names) == nil {
		files.Options.Notef("data.yaml has no flip_idx, as the names of the keypoints do not say which is left and which is right: Ultralytics' tools flip no images without it")
	}
	scan.without(files.Options, objects.KeyDifficult, objects.KeyTruncated, objects.KeyView, objects.KeyCrowd, objects.KeyArea, objects.KeyMask, objects.KeySegmentation)
	return &yoloWriter{files: files, scan: scan, dirOf: map[string]string{}}, nil
}

func (w *yoloWriter) dirs(split string) []string { return []string{"images", split} }

func (w *yoloWriter) add(a *annotated) error {
	w.dirOf[a.row.Split] = a.dir
	b := w.line[:0]
	for i, box := range a.objects.Boxes {
		x0, y0, x1, y1 := float64(box[0]), float64(box[1]), float64(box[2]), float64(box[3])
		b = strconv.AppendInt(b, int64(a.classes[i]), 10)
		for _, v := range []float64{(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0} {
			b = appendDecimals(append(b, ' '), v, maxDecimals)
		}
		a.points = a.appendPoints(a.points[:0], i, &w.scan.keypoints)
		for _, p := range a.points {
			b = strconv.AppendFloat(append(b, ' '), float64(p.x), 'f', -1, 32)
			b = strconv.AppendFloat(append(b, ' '), float64(p.y), 'f', -1, 32)
			b = strconv.AppendInt(append(b, ' '), p.visibility, 10)
		}
		b = append(b, '\n')
	}
	w.line = b
	_, split, _ := strings.Cut(a.dir, "/")
	return w.files.Mirror("labels/"+split, a.stem()+".txt", b)
}

func (w *yoloWriter) close() error { return nil }

// finish writes data.yaml and classes.txt.
func (w *yoloWriter) finish() error {
	var names bytes.Buffer
	data := map[string]any{}
	index := map[int]string{}
	for i, c := range w.scan.classes.list {
		names.WriteString(c.Name + "\n")
		index[i] = c.Name
	}
	for split, dir := range w.dirOf {
		if splitlists.IsYAMLKey(split) {
			return fmt.Errorf("data.yaml has another meaning for %q: rename the split", split)
		}
		data[split] = dir
	}
	for _, split := range []string{"train", "val"} {
		if _, ok := data[split]; !ok {
			w.files.Options.Notef("there is no split %s: data.yaml lacks it, and Ultralytics' tools want one", split)
		}
	}
	data["names"] = index
	if k := &w.scan.keypoints; k.count > 0 {
		data["kpt_shape"] = []int{k.count, 3}
		if flip := objects.MirrorOf(k.names); flip != nil {
			data["flip_idx"] = flip
		}
		if k.names != nil {
			names := map[int][]string{}
			for i := range index {
				names[i] = k.names
			}
			data["kpt_names"] = names
		}
	}
	text, err := yaml.Marshal(data)
	if err != nil {
		return err
	}
	if err := w.files.Put("data.yaml", text); err != nil {
		return err
	}
	return w.files.Put("classes.txt", names.Bytes())
}
