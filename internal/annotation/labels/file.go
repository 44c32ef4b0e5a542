package labels

import (
	"context"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
)

const (
	// FileSuffix ends the names of the files in which TFDS keeps names of labels.
	FileSuffix = ".labels.txt"
	// MaxFile bounds a file of names in bytes.
	MaxFile = 16 << 20
)

// FileName is the name that TFDS gives to the file of a label feature's names:
// the key with dots for slashes.
func FileName(key string) string {
	return strings.ReplaceAll(key, "/", ".") + FileSuffix
}

// ReadBeside reads the file in which TFDS keeps the names of a label feature, a
// name a line; nil when the directory has none.
func ReadBeside(ctx context.Context, dir, key string) []string {
	data, err := storage.ReadFile(ctx, storage.Join(dir, FileName(key)), MaxFile)
	if err != nil || len(strings.TrimSpace(string(data))) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
