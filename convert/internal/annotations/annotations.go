package annotations

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/annotation/coco"
	"github.com/tfrec/tfrec/internal/annotation/csvboxes"
	"github.com/tfrec/tfrec/internal/annotation/kitti"
	"github.com/tfrec/tfrec/internal/annotation/labelme"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/annotation/voc"
	"github.com/tfrec/tfrec/internal/annotation/yolo"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// readers read the files of the formats.
var readers = map[string]func(ctx context.Context, path string, o annotation.Options) (*annotation.Set, error){
	"coco": coco.Read, "csv": csvboxes.Read, "voc": voc.Read, "yolo": yolo.Read, "kitti": kitti.Read, "labelme": labelme.Read,
}

// Union holds the annotations of all files of AnnotationSpec.Files, with common classes and
// keypoints.
type Union struct {
	Format  string
	Sets    []*annotation.Set  // one a file; the class of an object is an index of Classes
	Classes []annotation.Class // sorted by ID
	// Keypoints are common to all objects. Flip maps each to its counterpart in a mirror image; nil if
	// the counterparts are unknown.
	Keypoints annotation.Keypoints
	Flip      []int
	Flags     annotation.Flags // of all sets
}

// Read reads AnnotationSpec.Files.
func Read(ctx context.Context, o *options.ImageOptions) (*Union, error) {
	a := new(Union)
	classes, err := readClasses(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, f := range o.Annotations.Files {
		set, err := readFile(ctx, o, f.Path, classes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", optname.AnnotationSpecFiles, err)
		}
		if a.Format == "" {
			a.Format = set.Format
		} else if a.Format != set.Format {
			return nil, fmt.Errorf("%s: %s is %s, and %s %s: want one format", optname.AnnotationSpecFiles, o.Annotations.Files[0].Path, a.Format, f.Path, set.Format)
		}
		a.Sets = append(a.Sets, set)
		a.Flags.Crowd = a.Flags.Crowd || set.Flags.Crowd
		a.Flags.Truncated = a.Flags.Truncated || set.Flags.Truncated
	}
	a.nameSources(o.Annotations.Files)
	if err := a.mergeClasses(); err != nil {
		return nil, err
	}
	for _, c := range a.Classes {
		if c.ID < 0 || c.ID > labels.MaxID {
			return nil, fmt.Errorf("%s: the id of class %s is %d, not between 0 and %d", optname.AnnotationSpecFiles, jsontext.Readable(c.Name), c.ID, labels.MaxID)
		}
	}
	if err := a.joinKeypoints(o.Annotations.Files); err != nil {
		return nil, err
	}
	noteClasses(o, a.Classes)
	images, objects := 0, 0
	for _, set := range a.Sets {
		images += len(set.Images)
		for i := range set.Images {
			objects += len(set.Images[i].Objects)
		}
	}
	o.Notef("annotations (%s): %s, %s, %s%s", a.Format, plural.Of(images, "image"), plural.Of(objects, "object"), plural.Of(len(a.Classes), "class"), keypointsText(&a.Keypoints))
	return a, nil
}

// nameSources gives each of several files of COCO or tables a distinct name in the ledger. Such files
// often have the same name in different directories.
func (a *Union) nameSources(files []options.AnnotationFile) {
	if !annotation.IsFile(a.Format) || len(files) < 2 {
		return
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	for i, name := range storage.RelativeNames(paths) {
		set := a.Sets[i]
		for k := range set.Images {
			im := &set.Images[k]
			im.Source = name
			for n := range im.Faults {
				im.Faults[n].Source = name
			}
		}
		for n := range set.Faults {
			set.Faults[n].Source = name
		}
	}
}

// noteClasses notes the first class with id 0, and the first whose name another has.
func noteClasses(o *options.ImageOptions, classes []annotation.Class) {
	if len(classes) > 0 && classes[0].ID == 0 {
		o.Notef("class %s has id 0, which TensorFlow's Object Detection API has for the background", jsontext.Readable(classes[0].Name))
	}
	ids := make(map[string]int64, len(classes))
	for _, c := range classes {
		if id, twice := ids[c.Name]; twice {
			o.Notef("classes %d and %d are both named %s", id, c.ID, jsontext.Readable(c.Name))
			return
		}
		ids[c.Name] = c.ID
	}
}

// readClasses returns the list in LabelSpec.Classes; nil without one.
func readClasses(ctx context.Context, o *options.ImageOptions) (*classfile.List, error) {
	if o.Labels.Classes == "" {
		return nil, nil
	}
	list, err := classfile.Read(ctx, o.Labels.Classes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", optname.LabelSpecClasses, err)
	}
	return list, nil
}

// readFile reads a file or directory of annotations, whose classes get the order of
// classes unless that is nil.
func readFile(ctx context.Context, o *options.ImageOptions, path string, classes *classfile.List) (*annotation.Set, error) {
	format := o.Annotations.Format
	if format == "" || format == "auto" {
		var err error
		if format, err = annotation.Detect(ctx, path); err != nil {
			return nil, err
		}
	}
	var list []annotation.Class
	var names []string
	stated := false
	if classes != nil {
		list, stated = classes.Classes()
		for _, c := range list {
			names = append(names, c.Name)
		}
	}
	set, err := readers[format](ctx, path, annotation.Options{
		Regions: o.Annotations.InstanceMasks, Workers: o.Goroutines(), Classes: names,
	})
	if err == nil && classes != nil {
		if err = set.Reorder(list, stated); err != nil {
			err = fmt.Errorf("%s: %w", optname.LabelSpecClasses, err)
		}
	}
	return set, err
}

// mergeClasses gives the objects of all files the classes of the whole set.
func (a *Union) mergeClasses() error {
	clash := a.union()
	if clash == "" {
		a.renumber(func(c annotation.Class) int64 { return c.ID })
		return nil
	}
	switch a.Format { // ids mean something there
	case "coco":
		return fmt.Errorf("%s: %s: make the categories of the files equal", optname.AnnotationSpecFiles, clash)
	case "yolo":
		return fmt.Errorf("%s: %s: %s gives them one order", optname.AnnotationSpecFiles, clash, optname.LabelSpecClasses)
	}
	a.sortClasses()
	return nil
}

// union collects the classes of all files by their ids. It describes a contradiction between two
// files; "" if there are none.
func (a *Union) union() (clash string) {
	names, ids := map[int64]string{}, map[string]int64{}
	for _, set := range a.Sets {
		before := maps.Clone(ids) // a file may have two ids of one name
		for _, c := range set.Classes {
			name, known := names[c.ID]
			if known && name != c.Name {
				return fmt.Sprintf("class %d is both %s and %s", c.ID, jsontext.Readable(name), jsontext.Readable(c.Name))
			}
			if id, ok := before[c.Name]; ok && !known && !slices.Contains(set.Classes, annotation.Class{ID: id, Name: c.Name}) {
				return fmt.Sprintf("class %s is both %d and %d", jsontext.Readable(c.Name), id, c.ID)
			}
			names[c.ID], ids[c.Name] = c.Name, c.ID
		}
	}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		a.Classes = append(a.Classes, annotation.Class{ID: id, Name: names[id]})
	}
	return ""
}

// sortClasses numbers the classes of all files by their sorted names, from 1.
func (a *Union) sortClasses() {
	ids := map[string]int64{}
	for _, set := range a.Sets {
		for _, c := range set.Classes {
			ids[c.Name] = 0
		}
	}
	for i, name := range slices.Sorted(maps.Keys(ids)) {
		ids[name] = int64(i) + 1
		a.Classes = append(a.Classes, annotation.Class{ID: ids[name], Name: name})
	}
	a.renumber(func(c annotation.Class) int64 { return ids[c.Name] })
}

// renumber sets the classes of objects to indexes of a.Classes; id returns the ID there of a class
// of a file.
func (a *Union) renumber(id func(annotation.Class) int64) {
	for _, set := range a.Sets {
		index := make([]int32, len(set.Classes))
		for i, c := range set.Classes {
			at, _ := slices.BinarySearchFunc(a.Classes, id(c), func(c annotation.Class, id int64) int { return int(c.ID - id) })
			index[i] = int32(at)
		}
		for i := range set.Images {
			for k := range set.Images[i].Objects {
				object := &set.Images[i].Objects[k]
				object.Class = index[object.Class]
			}
		}
	}
}

// Labels returns the names of classes by id, "" for an id without a class.
func (a *Union) Labels() []string {
	if len(a.Classes) == 0 {
		return nil
	}
	names := make([]string, a.Classes[len(a.Classes)-1].ID+1)
	for _, c := range a.Classes {
		names[c.ID] = c.Name
	}
	return names
}

// joinKeypoints gives the objects of all files the same keypoints.
func (a *Union) joinKeypoints(files []options.AnnotationFile) error {
	first := -1 // the first file with keypoints
	for i, set := range a.Sets {
		union, err := a.Keypoints.Union(set.Keypoints)
		if err != nil {
			return fmt.Errorf("%s: the keypoints of %s and %s cannot be in one set: %w", optname.AnnotationSpecFiles, files[first].Path, files[i].Path, err)
		}
		if a.Keypoints = union; first < 0 && union.Count > 0 {
			first = i
		}
	}
	for _, set := range a.Sets {
		set.SetKeypoints(a.Keypoints)
	}
	if a.Flip = a.Keypoints.Flip; a.Flip == nil {
		a.Flip = objects.MirrorOf(a.Keypoints.Names)
	}
	return nil
}

// keypointsText returns the number of keypoints of an object, for a note; "" without.
func keypointsText(k *annotation.Keypoints) string {
	if k.Count == 0 {
		return ""
	}
	return ", " + plural.Of(k.Count, "keypoint") + " an object"
}

// Of returns the annotations of the image with a key.
func (a *Union) Of(key string, files []options.AnnotationFile) (*annotation.Image, error) {
	var found *annotation.Image
	var names []string
	from := -1
	for i, set := range a.Sets {
		set.Within(files[i].Path, files[i].Split, []string{key})
		matched, err := set.Match([]string{key})
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w; or give the image its path below the source as the key", optname.AnnotationSpecFiles, files[i].Path, err)
		}
		switch k := matched.Of[0]; {
		case k < 0:
			for n := range min(len(set.Images), maxCandidates-len(names)) {
				names = append(names, jsontext.Readable(set.Images[n].Name))
			}
		case found != nil:
			return nil, fmt.Errorf("%s: %s and %s both annotate %s", optname.AnnotationSpecFiles, files[from].Path, files[i].Path, jsontext.Readable(key))
		default:
			found, from = &set.Images[k], i
		}
	}
	switch {
	case found != nil:
		return found, nil
	case len(names) == 0:
		return nil, fmt.Errorf("%s: %s annotates no image", optname.AnnotationSpecFiles, files[0].Path)
	}
	return nil, fmt.Errorf("%s: no annotations of %s: there are those of %s; give the image its path below the source as the key", optname.AnnotationSpecFiles, jsontext.Readable(key), strings.Join(names, ", "))
}

// maxCandidates is the number of annotated images that an error names at most.
const maxCandidates = 5
