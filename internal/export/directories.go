package export

import (
	"context"
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/compare"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/plural"
)

// exportDirectories writes each image as a file below a directory next to out, which is then
// renamed to out.
func exportDirectories(ctx context.Context, in *inputs, out string, o *Options, report *Report) (err error) {
	taken, err := isTaken(out, true)
	if err != nil {
		return err
	}
	if o.Progress != nil {
		o.Progress.Planned.Add(in.size)
	}
	if taken {
		o.note("%s exists: comparing it with what would be written", out)
		sweep(out)
		report.Status = upToDate
		err := writeDirectories(ctx, in, out, taken, o, report)
		if errors.Is(err, compare.ErrDiffers) {
			err = errTaken(out)
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
	if err := writeDirectories(ctx, in, temp, taken, o, report); err != nil {
		return err
	}
	if err := os.Chmod(temp, atomicfile.Mode(0o777)); err != nil {
		return err
	}
	return publishDirectory(temp, out)
}

// publishDirectory gives a finished directory its name. An empty directory of that name
// makes way; anything else makes it fail.
func publishDirectory(temp, out string) error {
	if err := checkFree(out, true); err != nil {
		return err
	}
	err := os.Remove(out)
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

// writeDirectories writes the images below dir or, where it is finished, compares.
func writeDirectories(ctx context.Context, in *inputs, dir string, finished bool, o *Options, report *Report) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f := newDirectoryWriter(root, len(in.splits) > 1, o, report)
	f.finished = finished
	if f.several {
		for _, split := range in.splits {
			switch known := imagetree.Split(split); known {
			case split:
			case "":
				o.note("convert images takes the directory %s as a class, not as a split: its splits are train, val and test", split)
			default:
				o.note("convert images takes the directory %s as the split %s", split, known)
			}
		}
	}
	if report.Records, err = in.each(ctx, o.Progress, f.add); err != nil {
		return err
	}
	if report.Renamed > 0 {
		o.note("%s renamed: not every system allows the names in the records", plural.Of(report.Renamed, "image"))
	}
	if f.unknown > 0 {
		o.note("%s of unknown format, named *%s", plural.Of(f.unknown, "image"), unknownExtension)
	}
	if finished {
		return f.checkNothingElse()
	}
	return syncTree(root, dir)
}

// directoryWriter writes images below a root. It remembers used names, some 40 bytes for each
// image, and the names of all directories.
type directoryWriter struct {
	root     *os.Root
	o        *Options
	report   *Report
	images   imageReader
	several  bool  // splits
	unknown  int64 // images of no known format
	finished bool  // the files are there, and are compared

	next  map[xxh3.Uint128]int      // number to try for a name that is taken
	taken map[xxh3.Uint128]struct{} // hashes of the folded paths of files
	given map[string]string         // path that each directory wanted, and has got
	names map[xxh3.Uint128]string   // directories by the hash of their folded path
}

func newDirectoryWriter(root *os.Root, several bool, o *Options, report *Report) *directoryWriter {
	return &directoryWriter{
		root: root, o: o, report: report, images: imageReader{key: o.ImageKey}, several: several,
		next: map[xxh3.Uint128]int{}, taken: map[xxh3.Uint128]struct{}{}, given: map[string]string{}, names: map[xxh3.Uint128]string{},
	}
}

func (f *directoryWriter) add(r *row) error {
	pic, err := f.images.take(r)
	if err != nil {
		return err
	}
	split := ""
	if f.several {
		split = r.split
	}
	p, err := f.o.pathOf(r, split, pic.format)
	if err != nil {
		return err
	}
	dir, numberedDir, err := f.directory(p.dirs)
	if err != nil {
		return err
	}
	numberedFile, err := f.write(dir, p.file, pic.data)
	if err != nil {
		return err
	}
	f.report.Files++
	f.report.Bytes += int64(len(pic.data))
	for _, c := range []struct {
		is bool
		n  *int64
	}{{p.renamed, &f.report.Renamed}, {numberedDir || numberedFile, &f.report.Numbered}, {pic.encoded, &f.report.Encoded}, {pic.format == "", &f.unknown}} {
		if c.is {
			*c.n++
		}
	}
	return nil
}

// directory makes the directories of a path, and returns the path that they got.
func (f *directoryWriter) directory(names []string) (dir string, other bool, err error) {
	for _, name := range names {
		wanted := pathpkg.Join(dir, name)
		got, known := f.given[wanted]
		if !known {
			if got, err = f.makeDirectory(dir, name); err != nil {
				return "", false, err
			}
			f.given[wanted] = got
		}
		other = other || got != wanted
		dir = got
	}
	return dir, other, nil
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
			err := f.mkdir(filepath.FromSlash(try))
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

// write makes a file that is not there, under the first name that is free.
func (f *directoryWriter) write(dir, file string, data []byte) (other bool, err error) {
	first := xxh3.HashString128(folded(pathpkg.Join(dir, file)))
	for n := 1; ; n++ {
		try, key := pathpkg.Join(dir, file), first
		if n > 1 {
			n = max(n, f.next[first])
			f.next[first] = n + 1
			try = pathpkg.Join(dir, numbered(file, n))
			key = xxh3.HashString128(folded(try))
		}
		if _, taken := f.taken[key]; !taken {
			err := f.create(filepath.FromSlash(try), data)
			if err == nil {
				f.taken[key] = struct{}{}
				return n > 1, nil
			}
			if !errors.Is(err, fs.ErrExist) {
				return false, err
			}
		}
		if f.o.OnCollision == Refuse {
			return false, &CollisionError{Name: try}
		}
	}
}

func (f *directoryWriter) mkdir(name string) error {
	if !f.finished {
		return f.root.Mkdir(name, 0o755)
	}
	st, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
		err = compare.ErrDiffers
	}
	return err
}

func (f *directoryWriter) create(name string, data []byte) error {
	if f.finished {
		return f.compare(name, data)
	}
	w, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, w.Close())
}

// compare is create for an existing file: a different one is compare.ErrDiffers.
func (f *directoryWriter) compare(name string, data []byte) error {
	st, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!st.Mode().IsRegular() || st.Size() != int64(len(data))) {
		return compare.ErrDiffers
	}
	if err != nil {
		return err
	}
	r, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	same := compare.NewWriter(r)
	same.Strict = true
	_, err = same.Write(data)
	return err
}

// checkNothingElse returns compare.ErrDiffers when there is more than was compared.
func (f *directoryWriter) checkNothingElse() error {
	var files, dirs int64
	err := fs.WalkDir(f.root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs++
		} else {
			files++
		}
		return err
	})
	if err == nil && (files != f.report.Files || dirs != int64(len(f.names))+1) {
		err = compare.ErrDiffers
	}
	return err
}
