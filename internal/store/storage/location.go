package storage

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// schemes begin URLs of object stores, whether this build can open them or not.
var schemes = []string{"s3", "gs", "azblob", "mem"}

// Location is a parsed path: a file or a directory of the local file system, or one of an object
// store.
type Location struct {
	path         string // as it was given
	scheme, host string // of the store; empty if local
	// name is the object's name, without a slash at either end and empty for the whole store, or
	// the local path without file://.
	name string
}

// Parse parses a path. It accepts any string; a URL need not name a store that exists. Parse also
// accepts a URL that has lost a slash to filepath.Clean.
func Parse(p string) Location {
	local := Location{path: p, name: Local(p)}
	scheme, rest, found := strings.Cut(p, ":")
	if !found || !slices.Contains(schemes, scheme) {
		return local
	}
	if os.PathSeparator == '\\' {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	if !strings.HasPrefix(rest, "/") {
		return local
	}
	host, name, _ := strings.Cut(strings.TrimPrefix(rest[1:], "/"), "/")
	return Location{path: p, scheme: scheme, host: host, name: strings.TrimPrefix(path.Clean("/"+name), "/")}
}

// Path returns the path as it was given to Parse or, of another location that was derived, String.
func (l Location) Path() string { return l.path }

// Remote reports whether the location is in an object store.
func (l Location) Remote() bool { return l.scheme != "" }

// String returns a URL in its shortest form and without secrets, and a local path unchanged but for
// file://.
func (l Location) String() string {
	if !l.Remote() {
		return l.name
	}
	return l.server() + l.slash() + l.name
}

// server returns the URL of the store without the part that may hold a secret.
func (l Location) server() string {
	host := l.host
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = "..." + host[i:] // the part before @ may be a secret
	}
	return l.scheme + "://" + host
}

func (l Location) slash() string {
	if l.name == "" {
		return ""
	}
	return "/"
}

// directory returns the prefix shared by the names of all objects in l.
func (l Location) directory() string { return l.name + l.slash() }

// renamed returns another location in the same store or file system.
func (l Location) renamed(name string) Location {
	l.name = name
	l.path = l.String()
	return l
}

// Join puts names, separated by slashes, after the path of a directory.
func (l Location) Join(names ...string) Location {
	if l.Remote() {
		return l.renamed(strings.TrimPrefix(path.Join(append([]string{"/", l.name}, names...)...), "/"))
	}
	all := []string{l.name}
	for _, name := range names {
		all = append(all, filepath.FromSlash(name))
	}
	return l.renamed(filepath.Join(all...))
}

// Dir returns the directory that a location is in.
func (l Location) Dir() Location {
	if l.Remote() {
		return l.renamed(strings.TrimPrefix(path.Dir("/"+l.name), "/"))
	}
	return l.renamed(filepath.Dir(l.name))
}

// Base returns the last name of a location; of a whole store, the store's.
func (l Location) Base() string {
	switch {
	case !l.Remote():
		return filepath.Base(l.name)
	case l.name == "":
		return l.host
	}
	return path.Base(l.name)
}

// Local returns the path of a local file without the file:// that it may begin
// with.
func Local(p string) string {
	if rest, ok := strings.CutPrefix(p, "file://"); ok && strings.HasPrefix(rest, "/") {
		return filepath.FromSlash(rest)
	}
	return p
}

// Remote reports whether a path is a URL of an object store.
func Remote(p string) bool { return Parse(p).Remote() }

// CheckOutput returns an error if p is a URL. It is for writers that support local files only.
func CheckOutput(p string) error { return Parse(p).CheckOutput() }

// CheckOutput is the function CheckOutput for a location.
func (l Location) CheckOutput() error {
	switch {
	case l.Remote():
		return fmt.Errorf("%v: not supported in object storage: write to a local directory, and copy that", l)
	case l.name != l.path:
		return fmt.Errorf("%s: give %s, without file://, for what is written", l.path, l.name)
	}
	return nil
}

// Join puts names, separated by slashes, after the path of a directory.
func Join(dir string, names ...string) string { return Parse(dir).Join(names...).path }

// Dir returns the directory that a path is in.
func Dir(p string) string { return Parse(p).Dir().path }

// Clean returns the shortest path that names the same.
func Clean(p string) string {
	l := Parse(p)
	if l.Remote() {
		return l.String()
	}
	return filepath.Clean(l.name)
}

// Rel returns a path that leads from dir to p, as filepath.Rel does. None leads
// from one store to another.
func Rel(dir, p string) (string, error) { return Parse(dir).Rel(Parse(p)) }

// Rel is the function Rel for the path from the directory l to another location.
func (l Location) Rel(to Location) (string, error) {
	switch {
	case !l.Remote() && !to.Remote():
		return filepath.Rel(l.name, to.name)
	case l.scheme != to.scheme || l.host != to.host:
		return "", fmt.Errorf("%v is not in %v", to, l)
	}
	return filepath.Rel(filepath.FromSlash("/"+l.name), filepath.FromSlash("/"+to.name))
}

// Base returns the last name of a path; of a whole store, the store's.
func Base(p string) string { return Parse(p).Base() }
