// Package csvboxes reads boxes from tables of comma-separated values with an object in each row:
// the tables of TensorFlow's Object Detection tutorials and Roboflow, of Open Images, and of
// keras-retinanet.
package csvboxes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/charset"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

const (
	maxImages  = 1 << 24
	maxObjects = 1 << 26
	// maxFaults bounds the rows that cannot be used.
	maxFaults = 1 << 18
	// maxLoose bounds the rows that cannot be used and whose image is not known either.
	maxLoose = 1000
	maxPath  = 4096 // bytes of an image's name
)

// Read reads the table at path, a local file or a URL, plain or compressed. Errors name it.
//
// Columns are found by their names, in any order and case; a table without a header has the columns
// of keras-retinanet. Coordinates are shares of the image in tables with the columns ImageID and
// LabelName, as in Open Images, and pixels in all others. It is an error if the boxes of another
// table could be shares. Rows that cannot be used are faults. Classes are sorted by name, as bytes.
func Read(ctx context.Context, path string, _ annotation.Options) (*annotation.Set, error) {
	src, err := csvscan.Open(ctx, path, csvscan.Options{Decoder: charset.Charset{}.Decoder(), NoHeader: true})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := reader{
		set:    annotation.Set{Format: "csv", Unused: annotation.Fields{}},
		source: storage.Base(path), images: map[string]int32{},
	}
	for row, err := range src.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		if err := r.row(row); err != nil {
			return nil, &csvscan.Error{Name: src.Name(), Line: row.Line(), Err: err}
		}
	}
	if err := r.finish(); err != nil {
		return nil, &csvscan.Error{Name: src.Name(), Err: err}
	}
	return &r.set, nil
}

// reader collects the rows of a table.
type reader struct {
	set     annotation.Set
	source  string
	columns *columns         // nil before the first row
	images  map[string]int32 // positions in set.Images by name
	state   []imageState     // of set.Images
	names   annotation.Names
	objects int
	faults  int
	// shares and pixels are the first boxes that can only be one or the other, and either the first
	// that can be both, of a table that does not state its unit.
	shares, pixels, either *example
}

// imageState is the state of an image, except for its objects.
type imageState struct {
	empty int64 // the line that states that it has no objects; 0 if none does
	sized int64 // the line that states its size; 0 if none does
}

// example is a box in the table.
type example struct {
	line int64
	box  annotation.Box
}

func (e *example) String() string {
	return fmt.Sprintf("line %d: %g,%g to %g,%g", e.line, e.box.XMin, e.box.YMin, e.box.XMax, e.box.YMax)
}

// row takes a row; an error ends the run.
func (r *reader) row(row *csvscan.Tokenizer) error {
	if r.columns == nil {
		if row.Bad() {
			return fault(row)
		}
		columns, header, err := columnsOf(row)
		if err != nil {
			return err
		}
		r.columns = columns
		r.set.Flags = annotation.Flags{Crowd: columns.has(columnCrowd), Truncated: columns.has(columnTruncated)}
		if header {
			return nil
		}
	}
	c := r.columns
	line := row.Line()
	switch name := "line " + strconv.FormatInt(line, 10); {
	case row.Bad():
		return r.refuseLoose(name, line, fault(row).Error())
	case row.Len() != c.count:
		return r.refuseLoose(name, line, fmt.Sprintf("it has %d fields: want %d", row.Len(), c.count))
	default:
		image, reason := imageName(row.Field(c.at[columnImage]))
		if reason != "" {
			return r.refuseLoose(name, line, "column "+c.names[columnImage]+": "+reason)
		}
		return r.annotation(row, name, image)
	}
}

// fault returns the reason why a row cannot be separated into fields, without its line.
func fault(row *csvscan.Tokenizer) error { return errors.Unwrap(row.Err().(*csvscan.Error)) }

// refuseLoose adds a row whose image is not known to the faults.
func (r *reader) refuseLoose(name string, line int64, reason string) error {
	if len(r.set.Faults) == maxLoose {
		f := &r.set.Faults[0]
		return fmt.Errorf("more than %d rows cannot be used, such as line %d: %s", maxLoose, f.Line, f.Reason)
	}
	r.set.Faults = append(r.set.Faults, annotation.Fault{Name: name, Source: r.source, Line: line, Reason: reason})
	return nil
}

