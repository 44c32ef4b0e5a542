package annotation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	// looks is the maximum number of files of an extension that Detect reads, and lookAt the
	// maximum number of bytes of each.
	looks    = 64
	lookAt   = 64 << 10
	maxDepth = 64 // of lists and objects in JSON
)

// Detect returns the format of annotations: "coco" for a .json file and "csv" for a .csv file,
// which may be compressed, and for a directory "voc" with .xml files, "labelme" with .json files
// that have shapes, "kitti" with .txt files of 15 or 16 fields a line, and "yolo" with .txt files
// of numbers, or with empty .txt files and a list of classes ([Directory.ClassLists]). It is an
// error if a directory has none of these, or several.
func Detect(ctx context.Context, at string) (string, error) {
	st, err := storage.Stat(ctx, at)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		base := strings.ToLower(storage.Base(at))
		switch name := strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst"); {
		case HasExt(name, ".json"):
			return "coco", nil
		case HasExt(name, ".csv"):
			return "csv", nil
		}
		return "", fmt.Errorf("%s: cannot tell the format of the annotations: want COCO's .json file, a .csv table, or the directory of voc, yolo, kitti or labelme", at)
	}
	d, err := List(ctx, at, func(base string) bool {
		return HasExt(base, ".xml") || HasExt(base, ".json") || HasExt(base, ".txt") || IsClassFile(base)
	})
	if err != nil {
		return "", err
	}
	return d.detect(ctx)
}

// detect is Detect for a directory.
func (d *Directory) detect(ctx context.Context) (string, error) {
	files := map[string][]*File{} // by extension
	for i := range d.Files {
		f := &d.Files[i]
		if base := path.Base(f.Name); !IsClassFile(base) {
			ext := strings.ToLower(path.Ext(base))
			files[ext] = append(files[ext], f)
		}
	}
	var found []string
	if len(files[".xml"]) > 0 {
		found = append(found, "voc")
	}
	for _, by := range []struct {
		ext  string
		look func(head []byte) string
	}{{".json", lookJSON}, {".txt", lookText}} {
		formats, err := d.look(ctx, files[by.ext], by.look)
		if err != nil {
			return "", err
		}
		found = append(found, formats...)
	}
	if len(found) == 0 && len(files[".txt"]) > 0 {
		lists, err := d.ClassLists(ctx)
		if err != nil {
			return "", err
		}
		if len(lists) > 0 {
			found = []string{"yolo"}
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var has []string
	for _, ext := range []string{".xml", ".json", ".txt"} {
		if n := len(files[ext]); n > 0 {
			has = append(has, plural.Of(n, ext+" file"))
		}
	}
	switch {
	case len(has) == 0:
		return "", d.Errorf("it has no annotations: want .xml (voc), .json (labelme) or .txt files (yolo, kitti), or the path of COCO's .json file or of a .csv table")
	case len(found) == 0:
		if err := d.refuseCOCO(ctx, files[".json"]); err != nil {
			return "", err
		}
		return "", d.Errorf("cannot tell the format of the annotations from %s: set %s to voc, yolo, kitti or labelme, or give the path of COCO's .json file or of a .csv table", strings.Join(has, ", "), optname.AnnotationSpecFormat)
	}
	return "", d.Errorf("it has annotations of several formats (%s): set %s to one of %s", strings.Join(has, ", "), optname.AnnotationSpecFormat, strings.Join(found, ", "))
}

// refuseCOCO returns an error with advice on how to give COCO's files, if some of the files are
// COCO's.
func (d *Directory) refuseCOCO(ctx context.Context, files []*File) error {
	formats, err := d.look(ctx, files, lookCOCO)
	if err != nil || len(formats) == 0 {
		return err
	}
	const most = 4
	var paths []string
	for _, f := range files[:min(len(files), most)] {
		at := d.at.Join(f.Name).Path()
		if split := imagetree.Split(path.Base(path.Dir(f.Name))); split != "" {
			at = split + "=" + at
		}
		paths = append(paths, at)
	}
	if len(files) > most {
		paths = append(paths, "...")
	}
	return d.Errorf("it has COCO's files, which are given one by one in %s: %s", optname.AnnotationSpecFiles, strings.Join(paths, ", "))
}

// look returns the formats that the beginnings of some of the files have, sorted.
func (d *Directory) look(ctx context.Context, files []*File, of func([]byte) string) (formats []string, err error) {
	step := (len(files) + looks - 1) / looks
	for i := 0; i < len(files); i += step {
		head, err := d.head(ctx, files[i])
		switch {
		case errors.Is(err, regular.ErrNotRegular), files[i].link && storage.Missing(err): // reading names it
		case err != nil:
			return nil, err
		default:
			if format := of(head); format != "" && !slices.Contains(formats, format) {
				formats = append(formats, format)
			}
		}
	}
	slices.Sort(formats)
	return formats, nil
}

// head returns the beginning of a file.
func (d *Directory) head(ctx context.Context, file *File) ([]byte, error) {
	f, err := d.at.Join(file.Name).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, lookAt))
}

// lookJSON recognizes LabelMe's files by the members of the object, as far as head goes.
func lookJSON(head []byte) string {
	return lookMembers(head, "labelme", "shapes", "imagePath", "imageData")
}

// lookCOCO recognizes COCO's files in the same way.
func lookCOCO(head []byte) string {
	return lookMembers(head, "coco", "images", "annotations", "categories")
}

// LikeCOCO reports whether a file that begins with head may be one of COCO's.
func LikeCOCO(head []byte) bool { return lookCOCO(head) != "" }

// lookMembers returns the format if the object has one of the members.
func lookMembers(head []byte, format string, members ...string) string {
	text, _ := TrimMark(head)
	c := jsonscan.Cursor{Data: text}
	if c.Peek() != '{' {
		return ""
	}
	c.At++
	for n := 0; ; n++ {
		more, fault := c.More(n, '}')
		if !more || fault != "" {
			return ""
		}
		name, fault := c.Name()
		switch {
		case fault != "":
			return ""
		case slices.Contains(members, string(name)):
			return format
		case c.Skip(maxDepth) != "":
			return ""
		}
	}
}

// lookText decides by the first line.
func lookText(head []byte) string {
	head, _ = TrimMark(head)
	for _, line := range Lines(head) {
		fields := bytes.Fields(line)
		numbers := 0
		for _, field := range fields {
			if _, ok := csvscan.ParseFloat64(field); ok {
				numbers++
			}
		}
		n := len(fields)
		switch {
		case numbers == n && (n == 5 || n == 6 || n > 6 && n%2 == 1):
			return "yolo"
		case numbers == n-1 && (n == 15 || n == 16):
			return "kitti"
		}
		return ""
	}
	return ""
}
