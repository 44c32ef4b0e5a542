package stages

import (
	"slices"
	"testing"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// held agrees with a step-by-step simulation of the draws.
func TestShuffleHeld(t *testing.T) {
	for _, size := range []int{1, 2, 5, 30} {
		for _, total := range []int64{0, 1, 4, 5, 6, 40} {
			x := &shuffleStage{size: size, draws: pipeline.Draws(pipeline.Key(uint64(size), uint64(total)))}
			var buffer []int64
			came := int64(0)
			for len(buffer) < size && came < total {
				buffer = append(buffer, came)
				came++
			}
			for given := int64(0); given <= total; given++ {
				ended := int64(-1)
				if came == total {
					ended = total
				}
				if got, _ := HeldBy(x.draws, x.size, given, ended); !slices.Equal(got, buffer) && (ended >= 0 || len(buffer) == size) {
					t.Fatalf("buffer %d, %d of %d given: held %v, want %v", size, given, total, got, buffer)
				}
				if len(buffer) == 0 {
					break
				}
				i := x.draws.Below(given, len(buffer))
				if came < total {
					buffer[i] = came
					came++
				} else {
					buffer[i] = buffer[len(buffer)-1]
					buffer = buffer[:len(buffer)-1]
				}
			}
		}
	}
}
