package boxes

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/images"
	"github.com/tfrec/tfrec/internal/view/export/input"
)

// vocWriter writes the directories of Pascal VOC: JPEGImages, an XML an image in Annotations, the
// semantic masks in SegmentationClass and the masks of objects in SegmentationObject, and the
// images of a split in ImageSets/Main/SPLIT.txt.
type vocWriter struct {
	files *images.DirectoryWriter
	scan  *objectScan
	sets  map[string]*filetree.CountedFile // by split
	masks vocMasks
	b     bytes.Buffer
}

func newVOC(files *images.DirectoryWriter, codec *augment.Codec, scan *objectScan) (*vocWriter, error) {
	for _, c := range scan.classes.list {
		if !inXML(c.Name) {
			return nil, fmt.Errorf("the name of class %d cannot be written as XML: %q", c.ID, c.Name)
		}
	}
	if err := scan.classes.checkNames(); err != nil {
		return nil, err
	}
	scan.without(files.Options, objects.KeyCrowd, objects.KeyArea, objects.KeyKeypointX)
	return &vocWriter{files: files, scan: scan, sets: map[string]*filetree.CountedFile{}, masks: vocMasks{maskReader: maskReader{codec: codec}}}, nil
}

func (w *vocWriter) dirs(string) []string { return []string{"JPEGImages"} }

func (w *vocWriter) add(a *annotated) error {
	if err := w.list(a); err != nil {
		return err
	}
	segmented, err := w.segmentation(a)
	if err != nil {
		return err
	}
	w.b.Reset()
	w.b.WriteString("<annotation>\n")
	w.element("\t", "folder", a.dir)
	w.element("\t", "filename", a.name)
	fmt.Fprintf(&w.b, "\t<size>\n\t\t<width>%d</width>\n\t\t<height>%d</height>\n\t\t<depth>%d</depth>\n\t</size>\n", a.width, a.height, depth(a.row))
	fmt.Fprintf(&w.b, "\t<segmented>%d</segmented>\n", segmented)
	for i := range a.objects.Len() {
		if err := w.object(a, i); err != nil {
			return err
		}
	}
	w.b.WriteString("</annotation>\n")
	return w.files.Mirror("Annotations", a.stem()+".xml", w.b.Bytes())
}

// object appends the element of an object.
func (w *vocWriter) object(a *annotated, i int) error {
	o := &a.objects
	w.b.WriteString("\t<object>\n")
	w.element("\t\t", "name", w.scan.classes.list[a.classes[i]].Name)
	if len(o.Views) > 0 && len(o.Views[i]) > 0 {
		view := string(o.Views[i])
		if !inXML(view) {
			return fmt.Errorf("%s of its object %d cannot be written as XML: %q", objects.KeyView, i, view)
		}
		w.element("\t\t", "pose", view)
	}
	if len(o.Truncated) > 0 {
		w.element("\t\t", "truncated", strconv.FormatInt(o.Truncated[i], 10))
	}
	if len(o.Difficult) > 0 {
		w.element("\t\t", "difficult", strconv.FormatInt(o.Difficult[i], 10))
	}
	w.b.WriteString("\t\t<bndbox>\n")
	for k, name := range []string{"xmin", "ymin", "xmax", "ymax"} {
		side := []int{a.width, a.height}[k%2]
		v, decimals := pixels(o.Boxes[i][k], side)
		w.element("\t\t\t", name, string(appendDecimals(nil, v, decimals)))
	}
	w.b.WriteString("\t\t</bndbox>\n\t</object>\n")
	return nil
}

func (w *vocWriter) element(indent, name, text string) {
	w.b.WriteString(indent + "<" + name + ">")
	xml.EscapeText(&w.b, []byte(text)) // a bytes.Buffer takes everything
	w.b.WriteString("</" + name + ">\n")
}

// inXML reports whether s can be the text of an element (XML 1.0, 2.2 Characters).
func inXML(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
	})
}

// depth returns the number of channels of an image: the record's, else 3.
func depth(r *input.Row) int64 {
	f, _ := r.Get(imagekey.Channels)
	if n, ok := f.Int64(); ok {
		return n
	}
	return 3
}

// segmentation writes the masks of an image, and returns 1; 0 if it has none.
func (w *vocWriter) segmentation(a *annotated) (segmented int, err error) {
	for _, dir := range []struct {
		name string
		draw func(*annotated) ([]byte, error)
	}{{"SegmentationClass", w.masks.classes}, {"SegmentationObject", w.masks.objects}} {
		mask, err := dir.draw(a)
		if err != nil {
			return 0, err
		}
		if mask == nil {
			continue
		}
		if err := w.files.Mirror(dir.name, a.stem()+".png", mask); err != nil {
			return 0, err
		}
		segmented = 1
	}
	return segmented, nil
}

// list adds an image to the list of its split.
func (w *vocWriter) list(a *annotated) error {
	split := a.row.Split
	f := w.sets[split]
	if f == nil {
		dir, err := w.files.Directory([]string{"ImageSets", "Main"})
		if err != nil {
			return err
		}
		if f, err = w.files.Create(dir + "/" + split + ".txt"); err != nil {
			return err
		}
		w.sets[split] = f
	}
	_, err := f.Write([]byte(a.stem() + "\n"))
	return err
}

func (w *vocWriter) finish() error {
	w.masks.explain(w.files.Options)
	for _, f := range w.sets {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (w *vocWriter) close() (err error) {
	for _, f := range w.sets {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}
	return err
}
