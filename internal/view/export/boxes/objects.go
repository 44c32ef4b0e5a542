package boxes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/images"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// maxSplits bounds the splits, for each of which files are open.
const maxSplits = 100

// Write writes images and their annotations.
func Write(ctx context.Context, in *input.Records, files filetree.Files, o *spec.Options) error {
	if len(in.Splits) > maxSplits {
		return fmt.Errorf("%d splits are too many for %s: want %d at most", len(in.Splits), o.Format, maxSplits)
	}
	if o.Progress != nil {
		o.Progress.Planned.Add(in.Size) // the first pass
	}
	scan, err := scanObjects(ctx, in, o)
	if err != nil {
		return err
	}
	w := &objectWriter{files: images.NewDirectoryWriter(files, o), scan: scan}
	if w.codec, err = augment.NewCodec(augment.CodecOptions{}); err != nil {
		return err
	}
	switch o.Format {
	case spec.COCO:
		w.format = newCOCO(ctx, w.files, w.codec, scan)
	case spec.VOC:
		w.format, err = newVOC(w.files, w.codec, scan)
	case spec.YOLO:
		w.format, err = newYOLO(w.files, scan)
	}
	if err != nil {
		return err
	}
	w.files.ByStem = o.Format != spec.COCO
	files.Report.Records, err = in.Each(ctx, o.Progress, w.add)
	if err == nil && files.Report.Records != scan.records {
		err = input.ErrChanged
	}
	if err == nil {
		err = w.format.finish()
	}
	if closing := w.format.close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	w.files.Explain()
	return w.files.Finish()
}

// objectWriter writes images, and has their annotations written.
type objectWriter struct {
	files  *images.DirectoryWriter
	codec  *augment.Codec
	scan   *objectScan
	format annotator
	image  annotated
}

func (w *objectWriter) add(r *input.Row) error {
	pic, err := w.files.Images.Take(r)
	if err != nil {
		return err
	}
	a := &w.image
	a.row = r
	if a.width, a.height, err = w.size(r, pic); err != nil {
		return err
	}
	if err := w.parse(r); err != nil {
		return err
	}
	a.shown = orientationOf(w.codec, pic)
	a.shown.turnBoxes(a.objects.Boxes)
	a.width, a.height = a.shown.size(a.width, a.height)
	name, err := input.Text(r, w.files.Options.Filename)
	if err != nil {
		return err
	}
	dirs := w.format.dirs(r.Split)
	if slices.Contains(dirs, r.Split) {
		name = strings.TrimPrefix(name, r.Split+"/")
	}
	got, err := w.files.Place(images.PlaceIn(dirs, images.WithoutExtension(name, pic.Format), r, pic.Format), pic)
	if err != nil {
		return err
	}
	parts := strings.SplitAfterN(got, "/", len(dirs)+1)
	a.name = parts[len(dirs)]
	a.dir = strings.TrimSuffix(got, "/"+a.name)
	return w.format.add(a)
}

// parse takes the objects of a record.
func (w *objectWriter) parse(r *input.Row) error {
	a := &w.image
	if err := a.objects.Parse(&r.Features); err != nil {
		return err
	}
	a.classes = a.classes[:0]
	for i, box := range a.objects.Boxes {
		class, ok := w.scan.classes.of(&a.objects, i)
		if !ok {
			return input.ErrChanged
		}
		a.classes = append(a.classes, class)
		if err := objects.CheckBox(box); err != nil {
			return fmt.Errorf("the box of its object %d is %w; tfrec verify --deep finds all such boxes", i, err)
		}
		for k, v := range box {
			a.objects.Boxes[i][k] = clipShare(v)
		}
		if len(a.objects.Area) > 0 && !finite(a.objects.Area[i]) {
			return fmt.Errorf("%s of its object %d is %v: want a number", objects.KeyArea, i, a.objects.Area[i])
		}
	}
	return a.parseKeypoints(r, &w.scan.keypoints)
}

func finite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// size returns the size of a record's image: as the record says or, if it does not, as the header
// of the image says.
func (w *objectWriter) size(r *input.Row, pic input.Image) (width, height int, err error) {
	for _, side := range []struct {
		key string
		n   *int
	}{{imagekey.Width, &width}, {imagekey.Height, &height}} {
		f, ok := r.Get(side.key)
		if !ok || f.Len() == 0 {
			info, err := w.codec.Stat(pic.Data)
			if err != nil {
				return 0, 0, fmt.Errorf("it has no %s, and its image does not say it: %w", side.key, err)
			}
			return info.Width, info.Height, nil
		}
		n, ok := f.Int64()
		if !ok || f.Len() != 1 || n < 1 || n > math.MaxInt32 {
			return 0, 0, fmt.Errorf("%s is %v: want the size of the image in pixels", side.key, f.Value())
		}
		*side.n = int(n)
	}
	return width, height, nil
}
