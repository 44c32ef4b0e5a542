package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/tfrecord"
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

// path is the path of an image below OUT.
type path struct {
	dirs    []string
	file    string
	renamed bool // the record's own path would not do
}

// pathOf gives an image its place: in the directory of its split, when there are
// several, in that in the directory of its label, when it has one, and there where
// its path in the record says; what that begins with of split and label is not
// said twice.
func (o *Options) pathOf(r *row, split string, format augment.Format) (path, error) {
	label, err := o.label(r)
	if err != nil {
		return path{}, err
	}
	name, err := text(r, o.Filename)
	if err != nil {
		return path{}, err
	}
	rest, _ := strings.CutPrefix(name, r.split+"/")
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
	return placeIn(dirs, rest, r, format), nil
}

// withoutExtension drops the extension of name if it belongs to another image format.
func withoutExtension(name string, format augment.Format) string {
	stem, ext := safename.CutExtension(name)
	for other, taken := range extensions {
		if other != format && slices.Contains(taken, strings.ToLower(ext)) && !strings.HasSuffix(stem, "/") {
			return stem
		}
	}
	return name
}

// placeIn is the place of an image named name in directories, made safe. The number of a variant
// and an extension that fits are added; an image without a name has its number.
func placeIn(dirs []string, name string, r *row, format augment.Format) path {
	if name == "" {
		name = strconv.FormatInt(r.number, 10)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDirectories || len(name) > maxPath {
		parts = []string{name} // one name, which is cut
	}
	var p path
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

// label returns the name of the record's label, "" when it has none.
func (o *Options) label(r *row) (string, error) {
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
			if id >= 0 && id < int64(len(r.labels)) && r.labels[id] != "" {
				return r.labels[id], nil
			}
			return strconv.FormatInt(id, 10), nil
		}
		return text(r, key)
	}
	return "", nil
}

// text returns the one text of a feature, "" if the record does not have it.
func text(r *row, key string) (string, error) {
	f, ok := r.Get(key)
	if !ok || f.Len() == 0 {
		return "", nil
	}
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return "", wrongFeature(key, f, "one text")
	}
	b, _ := f.Bytes()
	return string(b), nil
}
