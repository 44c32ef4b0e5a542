package boxes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/images"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/jsonvalue"
)

// cocoWriter writes images in SPLIT/, and annotations/instances_SPLIT.json with COCO's objects.
// Paths of images are below SPLIT/. Ids of images are unique in a split, whose JSON is read alone;
// ids of annotations are unique in all splits.
type cocoWriter struct {
	ctx         context.Context
	files       *images.DirectoryWriter
	scan        *objectScan
	splits      map[string]*cocoFile
	annotations int64
	masks       maskReader
	counts      []byte
	quote       jsonvalue.Value
}

// cocoFile is the JSON of a split: a list of images, in progress, and one of annotations, which is
// put after it in the end.
type cocoFile struct {
	file                *filetree.CountedFile
	images, annotations *bufio.Writer
	spool               *osfile.Scratch
	hasImages           bool
	hasAnnotations      bool
}

func newCOCO(ctx context.Context, files *images.DirectoryWriter, codec *augment.Codec, scan *objectScan) *cocoWriter {
	scan.without(files.Options, objects.KeyDifficult, objects.KeyTruncated, objects.KeyView, objects.KeySegmentation)
	if list := scan.classes.list; len(list) > 0 && list[0].ID < 0 {
		files.Options.Notef("class %s has the id %d: tools that read %s, tfrec among them, want ids from 0", jsontext.Readable(list[0].Name), list[0].ID, files.Options.Format)
	}
	if scan.badIDs != "" {
		files.Options.Notef("images have the ids 1, 2, ... instead of %s: %s", objects.KeySourceID, scan.badIDs)
	}
	return &cocoWriter{ctx: ctx, files: files, masks: maskReader{codec: codec}, scan: scan, splits: map[string]*cocoFile{}}
}

func (w *cocoWriter) dirs(split string) []string { return []string{split} }

