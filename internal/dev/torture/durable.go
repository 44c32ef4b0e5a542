package torture

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Durability specifies the parts of a run that must survive a loss of power.
type Durability struct {
	// Root is the directory, without symbolic links, that the run writes below.
	Root string
	// Before has the paths of all that was below Root before the run.
	Before []string
	// Ignore reports whether a path is of no value after the run: a lock, say, or a
	// temporary file. Default: none is.
	Ignore func(path string) bool
	// Vouches reports whether a file of this name refers to others, such as a manifest: before it
	// gets its name all other names have to be durable. Default: none does.
	Vouches func(path string) bool
}

// Check returns the faults in the order of syncs in a log: files that got a name before their data
// were synced, and unsynced files and names at the end.
func (d Durability) Check(log []byte) []string {
	x := &disk{Durability: d, files: map[string]*inode{}, unsynced: map[string]string{}}
	for _, path := range d.Before {
		x.files[path] = new(inode)
	}
	for c := range parse(log) {
		x.apply(&c)
	}
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		if x.files[path].dirty && !x.ignored(path) {
			x.fault("the data of %s are not synced at the end", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(x.unsynced)) {
		if !x.ignored(path) {
			x.fault("the name of %s is not synced at the end: %s", path, x.unsynced[path])
		}
	}
	return x.faults
}

// disk models the changes of a run.
type disk struct {
	Durability
	files    map[string]*inode // and directories, by path
	unsynced map[string]string // names that are not durable, and the call that made them
	faults   []string
}

type inode struct{ dirty bool }

func (x *disk) fault(format string, args ...any) {
	x.faults = append(x.faults, fmt.Sprintf(format, args...))
}

func (x *disk) ignored(path string) bool { return x.Ignore != nil && x.Ignore(path) }

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func (x *disk) named(path, by string) { x.unsynced[path] = by }

// apply applies the effect of a call on the disk to the model.
func (x *disk) apply(c *call) {
	if !c.ok {
		return
	}
	switch c.name {
	case "open", "creat", "openat":
		x.open(c)
	case "write", "pwrite64", "writev", "ftruncate", "fallocate":
		x.write(c.path(0))
	case "copy_file_range":
		x.write(c.path(2))
	case "sendfile":
		x.write(c.path(0))
	case "fsync", "fdatasync":
		x.sync(c.path(0))
	case "syncfs":
		for _, f := range x.files {
			f.dirty = false
		}
		clear(x.unsynced)
	case "rename":
		x.rename(c.path(0), c.path(1))
	case "renameat", "renameat2":
		x.rename(c.path(1), c.path(3))
	case "link":
		x.link(c.path(0), c.path(1))
	case "linkat":
		x.link(c.path(1), c.path(3))
	case "symlinkat":
		x.create(c.path(2), c.name)
	case "mkdir":
		x.create(c.path(0), c.name)
	case "mkdirat":
		x.create(c.path(1), c.name)
	case "unlink", "rmdir":
		x.remove(c.path(0))
	case "unlinkat":
		x.remove(c.path(1))
	}
}

func (x *disk) open(c *call) {
	path, flags := c.fd, strings.Join(c.args, "|")
	if !within(path, x.Root) || !strings.Contains(flags, "O_CREAT") && c.name != "creat" {
		return
	}
	f, known := x.files[path]
	if !known {
		x.create(path, c.name)
	} else if strings.Contains(flags, "O_TRUNC") {
		f.dirty = true
	}
}

func (x *disk) create(path, by string) {
	if within(path, x.Root) {
		x.files[path] = new(inode)
		x.named(path, by)
	}
}

func (x *disk) write(path string) {
	if f := x.files[path]; f != nil {
		f.dirty = true
	}
}

// sync makes the data of a file durable, or the names in a directory.
func (x *disk) sync(path string) {
	if f := x.files[path]; f != nil {
		f.dirty = false
	}
	for name := range x.unsynced {
		if filepath.Dir(name) == path {
			delete(x.unsynced, name)
		}
	}
}

func (x *disk) rename(from, to string) {
	if !within(from, x.Root) && !within(to, x.Root) {
		return
	}
	x.settled(from, to)
	moved := map[string]*inode{}
	for path, f := range x.files {
		if within(path, from) {
			moved[to+strings.TrimPrefix(path, from)] = f
			delete(x.files, path)
		}
	}
	x.remove(to)
	maps.Copy(x.files, moved)
	for path, by := range maps.Clone(x.unsynced) {
		if within(path, from) {
			delete(x.unsynced, path)
			if path != from {
				x.named(to+strings.TrimPrefix(path, from), by)
			}
		}
	}
	x.named(to, "rename")
}

// settled reports what should be durable before a file gets its name.
func (x *disk) settled(from, to string) {
	if x.ignored(to) {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		if within(path, from) && x.files[path].dirty {
			x.fault("%s gets the name %s before its data are synced", path, to)
		}
	}
	if x.Vouches == nil || !x.Vouches(to) {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(x.unsynced)) {
		if path != from && !x.ignored(path) {
			x.fault("%s vouches for %s, whose name is not synced yet: %s", to, path, x.unsynced[path])
		}
	}
}

func (x *disk) link(from, to string) {
	if f := x.files[from]; f != nil && within(to, x.Root) {
		if f.dirty && !x.ignored(to) {
			x.fault("%s gets the name %s before its data are synced", from, to)
		}
		x.files[to] = f
		x.named(to, "link")
	}
}

func (x *disk) remove(path string) {
	delete(x.files, path)
	delete(x.unsynced, path)
}
