// Package survey lists what a source holds before anything is known about it: the images, and the
// files that may be packed images, tables, or state labels and objects.
//
//	s, err := survey.Look(ctx, "photos")
//	fmt.Println(s.Images.Files, s.Tables)
package survey

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// MostNamed is the maximum number of files of a kind whose names a survey has.
const MostNamed = 1000

// MostTops is the maximum number of directories whose images a survey counts.
const MostTops = 1 << 20

// Survey is what a source holds. Names are below it, with slashes; for a source that is a file, its
// own.
type Survey struct {
	// Directory is false for a source that is one file, or the files of a glob.
	Directory bool
	// Images are the files with the extension of an image.
	Images Count
	// Extensions are all files, hidden ones aside, by extension in lower case, most files first.
	Extensions []Extension
	// Tops counts the images in each directory of the source and below it, and in the source itself, ".";
	// of the first MostTops directories.
	Tops map[string]int64
	// Archives, Records, Columnar (Parquet, Arrow), Tables (CSV, JSON lines) and Arrays (NumPy) are the
	// files of these kinds, by the extensions of their names.
	Archives, Records, Columnar, Tables, Arrays []string
	// JSON and Annotations (.json, and .xml or .txt) are the files that may say what is on images.
	JSON, Annotations []string
}

// Count is a number of files, and their size.
type Count struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Extension counts the files with an extension; "" counts those without one.
type Extension struct {
	Extension string `json:"extension"`
	Count
}

// Look lists a source: a file, a directory, local or in a store, or a glob of files. Hidden files, and
// links to directories, are left out. An error unwraps to fs.ErrNotExist if nothing is there.
func Look(ctx context.Context, src string) (*Survey, error) {
	at := storage.Parse(src)
	l := &look{found: Survey{Tops: map[string]int64{}}, extensions: map[string]Count{}}
	st, err := at.Stat(ctx)
	switch {
	case err == nil && st.IsDir():
		l.found.Directory = true
		err = l.directory(ctx, at)
	case err == nil:
		l.add(at.Base(), st.Size())
	case storage.Missing(err) && strings.ContainsAny(src, "*?["):
		err = l.glob(ctx, src, err)
	}
	if err != nil {
		return nil, err
	}
	return l.survey(), nil
}

// look is a survey being made.
type look struct {
	found      Survey
	extensions map[string]Count
}

func (l *look) directory(ctx context.Context, at storage.Location) error {
	if !at.Remote() {
		return l.local(ctx, at, "")
	}
	for o, err := range at.Walk(ctx) {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(o.Name, "/") && !imagetree.HiddenPath(o.Name) {
			l.add(o.Name, o.Size)
		}
	}
	return nil
}

// local adds the files of a directory, and of those below it.
func (l *look) local(ctx context.Context, root storage.Location, dir string) error {
	for e, err := range root.Join(dir).Entries(ctx) {
		if err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		if imagetree.Hidden(e.Name()) {
			continue
		}
		if e.IsDir() {
			if err := l.local(ctx, root, name); err != nil {
				return err
			}
			continue
		}
		var size int64
		if st, err := e.Info(); err == nil && e.Type().IsRegular() {
			size = st.Size()
		} else if e.Type()&fs.ModeSymlink != 0 {
			if st, err := root.Join(name).Stat(ctx); err != nil || st.IsDir() {
				continue
			}
		}
		l.add(name, size)
	}
	return nil
}

func (l *look) glob(ctx context.Context, src string, missing error) error {
	files, _, err := storage.GlobKinds(ctx, src)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return missing
	}
	for _, f := range files {
		st, err := f.Stat(ctx)
		if err != nil {
			return err
		}
		l.add(f.Base(), st.Size())
	}
	return nil
}

// add counts a file, and keeps its name if it may be read.
func (l *look) add(name string, size int64) {
	base := strings.ToLower(path.Base(name))
	bare := strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
	ext := path.Ext(bare)
	count := l.extensions[path.Ext(base)]
	count.Files++
	count.Bytes += size
	l.extensions[path.Ext(base)] = count
	s := &l.found
	keep := func(names *[]string) {
		if len(*names) < MostNamed {
			*names = append(*names, name)
		}
	}
	switch reason := account.OfFile(name); {
	case imagetree.IsImage(name):
		s.Images.Files++
		s.Images.Bytes += size
		top, _, below := strings.Cut(name, "/")
		if !below {
			top = "."
		}
		if s.Tops[top] > 0 || len(s.Tops) < MostTops {
			s.Tops[top]++
		}
	case slices.Contains([]string{".tar", ".tgz", ".zip"}, ext):
		keep(&s.Archives)
	case slices.Contains([]string{".parquet", ".arrow", ".feather"}, ext):
		keep(&s.Columnar)
	case reason == account.Records, strings.Contains(base, "tfrecord"), strings.HasPrefix(base, "part-r-"), ext == ".tfrec":
		if ext != ".index" {
			keep(&s.Records)
		}
	case slices.Contains([]string{".csv", ".tsv", ".jsonl", ".ndjson"}, ext):
		if reason != account.Metadata {
			keep(&s.Tables)
		}
	case ext == ".npy", ext == ".npz":
		keep(&s.Arrays)
	case ext == ".json":
		keep(&s.JSON)
	case ext == ".xml", ext == ".txt" && reason != account.Metadata:
		keep(&s.Annotations)
	}
}

func (l *look) survey() *Survey {
	for _, ext := range slices.Sorted(maps.Keys(l.extensions)) {
		l.found.Extensions = append(l.found.Extensions, Extension{ext, l.extensions[ext]})
	}
	slices.SortStableFunc(l.found.Extensions, func(a, b Extension) int { return cmp.Compare(b.Files, a.Files) })
	for _, names := range []*[]string{&l.found.Archives, &l.found.Records, &l.found.Columnar, &l.found.Tables, &l.found.Arrays, &l.found.JSON, &l.found.Annotations} {
		slices.Sort(*names)
	}
	return &l.found
}
