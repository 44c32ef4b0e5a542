package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// writeFiles writes the files of an export.
type writeFiles func(ctx context.Context, in *inputs, files outFiles, o *Options) error

// exportDirectory has files written below a directory next to out, which is then renamed to out; in
// a store, below out.
func exportDirectory(ctx context.Context, in *inputs, out string, write writeFiles, o *Options, report *Report) (err error) {
	if o.Progress != nil {
		o.Progress.Planned.Add(in.size)
	}
	if at := storage.Parse(out); at.Remote() {
		return exportToStore(ctx, in, at, write, o, report)
	}
	taken, err := isTaken(out)
	if err != nil {
		return err
	}
	if taken {
		o.note("%s exists: comparing it with what would be written", out)
		sweep(out)
		report.Status = upToDate
		err := writeBelow(ctx, in, out, write, taken, o, report)
		if errors.Is(err, compare.ErrDiffers) {
			err = output.Differs(out, "")
		}
		return err
	}
	temp, done, err := workDirectory(out)
	if err != nil {
		return err
	}
	defer done()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := writeBelow(ctx, in, temp, write, taken, o, report); err != nil {
		return err
	}
	if err := os.Chmod(temp, atomicfile.Mode(0o777)); err != nil {
		return err
	}
	return publishDirectory(temp, out)
}

// isTaken reports whether a directory exists and is not empty: an earlier export may have written it.
// It returns an error if no directory can be written there.
func isTaken(out string) (bool, error) {
	if err := storage.CheckOutput(out); err != nil {
		return false, err
	}
	st, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, atomicfile.CheckDirectory(out)
	case err != nil:
		return false, err
	case !st.IsDir():
		return false, output.Differs(out, "it is not a directory")
	}
	entries, err := os.ReadDir(out)
	return len(entries) > 0, err
}

// publishDirectory gives a finished directory its name. An empty directory of that name
// makes way; anything else makes it fail.
func publishDirectory(temp, out string) error {
	taken, err := isTaken(out)
	if err == nil && taken {
		err = output.Differs(out, "")
	}
	if err != nil {
		return err
	}
	err = os.Remove(out)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(temp, out)
	if err == nil {
		if err = atomicfile.SyncDir(filepath.Dir(out)); err == nil {
			return nil
		}
		err = errors.Join(err, os.Rename(out, temp))
	}
	if existed {
		err = errors.Join(err, os.Mkdir(out, 0o755))
	}
	return err
}

// writeBelow has files written below dir and synced or, where it is finished, compared.
func writeBelow(ctx context.Context, in *inputs, dir string, write writeFiles, finished bool, o *Options, report *Report) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return write(ctx, in, outFiles{tree: &localTree{root, finished}, report: report}, o)
}

// writeDirectories writes each image as a file, in a directory for each label.
func writeDirectories(ctx context.Context, in *inputs, files outFiles, o *Options) (err error) {
	f := newDirectoryWriter(files, o)
	f.bySplit = hasDirectories(in.splits)
	if f.report.Records, err = in.each(ctx, o.Progress, f.add); err != nil {
		return err
	}
	f.explain()
	return f.finish()
}

// directoryWriter writes images. It remembers used names, some 40 bytes for each
// image, and the names of all directories.
type directoryWriter struct {
	outFiles
	o       *Options
	images  imageReader
	bySplit bool  // in a directory for each split
	byStem  bool  // names that differ in their extension alone are the same
	unknown int64 // images of no known format

	next  map[xxh3.Uint128]int      // number to try for a name that is taken
	taken map[xxh3.Uint128]struct{} // hashes of the folded paths of files
	given map[string]string         // path that each directory wanted, and has got
	names map[xxh3.Uint128]string   // directories by the hash of their folded path
}

func newDirectoryWriter(files outFiles, o *Options) *directoryWriter {
	return &directoryWriter{
		outFiles: files, o: o, images: imageReader{key: o.ImageKey},
		next: map[xxh3.Uint128]int{}, taken: map[xxh3.Uint128]struct{}{}, given: map[string]string{}, names: map[xxh3.Uint128]string{},
	}
}

func (f *directoryWriter) add(r *row) error {
	pic, err := f.images.take(r)
	if err != nil {
		return err
	}
	split := ""
	if f.bySplit {
		split = r.split
	}
	p, err := f.o.pathOf(r, split, pic.format)
	if err != nil {
		return err
	}
	_, err = f.place(p, pic)
	return err
}

// place writes an image, and returns the path that it got.
func (f *directoryWriter) place(p path, pic storedImage) (string, error) {
	dir, err := f.directory(p.dirs)
	if err != nil {
		return "", err
	}
	got, err := f.write(dir, p.file, pic.data)
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		is bool
		n  *int64
	}{{p.renamed, &f.report.Renamed}, {got != pathpkg.Join(append(p.dirs, p.file)...), &f.report.Numbered}, {pic.encoded, &f.report.Encoded}, {pic.format == "", &f.unknown}} {
		if c.is {
			*c.n++
		}
	}
	return got, nil
}

// explain notes renamed images and unknown formats.
func (f *directoryWriter) explain() {
	if f.report.Renamed > 0 {
		f.o.note("%s renamed: not every system allows the names in the records", plural.Of(f.report.Renamed, "image"))
	}
	if f.unknown > 0 {
		f.o.note("%s of unknown format, named *%s", plural.Of(f.unknown, "image"), unknownExtension)
	}
}

// directory makes the directories of a path, and returns the path that they got.
func (f *directoryWriter) directory(names []string) (dir string, err error) {
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

// mirror makes the file dir/name for an image with the same name in another directory. name may
// contain directories.
func (f *directoryWriter) mirror(dir, name string, data []byte) error {
	names := strings.Split(dir+"/"+name, "/")
	last := len(names) - 1
	got, err := f.directory(names[:last])
	if err != nil {
		return err
	}
	return f.put(got+"/"+names[last], data)
}

func (f *directoryWriter) makeDirectory(dir, name string) (string, error) {
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
			err := f.mkdir(try)
			if err == nil {
				f.names[key] = try
				return try, nil
			}
			// The file system takes more names for the same than we do.
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
		if f.o.OnCollision == Refuse {
			return "", &CollisionError{Name: try, Taken: before}
		}
	}
}

// write makes a file that is not there, under the first path that is free, and returns that.
func (f *directoryWriter) write(dir, file string, data []byte) (string, error) {
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
			err := f.put(try, data)
			if err == nil {
				f.taken[key] = struct{}{}
				return try, nil
			}
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
		if f.o.OnCollision == Refuse {
			return "", &CollisionError{Name: try, ByStem: f.byStem}
		}
	}
}

// keyOf returns a key that is unique to each file's path.
func (f *directoryWriter) keyOf(path string) xxh3.Uint128 {
	if f.byStem {
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
