package annotation

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Directory is a directory of annotations, with those below it.
type Directory struct {
	// Files are the files that List selected, by name.
	Files []File
	// Links are the symbolic links to directories that may have such files. They are not followed.
	Links []string
	at    storage.Location
}

// File is a file of a [Directory].
type File struct {
	// Name is its path below the directory, with "/".
	Name   string
	object storage.Object // in a store
	link   bool           // a symbolic link
}

// layouts are the directories that formats keep images and annotations in.
var layouts = map[string]struct{ annotations, images string }{
	"voc":   {"Annotations", "JPEGImages"},
	"yolo":  {"labels", "images"},
	"kitti": {"label_2", "image_2"},
}

// HasExt reports whether a name ends in an extension such as ".xml", in any case.
func HasExt(name, ext string) bool { return strings.EqualFold(path.Ext(name), ext) }

// List finds the files of a directory, local or in a store, and of those below it, whose base name
// accept accepts. Hidden files and directories, and those that tools explain their sets in, such as
// README.roboflow.txt, are left out.
func List(ctx context.Context, dir string, accept func(base string) bool) (*Directory, error) {
	d := &Directory{at: storage.Parse(dir)}
	keep := func(base string) bool {
		name, _, _ := strings.Cut(base, ".")
		return accept(base) && !strings.EqualFold(name, "readme")
	}
	var err error
	if d.at.Remote() {
		err = d.listStore(ctx, keep)
	} else {
		err = d.listLocal(ctx, "", keep)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(d.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(d.Links)
	return d, nil
}

func (d *Directory) listStore(ctx context.Context, keep func(string) bool) error {
	for o, err := range d.at.Walk(ctx) {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(o.Name, "/") && !imagetree.HiddenPath(o.Name) && keep(path.Base(o.Name)) {
			d.Files = append(d.Files, File{Name: o.Name, object: o})
		}
	}
	return nil
}

// listLocal lists the directory of a name below d.
func (d *Directory) listLocal(ctx context.Context, name string, keep func(string) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := d.at.Join(name).ReadDir(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		switch {
		case imagetree.Hidden(e.Name()):
		case e.IsDir():
			if err := d.listLocal(ctx, below, keep); err != nil {
				return err
			}
		case keep(e.Name()):
			d.Files = append(d.Files, File{Name: below, link: e.Type()&fs.ModeSymlink != 0})
		case e.Type()&fs.ModeSymlink != 0:
			directories := maxLinked
			if st, err := d.at.Join(below).Stat(ctx); err == nil && st.IsDir() && mayHold(ctx, d.at.Join(below), keep, &directories) {
				d.Links = append(d.Links, below)
			}
		}
	}
	return nil
}

// maxLinked is the maximum number of directories of a link that are searched for annotations.
const maxLinked = 1000

// mayHold reports whether a local directory, or one below it, has a file that keep accepts. It is
// also true if a directory cannot be listed, or there are too many.
func mayHold(ctx context.Context, at storage.Location, keep func(string) bool, directories *int) bool {
	*directories--
	entries, err := at.ReadDir(ctx)
	if err != nil || *directories < 0 || ctx.Err() != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		switch {
		case imagetree.Hidden(e.Name()):
			return false
		case e.IsDir():
			return mayHold(ctx, at.Join(e.Name()), keep, directories)
		}
		return keep(e.Name())
	})
}

// narrow leaves only files and links in the directories in which a format keeps annotations, such as
// "labels", if there are any: with labels/1.txt, notes.txt is not one of YOLO's.
func (d *Directory) narrow(format string) {
	layout, ok := layouts[format]
	if !ok {
		return
	}
	in := func(name string) bool { return strings.Contains("/"+name+"/", "/"+layout.annotations+"/") }
	if !slices.ContainsFunc(d.Files, func(f File) bool { return in(f.Name) }) && !slices.ContainsFunc(d.Links, in) {
		return
	}
	d.Files = slices.DeleteFunc(d.Files, func(f File) bool { return !in(f.Name) })
	d.Links = slices.DeleteFunc(d.Links, func(name string) bool { return !in(name) })
}

// faults are the links, which may hide annotations.
func (d *Directory) faults() []Fault {
	var faults []Fault
	for _, name := range d.Links {
		faults = append(faults, Fault{Source: name, Reason: "a symbolic link to a directory, which is not followed: give that directory"})
	}
	return faults
}

// Errorf returns an error of the directory as a whole.
func (d *Directory) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", d.at.Path(), fmt.Errorf(format, args...))
}
