//go:build !linux

package osfile

import "os"

func beginWriteBack(*os.File, int64, int64) {}

func dropWritten(*os.File, int64, int64) error { return nil }
