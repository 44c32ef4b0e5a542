//go:build !linux

package doctor

import "github.com/tfrec/tfrec/internal/storage"

// cachedBytes would say how much of the files is in memory, which only Linux tells.
type cachedBytes struct{}

func (*cachedBytes) drop(storage.File) {}
func (*cachedBytes) share() *float64   { return nil }
