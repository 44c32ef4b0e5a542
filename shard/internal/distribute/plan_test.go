package distribute

import (
	"encoding/json"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// A plan for a very large set can be read back: it is within the size limit of state files.
func TestLargestPlanIsReadable(t *testing.T) {
	race.Skip(t)
	const parts = 500_000
	data, err := json.Marshal(&plannedReshard{Parts: make([]plannedPart, parts), Files: make([]plannedFile, parts)})
	settest.Check(t, err)
	if err := setdir.DecodeState(data, new(plannedReshard)); err != nil {
		t.Error(err)
	}
}
