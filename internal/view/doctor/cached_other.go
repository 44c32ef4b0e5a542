//go:build !linux

package doctor

import "github.com/tfrec/tfrec/internal/store/storage"

// cachedBytes would measure the share of the files in memory, which only Linux reports.
type cachedBytes struct{}

func (*cachedBytes) drop(storage.File) {}
func (*cachedBytes) share() *float64   { return nil }
