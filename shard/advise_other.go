//go:build !linux

package shard

import "os"

func adviseSequential(*os.File) {}
