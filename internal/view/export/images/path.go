package images

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// Limits of paths below OUT.
const (
	maxPath        = 1000 // bytes
	maxDirectories = 32   // names
)

// unknownExtension is the extension of images of unknown format.
const unknownExtension = ".bin"

// extensions are the names that files of a format have; the first is given to
// those that have none of them.
var extensions = map[augment.Format][]string{
	augment.JPEG: {".jpg", ".jpeg", ".jpe", ".jfif"},
	augment.PNG:  {".png"},
	augment.GIF:  {".gif"},
	augment.BMP:  {".bmp"},
	augment.WebP: {".webp"},
	augment.TIFF: {".tif", ".tiff"},
	"":           {unknownExtension},
}

// Path is the path of an image below OUT.
type Path struct {
	dirs    []string
	file    string
	renamed bool // the record's own path would not do
}

// pathOf gives an image its place: in the directory of its split, when there are
// several, in that in the directory of its label, when it has one, and there where
// its path in the record says; what that begins with of split and label is not
// said twice.
func pathOf(o *spec.Options, r *input.Row, split string, format augment.Format) (Path, error) {
	label, err := labelOf(o, r)
	if err != nil {
		return Path{}, err
	}
	name, err := input.Text(r, o.Filename)
	if err != nil {
		return Path{}, err
	}
	rest, _ := strings.CutPrefix(name, r.Split+"/")
	if label != "" {
		if below, ok := strings.CutPrefix(rest, label+"/"); ok {
			rest = below
		} else if below, ok := strings.CutPrefix(name, label+"/"); ok {
			rest = below
		} else {
			rest = name
		}
	}
	var dirs []string
	for _, directory := range []string{split, label} {
		if directory != "" {
			dirs = append(dirs, directory)
		}
	}
	return PlaceIn(dirs, rest, r, format), nil
}

// WithoutExtension drops the extension of name if it belongs to another image format.
func WithoutExtension(name string, format augment.Format) string {
	stem, ext := safename.CutExtension(name)
	for other, taken := range extensions {
		if other != format && slices.Contains(taken, strings.ToLower(ext)) && !strings.HasSuffix(stem, "/") {
			return stem
		}
	}
	return name
}

// PlaceIn is the place of an image named name in directories, made safe. The number of a variant
// and an extension that fits are added; an image without a name has its number.
func PlaceIn(dirs []string, name string, r *input.Row, format augment.Format) Path {
	if name == "" {
		name = strconv.FormatInt(r.Number, 10)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDirectories || len(name) > maxPath {
		parts = []string{name} // one name, which is cut
	}
	var p Path
	last := len(parts) - 1
	for _, directory := range slices.Concat(dirs, parts[:last]) {
		safe := safename.OfDirectory(directory)
		p.renamed = p.renamed || safe != directory
		p.dirs = append(p.dirs, safe)
	}
	file := parts[last]
	if f, ok := r.Get(imagekey.Copy); ok {
		if n, ok := f.Int64(); ok && n != 0 {
			file = variant(file, n)
		}
	}
	p.file = safename.OfFile(file)
	p.renamed = p.renamed || p.file != file
	if _, ext := safename.CutExtension(p.file); !slices.Contains(extensions[format], strings.ToLower(ext)) {
		p.file += extensions[format][0]
	}
	return p
}

// variant is the name of a variant, as PATH#COPY, but with the extension at the
// end.
func variant(file string, n int64) string {
	stem, ext := safename.CutExtension(file)
	return stem + "#" + strconv.FormatInt(n, 10) + ext
}

// labelOf returns the name of the record's label, "" when it has none.
func labelOf(o *spec.Options, r *input.Row) (string, error) {
	keys := []string{o.Label}
	if o.Label == "" {
		keys = []string{imagekey.Text, imagekey.Label}
	}
	for _, key := range keys {
		f, ok := r.Get(key)
		if !ok || f.Len() == 0 {
			continue
		}
		if id, ok := f.Int64(); ok {
			if id >= 0 && id < int64(len(r.Labels)) && r.Labels[id] != "" {
				return r.Labels[id], nil
			}
			return strconv.FormatInt(id, 10), nil
		}
		return input.Text(r, key)
	}
	return "", nil
}
