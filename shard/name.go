package shard

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/tfrec/tfrec/internal/naming"
)

// Name is the name of a shard, as TFDS writes it:
// DATASET-SPLIT.tfrecord-00003-of-00016.
type Name struct {
	Dataset string // letters, digits and _, beginning with a letter
	Split   string // letters, digits and _
	Index   int    // from 0
	Count   int    // shards in the split
}

// String returns the file name.
func (n Name) String() string {
	return naming.Shard(n.Dataset, n.Split, n.Index, n.Count)
}

var namePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*)-([A-Za-z0-9_]+)\.tfrecord-(\d{5,})-of-(\d{5,})$`)

// ParseName parses a file name (without a directory) that String returned. It reports false for any
// other name, and for an index that is not below the count.
func ParseName(file string) (Name, bool) {
	m := namePattern.FindStringSubmatch(file)
	if m == nil {
		return Name{}, false
	}
	index, err1 := strconv.Atoi(m[3])
	count, err2 := strconv.Atoi(m[4])
	n := Name{Dataset: m[1], Split: m[2], Index: index, Count: count}
	return n, err1 == nil && err2 == nil && index < count && n.String() == file
}

var (
	datasetPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// CheckDataset returns an error for an invalid dataset name. TFDS accepts the same names.
func CheckDataset(name string) error {
	if !datasetPattern.MatchString(name) {
		return fmt.Errorf("dataset name %q: want letters, digits and _, beginning with a letter", name)
	}
	return nil
}

// CheckSplit returns an error for an invalid split name.
func CheckSplit(name string) error {
	if !naming.IsSplit(name) {
		return fmt.Errorf("split name %q: want letters, digits and _", name)
	}
	return nil
}
