package recordscan

import (
	"errors"
	"io/fs"
)

// IsDamage tells damaged data from a file that could not be read, which a Reader reports with
// the same words in front.
func IsDamage(err error) bool {
	var path *fs.PathError
	return !errors.As(err, &path)
}
