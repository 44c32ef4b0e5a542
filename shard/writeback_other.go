//go:build !linux

package shard

import "os"

func beginWriteBack(*os.File, int64, int64) {}
