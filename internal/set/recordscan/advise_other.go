//go:build !linux

package recordscan

import "os"

func adviseSequential(*os.File) {}
