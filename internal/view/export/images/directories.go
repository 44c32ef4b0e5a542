package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	pathpkg "path"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// WriteDirectories writes each image as a file, in a directory for each label.
func WriteDirectories(ctx context.Context, in *input.Records, files filetree.Files, o *spec.Options) (err error) {
	f := NewDirectoryWriter(files, o)
	f.bySplit = hasDirectories(in.Splits)
	if f.Report.Records, err = in.Each(ctx, o.Progress, f.add); err != nil {
		return err
	}
	f.Explain()
	return f.Finish()
}

// hasDirectories reports whether images are in a directory for each split. A single split has one
// if its name is a known one other than that for training.
func hasDirectories(splits []string) bool {
	return len(splits) > 1 || splits[0] != "train" && imagetree.Split(splits[0]) != ""
}

// DirectoryWriter writes images. It remembers used names, some 40 bytes for each
// image, and the names of all directories.
type DirectoryWriter struct {
	filetree.Files
	Options *spec.Options
	Images  input.ImageReader
	bySplit bool  // in a directory for each split
	ByStem  bool  // names that differ in their extension alone are the same
	unknown int64 // images of no known format

	next  map[xxh3.Uint128]int      // number to try for a name that is taken
	taken map[xxh3.Uint128]struct{} // hashes of the folded paths of files
	given map[string]string         // path that each directory wanted, and has got
	names map[xxh3.Uint128]string   // directories by the hash of their folded path
}

func NewDirectoryWriter(files filetree.Files, o *spec.Options) *DirectoryWriter {
	return &DirectoryWriter{
		Files: files, Options: o, Images: input.ImageReader{Key: o.ImageKey},
		next: map[xxh3.Uint128]int{}, taken: map[xxh3.Uint128]struct{}{}, given: map[string]string{}, names: map[xxh3.Uint128]string{},
	}
}

func (f *DirectoryWriter) add(r *input.Row) error {
	pic, err := f.Images.Take(r)
	if err != nil {
		return err
	}
	split := ""
	if f.bySplit {
		split = r.Split
	}
	p, err := pathOf(f.Options, r, split, pic.Format)
	if err != nil {
		return err
	}
	_, err = f.Place(p, pic)
	return err
}

// Place writes an image, and returns the path that it got.
func (f *DirectoryWriter) Place(p Path, pic input.Image) (string, error) {
	dir, err := f.Directory(p.dirs)
	if err != nil {
		return "", err
	}
	got, err := f.write(dir, p.file, pic.Data)
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		is bool
		n  *int64
	}{{p.renamed, &f.Report.Renamed}, {got != pathpkg.Join(append(p.dirs, p.file)...), &f.Report.Numbered}, {pic.Encoded, &f.Report.Encoded}, {pic.Format == "", &f.unknown}} {
		if c.is {
			*c.n++
		}
	}
	return got, nil
}

// Explain notes renamed images and unknown formats.
func (f *DirectoryWriter) Explain() {
	if f.Report.Renamed > 0 {
		f.Options.Notef("%s renamed: not every system allows the names in the records", plural.Of(f.Report.Renamed, "image"))
	}
	if f.unknown > 0 {
		f.Options.Notef("%s of unknown format, named *%s", plural.Of(f.unknown, "image"), unknownExtension)
	}
}

// Directory makes the directories of a path, and returns the path that they got.
func (f *DirectoryWriter) Directory(names []string) (dir string, err error) {
	for _, name := range names {
		wanted := pathpkg.Join(dir, name)
		got, known := f.given[wanted]
		if !known {
			if got, err = f.makeDirectory(dir, name); err != nil {
				return "", err
			}
			f.given[wanted] = got
		}
		dir = got
	}
	return dir, nil
}

// Mirror makes the file dir/name for an image with the same name in another directory. name may
// contain directories.
func (f *DirectoryWriter) Mirror(dir, name string, data []byte) error {
	names := strings.Split(dir+"/"+name, "/")
	last := len(names) - 1
	got, err := f.Directory(names[:last])
	if err != nil {
		return err
	}
	return f.Put(got+"/"+names[last], data)
}

func (f *DirectoryWriter) makeDirectory(dir, name string) (string, error) {
	for n := 1; ; n++ {
		try := pathpkg.Join(dir, name)
		if n > 1 {
			try = pathpkg.Join(dir, numbered(name, n))
		}
		key := xxh3.HashString128(folded(try))
		before, taken := f.names[key]
		if before == try {
			before = ""
		}
		if !taken {
			err := f.Mkdir(try)
			if err == nil {
				f.names[key] = try
				return try, nil
			}
			// The file system takes more names for the same than we do.
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
		if f.Options.OnCollision == spec.Refuse {
			return "", &spec.CollisionError{Name: try, Taken: before}
		}
	}
}

// write makes a file that is not there, under the first path that is free, and returns that.
func (f *DirectoryWriter) write(dir, file string, data []byte) (string, error) {
	first := f.keyOf(pathpkg.Join(dir, file))
	for n := 1; ; n++ {
		try, key := pathpkg.Join(dir, file), first
		if n > 1 {
			n = max(n, f.next[first])
			f.next[first] = n + 1
			try = pathpkg.Join(dir, numbered(file, n))
			key = f.keyOf(try)
		}
		if _, taken := f.taken[key]; !taken {
			err := f.Put(try, data)
			if err == nil {
				f.taken[key] = struct{}{}
				return try, nil
			}
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
		if f.Options.OnCollision == spec.Refuse {
			return "", &spec.CollisionError{Name: try, ByStem: f.ByStem}
		}
	}
}

// keyOf returns a key that is unique to each file's path.
func (f *DirectoryWriter) keyOf(path string) xxh3.Uint128 {
	if f.ByStem {
		path, _ = safename.CutExtension(path)
	}
	return xxh3.HashString128(folded(path))
}

// numbered puts ~n into a name, before its extension.
func numbered(name string, n int) string {
	stem, ext := safename.CutExtension(name)
	return fmt.Sprintf("%s~%d%s", stem, n, ext)
}

// folded is the name that all names share which are the same where case does
// not count.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }
