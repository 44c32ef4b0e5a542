// Package storage opens what a path names: a file of the local file system or, when the path is a
// URL such as s3://bucket/key, an object in a store whose scheme the build has registered. Paths of
// both kinds have directories, base names and globs. Local paths are passed to package os
// unchanged, without extra cost.
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

// url is the path of an object, or of a directory of objects.
type url struct {
	scheme, host string
	name         string // without a slash at either end; empty for the whole store
}

func (u url) String() string {
	host := u.host
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = "..." + host[i:] // what stands before it may be a secret
	}
	return u.scheme + "://" + host + u.slash() + u.name
}

func (u url) slash() string {
	if u.name == "" {
		return ""
	}
	return "/"
}

// parse takes a URL of an object store apart; ok is false for other paths. One
// that package filepath has cleaned lacks a slash and is understood all the
// same.
func parse(p string) (u url, ok bool) {
	scheme, rest, found := strings.Cut(p, ":")
	if !found || !slices.Contains(schemes, scheme) {
		return url{}, false
	}
	if os.PathSeparator == '\\' {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	if !strings.HasPrefix(rest, "/") {
		return url{}, false
	}
	u.scheme = scheme
	u.host, u.name, _ = strings.Cut(strings.TrimPrefix(rest[1:], "/"), "/")
	u.name = strings.TrimPrefix(path.Clean("/"+u.name), "/")
	return u, true
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
func Remote(p string) bool {
	_, ok := parse(p)
	return ok
}

// CheckOutput returns an error for a path that is not written to by what writes
// into the local file system alone: a URL.
func CheckOutput(p string) error {
	if u, ok := parse(p); ok {
		return fmt.Errorf("%v: not supported in object storage: write to a local directory, and copy that", u)
	}
	if path := Local(p); path != p {
		return fmt.Errorf("%s: give %s, without file://, for what is written", p, path)
	}
	return nil
}

// Join puts names, separated by slashes, after the path of a directory.
func Join(dir string, names ...string) string {
	if u, ok := parse(dir); ok {
		u.name = strings.TrimPrefix(path.Join(append([]string{"/", u.name}, names...)...), "/")
		return u.String()
	}
	all := []string{Local(dir)}
	for _, name := range names {
		all = append(all, filepath.FromSlash(name))
	}
	return filepath.Join(all...)
}

// Dir returns the directory that a path is in.
func Dir(p string) string {
	if u, ok := parse(p); ok {
		u.name = strings.TrimPrefix(path.Dir("/"+u.name), "/")
		return u.String()
	}
	return filepath.Dir(Local(p))
}

// Clean returns the shortest path that names the same.
func Clean(p string) string {
	if u, ok := parse(p); ok {
		return u.String()
	}
	return filepath.Clean(Local(p))
}

// Rel returns a path that leads from dir to p, as filepath.Rel does. None leads
// from one store to another.
func Rel(dir, p string) (string, error) {
	from, remote := parse(dir)
	to, ok := parse(p)
	switch {
	case !remote && !ok:
		return filepath.Rel(Local(dir), Local(p))
	case from.scheme != to.scheme || from.host != to.host:
		return "", fmt.Errorf("%s is not in %s", p, dir)
	}
	return filepath.Rel(filepath.FromSlash("/"+from.name), filepath.FromSlash("/"+to.name))
}

// Base returns the last name of a path; of a whole store, the store's.
func Base(p string) string {
	if u, ok := parse(p); ok {
		if u.name == "" {
			return u.host
		}
		return path.Base(u.name)
	}
	return filepath.Base(Local(p))
}