func (w *cocoWriter) add(a *annotated) (err error) {
	f := w.splits[a.row.Split]
	if f == nil {
		if f, err = w.open(a.row.Split); err != nil {
			return err
		}
		w.splits[a.row.Split] = f
	}
	id := a.row.Number + 1
	if w.scan.badIDs == "" {
		var ok bool
		if id, ok = sourceID(a.row); !ok {
			return input.ErrChanged
		}
	}
	b := separate(f.images.AvailableBuffer(), &f.hasImages)
	b = strconv.AppendInt(append(b, `{"id":`...), id, 10)
	if b, err = w.quote.AppendString(append(b, `,"file_name":`...), []byte(a.name)); err != nil {
		return err
	}
	b = fmt.Appendf(b, `,"width":%d,"height":%d}`, a.width, a.height)
	if _, err := f.images.Write(b); err != nil {
		return err
	}
	for i := range a.objects.Len() {
		b := separate(f.annotations.AvailableBuffer(), &f.hasAnnotations)
		if b, err = w.appendObject(b, a, i, id); err != nil {
			return err
		}
		if _, err := f.annotations.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// separate appends the separator before an element of a list.
func separate(b []byte, more *bool) []byte {
	if *more {
		b = append(b, ',')
	}
	*more = true
	return append(b, '\n')
}

// appendObject appends an element of annotations.
func (w *cocoWriter) appendObject(b []byte, a *annotated, i int, image int64) (_ []byte, err error) {
	o := &a.objects
	counts, inside, err := w.region(a, i)
	if err != nil {
		return nil, err
	}
	w.annotations++
	b = fmt.Appendf(b, `{"id":%d,"image_id":%d,"category_id":%d,"bbox":[`, w.annotations, image, w.scan.classes.list[a.classes[i]].ID)
	b, area := appendBox(b, o.Boxes[i], a.width, a.height)
	b = append(b, `],"area":`...)
	switch {
	case len(o.Area) > 0:
		b = strconv.AppendFloat(b, float64(o.Area[i]), 'f', -1, 32)
	case counts != nil:
		b = strconv.AppendInt(b, int64(inside), 10)
	default:
		b = strconv.AppendFloat(b, area, 'f', -1, 64)
	}
	crowd := int64(0)
	if len(o.Crowd) > 0 {
		crowd = o.Crowd[i]
	}
	b = fmt.Appendf(b, `,"iscrowd":%d`, crowd)
	if counts != nil {
		b = fmt.Appendf(b, `,"segmentation":{"size":[%d,%d],"counts":`, a.height, a.width)
		if b, err = w.quote.AppendString(b, counts); err != nil {
			return nil, err
		}
		b = append(b, '}')
	}
	if w.scan.keypoints.of(classOf(o, i)) {
		b = w.appendKeypoints(b, a, i)
	}
	return append(b, '}'), nil
}

// appendKeypoints appends the keypoints of object i and their number.
func (w *cocoWriter) appendKeypoints(b []byte, a *annotated, i int) []byte {
	b = append(b, `,"keypoints":[`...)
	labelled := 0
	a.points = a.appendPoints(a.points[:0], i, &w.scan.keypoints)
	for n, p := range a.points {
		if n > 0 {
			b = append(b, ',')
		}
		x, xDecimals := pixels(p.x, a.width)
		y, yDecimals := pixels(p.y, a.height)
		b = append(appendDecimals(b, x, xDecimals), ',')
		b = append(appendDecimals(b, y, yDecimals), ',')
		b = strconv.AppendInt(b, p.visibility, 10)
		if p.visibility != objects.Unlabelled {
			labelled++
		}
	}
	return fmt.Appendf(b, `],"num_keypoints":%d`, labelled)
}

// appendBox appends x, y, width and height of a box in pixels, and returns its area.
func appendBox(b []byte, box [4]float32, width, height int) ([]byte, float64) {
	x0, x0Decimals := pixels(box[0], width)
	y0, y0Decimals := pixels(box[1], height)
	x1, x1Decimals := pixels(box[2], width)
	y1, y1Decimals := pixels(box[3], height)
	b = append(appendDecimals(b, x0, x0Decimals), ',')
	b = append(appendDecimals(b, y0, y0Decimals), ',')
	b = append(appendDecimals(b, x1-x0, max(x0Decimals, x1Decimals)), ',')
	return appendDecimals(b, y1-y0, max(y0Decimals, y1Decimals)), (x1 - x0) * (y1 - y0)
}

// region returns the compressed runs of an object's mask, and its number of pixels; nil if the mask
// is missing or empty.
func (w *cocoWriter) region(a *annotated, i int) (counts []byte, inside int, err error) {
	if len(a.objects.Masks) == 0 || len(a.objects.Masks[i]) == 0 {
		return nil, 0, nil
	}
	mask, err := w.masks.mask(a.objects.Masks[i], a.shown, a.width, a.height)
	if err != nil {
		return nil, 0, fmt.Errorf("the mask of its object %d: %w", i, err)
	}
	pixels := mask.Pix[:a.width*a.height]
	if inside = region.Area(pixels); inside == 0 {
		return nil, 0, nil
	}
	w.counts = region.AppendCompressed(w.counts[:0], region.Runs(pixels, a.width, a.height))
	return w.counts, inside, nil
}

// open begins the JSON of a split.
func (w *cocoWriter) open(split string) (*cocoFile, error) {
	dir, err := w.files.Directory([]string{"annotations"})
	if err != nil {
		return nil, err
	}
	f := new(cocoFile)
	if f.file, err = w.files.Create(dir + "/instances_" + split + ".json"); err != nil {
		return nil, err
	}
	if f.spool, err = osfile.ScratchIn(w.ctx, w.files.Tree.Scratch()); err != nil {
		return nil, errors.Join(err, f.file.Close())
	}
	f.images, f.annotations = bufio.NewWriter(f.file), bufio.NewWriter(f.spool)
	categories := []map[string]any{}
	for _, c := range w.scan.classes.list {
		category := map[string]any{"id": c.ID, "name": c.Name, "supercategory": ""}
		if k := &w.scan.keypoints; k.names != nil && (k.of(class{id: c.ID}) || k.of(class{text: c.Name})) {
			category["keypoints"], category["skeleton"] = k.names, []int{}
		}
		categories = append(categories, category)
	}
	list, err := json.Marshal(categories)
	if err == nil {
		_, err = fmt.Fprintf(f.images, "{\"info\":{},\"licenses\":[],\"categories\":%s,\n\"images\":[", list)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// finish puts the annotations after the images.
func (f *cocoFile) finish() error {
	if _, err := f.images.WriteString("],\n\"annotations\":["); err != nil {
		return err
	}
	if err := f.annotations.Flush(); err != nil {
		return err
	}
	if _, err := f.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(f.images, f.spool); err != nil {
		return err
	}
	if _, err := f.images.WriteString("]}\n"); err != nil {
		return err
	}
	if err := f.images.Flush(); err != nil {
		return err
	}
	return f.file.Commit()
}

func (f *cocoFile) close() error { return errors.Join(f.spool.Close(), f.file.Close()) }

func (w *cocoWriter) finish() error {
	for _, f := range w.splits {
		if err := f.finish(); err != nil {
			return err
		}
	}
	return nil
}

func (w *cocoWriter) close() (err error) {
	for _, f := range w.splits {
		if closing := f.close(); err == nil {
			err = closing
		}
	}
	return err
}
