package setdir

import (
	"fmt"
	"path/filepath"
	"strings"
)

// CheckName returns an error if file is not a plain file name.
func CheckName(file string) error {
	if file == "" || file == "." || strings.ContainsAny(file, `/\`) || !filepath.IsLocal(file) {
		return fmt.Errorf("%q is not a shard name: want a plain file name", file)
	}
	return nil
}
