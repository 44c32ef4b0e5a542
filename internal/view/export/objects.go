package export

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
)

// annotated is an image below OUT with its objects. It is valid until the next one.
type annotated struct {
	row           *row
	dir           string // of the images of its split
	name          string // below dir
	width, height int    // of the image as shown, in pixels
	shown         shown
	objects       objects.Objects // with boxes in shares of the image as shown
	classes       []int           // of the objects: indexes of objectScan.classes.list
	keypoints     objects.Keypoints
	points        []point // of an object
}

// stem is the name without its extension.
func (a *annotated) stem() string {
	stem, _ := safename.CutExtension(a.name)
	return stem
}

// annotator writes the annotations of images in a format.
type annotator interface {
	// dirs are the directories that the images of a split are below.
	dirs(split string) []string
	add(a *annotated) error
	// finish completes the files after the last image.
	finish() error
	// close closes files; without finish, they are of no use.
	close() error
}

// maxSplits bounds the splits, for each of which files are open.
const maxSplits = 100

// writeObjects writes images and their annotations.
func writeObjects(ctx context.Context, in *inputs, files outFiles, o *Options) error {
	if len(in.splits) > maxSplits {
		return fmt.Errorf("%d splits are too many for %s: want %d at most", len(in.splits), o.Format, maxSplits)
	}
	if o.Progress != nil {
		o.Progress.Planned.Add(in.size) // the first pass
	}
	scan, err := scanObjects(ctx, in, o)
	if err != nil {
		return err
	}
	w := &objectWriter{files: newDirectoryWriter(files, o), scan: scan}
	if w.codec, err = augment.NewCodec(augment.CodecOptions{}); err != nil {
		return err
	}
	switch o.Format {
	case COCO:
		w.format = newCOCO(ctx, w.files, w.codec, scan)
	case VOC:
		w.format, err = newVOC(w.files, w.codec, scan)
	case YOLO:
		w.format, err = newYOLO(w.files, scan)
	}
	if err != nil {
		return err
	}
	w.files.byStem = o.Format != COCO
	files.report.Records, err = in.each(ctx, o.Progress, w.add)
	if err == nil && files.report.Records != scan.records {
		err = errChanged
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
	w.files.explain()
	return w.files.finish()
}

// objectWriter writes images, and has their annotations written.
type objectWriter struct {
	files  *directoryWriter
	codec  *augment.Codec
	scan   *objectScan
	format annotator
	image  annotated
}

func (w *objectWriter) add(r *row) error {
	pic, err := w.files.images.take(r)
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
	name, err := text(r, w.files.o.Filename)
	if err != nil {
		return err
	}
	dirs := w.format.dirs(r.split)
	if slices.Contains(dirs, r.split) {
		name = strings.TrimPrefix(name, r.split+"/")
	}
	got, err := w.files.place(placeIn(dirs, withoutExtension(name, pic.format), r, pic.format), pic)
	if err != nil {
		return err
	}
	parts := strings.SplitAfterN(got, "/", len(dirs)+1)
	a.name = parts[len(dirs)]
	a.dir = strings.TrimSuffix(got, "/"+a.name)
	return w.format.add(a)
}

// parse takes the objects of a record.
func (w *objectWriter) parse(r *row) error {
	a := &w.image
	if err := a.objects.Parse(&r.Features); err != nil {
		return err
	}
	a.classes = a.classes[:0]
	for i, box := range a.objects.Boxes {
		class, ok := w.scan.classes.of(&a.objects, i)
		if !ok {
			return errChanged
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
func (w *objectWriter) size(r *row, pic storedImage) (width, height int, err error) {
	for _, side := range []struct {
		key string
		n   *int
	}{{imagekey.Width, &width}, {imagekey.Height, &height}} {
		f, ok := r.Get(side.key)
		if !ok || f.Len() == 0 {
			info, err := w.codec.Stat(pic.data)
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

// maxDecimals bounds the decimals of a coordinate in pixels.
const maxDecimals = 9

// pixels returns a coordinate in pixels, given as a share of a side of the image: the number with
// the fewest decimals whose share is the same float32. So what came in as 12 or 12.34 is that
// again.
func pixels(share float32, side int) (v float64, decimals int) {
	exact := float64(share) * float64(side)
	for p := 1.; decimals < maxDecimals; decimals++ {
		if v = math.Round(exact*p) / p; float32(v/float64(side)) == share {
			return v, decimals
		}
		p *= 10
	}
	return exact, maxDecimals
}

// appendDecimals appends a number with up to so many decimals.
func appendDecimals(b []byte, v float64, decimals int) []byte {
	return strconv.AppendFloat(b, v, 'f', decimals, 64)
}
