package stages

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// noFiles is a dataset of no files.
type noFiles struct{}

func (noFiles) Path(pipeline.Record) string                 { return "" }
func (noFiles) Len(context.Context) (int64, error)          { return 0, nil }
func (noFiles) Files() int                                  { return 0 }
func (noFiles) Fingerprint(context.Context) (string, error) { return "none", nil }

// A pool that grows at any time, in several epochs, before, while and after it works, gives all results
// in their order, and ends.
func TestPoolGrowsAtAnyTime(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		run, err := pipeline.NewRun(t.Context(), pipeline.Options{Parallelism: 1 + r.IntN(3), Memory: 1 << 20}, noFiles{})
		if err != nil {
			t.Fatal(err)
		}
		odd := errors.New("odd")
		o := pipeline.MapOptions{Unordered: r.IntN(2) == 0}
		p := NewPool(run, "test", o, 1+r.IntN(3), func() func(*int) error {
			return func(n *int) error {
				if *n%2 == 1 {
					return odd
				}
				return nil
			}
		})
		grows := r.IntN(4) // epoch
		for epoch := range 3 {
			p.Start(t.Context())
			p.Begin()
			total := r.IntN(300)
			at := r.IntN(total + 1)
			var feeding sync.WaitGroup
			feeding.Go(func() {
				for n := range total {
					if epoch == grows && n == at {
						p.grow(40, 2)
					}
					if !p.Queue.Room(t.Context()) {
						break
					}
					p.Put(&Job[int]{V: n})
				}
				p.End(context.Canceled)
			})
			taken := make(map[int]bool)
			for n := 0; ; n++ {
				j, err := p.Take()
				if err != nil {
					if n != total || err != context.Canceled {
						t.Errorf("seed %d, epoch %d: ended after %d of %d with %v", seed, epoch, n, total, err)
					}
					break
				}
				if !o.Unordered && j.V != n || taken[j.V] || (j.Err == odd) != (j.V%2 == 1) {
					t.Fatalf("seed %d, epoch %d: result %d is %d, %v", seed, epoch, n, j.V, j.Err)
				}
				taken[j.V] = true
			}
			feeding.Wait()
			p.Finish()
			if epoch+1 == grows { // between two epochs
				p.grow(20, 2)
			}
			p.Wait.Wait()
		}
	}
}
