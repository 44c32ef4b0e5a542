package shard

import "os"

// attempt is asked before each operation on the files of a set that is made, and
// on those that it is made from. Tests have it fail to see what is left then; it
// is nil otherwise.
var attempt func(operation string) error

func attempted(operation string) error {
	if attempt == nil {
		return nil
	}
	return attempt(operation)
}

// trialFile is a file whose operations are attempted.
type trialFile struct{ *os.File }

func (f trialFile) ReadAt(p []byte, offset int64) (int, error) {
	if err := attempted("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

func (f trialFile) Write(p []byte) (int, error) {
	if err := attempted("write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}
