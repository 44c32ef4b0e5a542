package shard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/manifest"
)

// TestIncompleteErrorCounts: what a message lists and what it counts are together the shards that are
// missing, however many of them are named, and the manifest is none.
func TestIncompleteErrorCounts(t *testing.T) {
	for _, evidence := range []Evidence{ByManifest, ByNames, ByState} {
		for _, lost := range []int{1, 2, 3, 4, 5, maxMissing, maxMissing + 1, 5 * maxMissing} {
			var shards []string
			for i := range lost {
				shards = append(shards, fmt.Sprintf("x-%05d-of-10000", i))
			}
			e := &IncompleteError{Dir: "out", Shards: 10_000, Evidence: evidence}
			e.miss(shards)
			if evidence == ByState {
				e.Missing = append(e.Missing, manifest.File)
			}
			_, names, _ := strings.Cut(e.Error(), " missing: ")
			names, rest, _ := strings.Cut(names, " and ")
			more := 0
			if rest != "" {
				if _, err := fmt.Sscanf(rest, "%d more", &more); err != nil {
					t.Fatalf("%v: %v", e, err)
				}
			}
			if named := strings.Count(names, "x-"); named+more != lost || strings.Contains(names, manifest.File) {
				t.Errorf("%d shards are missing: %v", lost, e)
			}

			faults := e.Faults()
			last := faults[len(faults)-1].Message
			more = 0
			if strings.HasSuffix(last, "missing") {
				if _, err := fmt.Sscanf(last, "%d more", &more); err != nil {
					t.Fatalf("%s: %v", last, err)
				}
				faults = faults[:len(faults)-1]
			}
			if evidence == ByState {
				faults = faults[:len(faults)-1] // of the manifest
			}
			if len(faults)+more != lost {
				t.Errorf("%d shards are missing: %d faults, and %d more", lost, len(faults), more)
			}
		}
	}
}
