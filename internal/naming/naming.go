// Package naming knows how people name datasets and splits, and how TFDS names shards.
package naming

import (
	"strconv"
	"strings"
	"unicode"
)

// SnakeCase makes a dataset name of a file name: lower case, every run of
// other characters an underscore, a letter in front.
func SnakeCase(s string) string {
	var b strings.Builder
	gap, lower := false, false
	for _, r := range s {
		switch {
		case r >= 'A' && r <= 'Z':
			gap = gap || lower
			r += 'a' - 'A'
			lower = false
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			lower = true
		default:
			gap, lower = true, false
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteRune(r)
	}
	name := b.String()
	switch {
	case name == "":
		return "dataset"
	case name[0] < 'a':
		return "data_" + name
	}
	return name
}

// IsSplit reports whether a split may have a name: of letters, digits and _.
func IsSplit(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// splitWords are names of splits, as people write them in lower case, and the splits that they mean.
var splitWords = map[string]string{
	"train": "train", "training": "train",
	"val": "val", "valid": "val", "validation": "val", "dev": "val",
	"test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}

// KnownSplit returns the split that a word means, in any case: train, val or test. It returns "" for
// other words.
func KnownSplit(word string) string { return splitWords[strings.ToLower(word)] }

// SplitIn returns the word in a name that is the name of a split, in lower case. It returns "" if
// there is none, or if words of several splits are in it, as in train_test_split.
func SplitIn(name string) (split string) {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch known := KnownSplit(word); {
		case known == "":
		case split != "" && known != KnownSplit(split):
			return ""
		default:
			split = strings.ToLower(word)
		}
	}
	return split
}

// Shard returns the name of a shard, as TFDS writes it: DATASET-SPLIT.tfrecord-00003-of-00016.
// Neither number is negative.
func Shard(dataset, split string, index, count int) string {
	const fixed = len("-") + len(".tfrecord-") + len("-of-")
	name := make([]byte, 0, len(dataset)+len(split)+fixed+20)
	name = append(append(append(name, dataset...), '-'), split...)
	name = appendNumber(append(name, ".tfrecord-"...), index)
	name = appendNumber(append(name, "-of-"...), count)
	return string(name)
}

// appendNumber appends a number with at least five digits.
func appendNumber(dst []byte, n int) []byte {
	for least := 10_000; least > max(n, 1); least /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
