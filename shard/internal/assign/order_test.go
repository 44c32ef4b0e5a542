package assign

import (
	"context"
	"fmt"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// TestShuffleIsUniform counts how often each of the 24 orders of four records occurs.
func TestShuffleIsUniform(t *testing.T) {
	const runs = 4800
	counts := map[string]int{}
	for seed := range uint64(runs) {
		s := &Shuffled{Seed: seed}
		settest.Check(t, s.Begin(context.Background(), Assignment{Records: []int64{4}}, 1))
		counts[fmt.Sprint(s.Place(0, 0), s.Place(0, 1), s.Place(0, 2), s.Place(0, 3))]++
	}
	torture.CheckUniform(t, counts, 24, runs)
}
