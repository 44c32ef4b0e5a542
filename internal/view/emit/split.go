package emit

import (
	"fmt"
	"regexp"
)

// Split is a part of a set.
type Split struct {
	Name string
	// Files relative to the Dataset's directory, with slashes.
	Files   []string
	Records int64
}

// shardOf matches the shard's number and the total in a name.
var shardOf = regexp.MustCompile(`\d{5}-of-\d{5}`)

// Pattern returns the parts before and after the five digits that number the files from 0 on, if
// their names are otherwise equal. It reports false for a single file.
func (s *Split) Pattern() (head, tail string, ok bool) {
	first := s.Files[0]
	positions := shardOf.FindAllStringIndex(first, -1)
	if len(positions) == 0 {
		return "", "", false
	}
	at := positions[len(positions)-1][0]
	head, tail = first[:at], first[at+len("00000"):]
	for i, file := range s.Files {
		if file != fmt.Sprintf("%s%05d%s", head, i, tail) {
			return "", "", false
		}
	}
	return head, tail, len(s.Files) > 1
}
