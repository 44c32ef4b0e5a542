package archive

import (
	"errors"
	"path"
	"strings"
)

// Key returns the path of a member below the archive's root: its name without a leading "./", empty
// and dot elements. It is empty for the root itself. Names that could lead out of a directory, on
// any system, are an error.
func Key(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("the name is empty")
	case strings.HasPrefix(name, "/"):
		return "", errors.New("the name is an absolute path")
	case strings.Contains(name, `\`):
		return "", errors.New(`the name has a backslash: write the archive with / between directories`)
	case strings.IndexByte(name, 0) >= 0:
		return "", errors.New("the name has a NUL")
	case len(name) > 1 && name[1] == ':' && 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z':
		return "", errors.New("the name begins with a drive")
	case len(name) > maxName:
		return "", errors.New("the name is too long")
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return "", errors.New("the name has a .. element")
		}
	}
	key := path.Clean(name)
	if key == "." {
		key = ""
	}
	return key, nil
}

// maxName is the maximum length of a name in bytes, as of paths on Linux.
const maxName = 4096
