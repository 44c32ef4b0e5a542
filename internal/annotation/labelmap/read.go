package labelmap

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// maxFile bounds a label map, in bytes.
const maxFile = 16 << 20

// ReadNames returns the names of a label map's classes by id; nil if the file does not exist.
func ReadNames(ctx context.Context, path string) (map[int64]string, error) {
	data, err := storage.ReadFile(ctx, path, maxFile)
	if storage.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	names := make(map[int64]string, len(list))
	for _, c := range list {
		names[c.ID] = c.Name
	}
	return names, nil
}