// refuse adds a row to the faults of its image. An image with too many of them cannot be used at all.
func (r *reader) refuse(im *annotation.Image, name string, line int64, reason string) error {
	if r.faults++; r.faults > maxFaults {
		return fmt.Errorf("more than %d rows cannot be used, such as this one: %s", maxFaults, reason)
	}
	if err := im.Refuse(name, line, reason); err != nil {
		im.Unreadable, im.Objects, im.Faults = err.Error(), nil, nil
	}
	return nil
}

// image returns the position of an image.
func (r *reader) image(name []byte, line int64) (int32, error) {
	if i, known := r.images[string(name)]; known {
		return i, nil
	}
	if len(r.images) == maxImages {
		return 0, fmt.Errorf("more than %d images", maxImages)
	}
	i := int32(len(r.set.Images))
	im := annotation.Image{Name: string(name), Source: r.source, Line: line, Relative: r.columns.relative}
	r.images[im.Name] = i
	r.set.Images = append(r.set.Images, im)
	r.state = append(r.state, imageState{})
	return i, nil
}

// annotation adds a row of an image.
func (r *reader) annotation(row *csvscan.Tokenizer, name string, image []byte) error {
	line := row.Line()
	at, err := r.image(image, line)
	if err != nil {
		return err
	}
	im, state := &r.set.Images[at], &r.state[at]
	if im.Unreadable != "" {
		return nil
	}
	r.columns.account(r.set.Unused, row)
	if reason := r.size(im, state, row); reason != "" {
		return r.refuse(im, name, line, reason)
	}
	if r.columns.empty(row) {
		state.empty = cmp.Or(state.empty, line)
		return nil
	}
	o, reason := r.columns.object(row, &r.names)
	if reason != "" {
		return r.refuse(im, name, line, reason)
	}
	if r.objects++; r.objects > maxObjects {
		return fmt.Errorf("more than %d objects", maxObjects)
	}
	o.Name = name
	im.Objects = append(im.Objects, o)
	r.note(line, o.Box)
	return nil
}

// size takes the size that a row states. It returns why the row cannot be used.
func (r *reader) size(im *annotation.Image, state *imageState, row *csvscan.Tokenizer) (reason string) {
	w, h := r.columns.size(r.set.Unused, row)
	switch {
	case w == 0 || h == 0:
	case state.sized == 0:
		im.Width, im.Height, state.sized = w, h, row.Line()
	case im.Width != w || im.Height != h:
		return fmt.Sprintf("the image has %d x %d pixels here, and %d x %d in line %d", w, h, im.Width, im.Height, state.sized)
	}
	return ""
}

// note keeps the first boxes that determine the unit of coordinates. A box of whole numbers from 0
// to 1 can be in pixels or in shares.
func (r *reader) note(line int64, b annotation.Box) {
	to := &r.pixels
	switch {
	case r.columns.relative:
		return
	case b.XMin < -slack || b.YMin < -slack || b.XMax > 1+slack || b.YMax > 1+slack:
	case whole(b.XMin) && whole(b.YMin) && whole(b.XMax) && whole(b.YMax):
		to = &r.either
	default:
		to = &r.shares
	}
	if *to == nil {
		*to = &example{line, b}
	}
}

// whole reports whether a number has no fraction.
func whole(v float64) bool { return v == math.Trunc(v) }

// finish completes the set after the last row.
func (r *reader) finish() error {
	const advice = "multiply shares by the width and height of the image, or name the columns as Open Images does (ImageID, LabelName)"
	switch both := cmp.Or(r.shares, r.either); {
	case r.shares != nil && r.pixels != nil:
		return fmt.Errorf("boxes could be shares of the image (%v) or pixels (%v), and a table has one of these: %s", r.shares, r.pixels, advice)
	case r.pixels == nil && both != nil:
		return fmt.Errorf("boxes could be shares of the image or pixels, as all coordinates are between 0 and 1 (%v): %s", both, advice)
	}
	for i, state := range r.state {
		im := &r.set.Images[i]
		if state.empty == 0 || len(im.Objects) == 0 {
			continue
		}
		reason := fmt.Sprintf("it states that the image has no objects, and the image has one in %s", im.Objects[0].Name)
		if err := r.refuse(im, fmt.Sprintf("line %d", state.empty), state.empty, reason); err != nil {
			return err
		}
	}
	slices.SortFunc(r.set.Images, func(a, b annotation.Image) int { return cmp.Compare(a.Name, b.Name) })
	r.names.Assign(&r.set)
	return nil
}
