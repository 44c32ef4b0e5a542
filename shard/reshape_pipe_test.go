package shard

import (
	"context"
	"errors"
	"testing"
)

// TestInOrderConsumesOnlyWhatWasWorkedOn cancels a run while the consumer is
// behind: what no worker looked at any more must not pass for done.
func TestInOrderConsumesOnlyWhatWasWorkedOn(t *testing.T) {
	const things = 8
	why := errors.New("enough")
	for range 200 {
		ctx, cancel := context.WithCancelCause(context.Background())
		given := make(chan struct{})
		var worked [things]bool
		err := inOrder(ctx, 1, things,
			func(_ context.Context, give func(int) error) error {
				defer close(given)
				for i := range things {
					if err := give(i); err != nil {
						return err
					}
				}
				return nil
			},
			func(_ context.Context, i int) error {
				<-given
				cancel(why)
				worked[i] = true
				return nil
			},
			func(i int) error {
				if !worked[i] {
					t.Fatalf("%d is consumed, and nobody worked on it", i)
				}
				return nil
			})
		if !errors.Is(err, why) {
			t.Fatalf("a cancelled run said %v, want %v", err, why)
		}
	}
}
