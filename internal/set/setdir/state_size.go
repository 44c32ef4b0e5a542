package setdir

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxState is the size limit of a state file in bytes. It allows for a run of 1,000,000 files, or a
// shard of 1,000,000 samples.
const MaxState = 128 << 20

// Beyond a free allowance, list elements in a state file must have at least MinStateElement bytes
// on average, and object members minStateMember. Real state consists of file names and is far
// above. Without these limits a list of empty objects would take 40 times its size in memory.
const (
	MinStateElement   = 32
	minStateMember    = 8
	freeStateElements = 1 << 18
	freeStateMembers  = 1 << 20
)

// maxStateDepth is the maximum nesting depth of a state file, as in encoding/json.
const maxStateDepth = 10_000

// ErrState means that data is too large for a state file, or needs too much memory.
var ErrState = errors.New("too large for a state file")

// DecodeState decodes the JSON of a state file into v. It refuses data of more than MaxState bytes,
// and data that would take much more memory than its size.
func DecodeState(data []byte, v any) error {
	if err := checkState(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// checkState returns an error that wraps ErrState if DecodeState would refuse the data for its
// size.
func checkState(data []byte) error {
	if len(data) > MaxState {
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrState, len(data), MaxState)
	}
	elements, members, ok := countJSON(data)
	if !ok || elements > freeStateElements+len(data)/MinStateElement || members > freeStateMembers+len(data)/minStateMember {
		return fmt.Errorf("%w: %d elements of lists and %d members of objects in %d bytes", ErrState, elements, members, len(data))
	}
	return nil
}

// countJSON counts the elements of all lists and the members of all objects; an empty one counts as
// one. It reports false if they are nested too deeply. The counts are arbitrary if data is not
// JSON.
func countJSON(data []byte) (elements, members int, ok bool) {
	var lists []bool // for each open list or object: whether its parent is a list
	quoted, inList := false, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if len(lists) == maxStateDepth {
				return elements, members, false
			}
			lists, inList = append(lists, inList), c == '['
			if inList {
				elements++
			} else {
				members++
			}
		case (c == ']' || c == '}') && len(lists) > 0:
			lists, inList = lists[:len(lists)-1], lists[len(lists)-1]
		case c == ',' && inList:
			elements++
		case c == ',':
			members++
		}
	}
	return elements, members, true
}
