package transfer

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// openShard is a shard of a new set that is being written.
type openShard struct {
	*setdir.Writer
	transfer *Transfer
	target   int
	shard    int64
	labels   map[int64]int64 // nil when there are too many to count
}

// openShard starts a shard, which may be written in parallel with others.
func (t *Transfer) openShard(target int, number int64) (*openShard, error) {
	to := &t.Targets[target]
	w, err := to.Dir.CreatePart(to.ShardName(t.Name, number), setdir.WriterOptions{Compression: t.Compression})
	if err != nil {
		return nil, err
	}
	return &openShard{Writer: w, transfer: t, target: target, shard: number, labels: map[int64]int64{}}, nil
}

// add writes the records of a block from first up to, not including, behind, whose frames are
// given.
func (o *openShard) add(b *source.Block, first, behind int, frames []byte) error {
	o.count(b, first, behind)
	return o.WriteFrames(frames, b.Sizes[first:behind])
}

// addLent writes the records of a block, and calls done, from any goroutine, when their frames may
// be overwritten: see setdir.Writer.WriteLentFrames.
func (o *openShard) addLent(b *source.Block, done func()) error {
	o.count(b, 0, len(b.Sizes))
	return o.WriteLentFrames(b.Data, b.Sizes, done)
}

// count counts the labels of records.
func (o *openShard) count(b *source.Block, first, behind int) {
	if len(b.Labels) > 0 && o.labels != nil {
		for _, id := range b.Labels[first:behind] {
			if id != source.NoLabel {
				o.labels[id]++
			}
		}
		if len(o.labels) > len(o.transfer.In.Described.Labels)+labels.MaxIDs {
			o.labels = nil
		}
	}
}

// commit puts the shard in place.
func (o *openShard) commit() error {
	info, err := o.Commit()
	if err != nil {
		return err
	}
	info.Labels = labels.CountsByName(o.labels, o.transfer.In.Described.Labels)
	o.transfer.Targets[o.target].Infos[o.shard] = info
	return nil
}

// commits puts finished shards in place while others are being written.
type commits struct {
	tokens     chan struct{} // one per commit in progress
	background sync.WaitGroup
	mu         sync.Mutex
	err        error // the first error
}

// maxCommits is the maximum number of concurrent commits: many small ones cost little more than
// one, because file systems sync them together.
const maxCommits = 8

func newCommits() *commits { return &commits{tokens: make(chan struct{}, maxCommits)} }

// add commits a shard in the background. It returns the first error of earlier commits.
func (c *commits) add(ctx context.Context, o *openShard) error {
	select {
	case c.tokens <- struct{}{}:
	case <-ctx.Done():
		o.Abort()
		return context.Cause(ctx)
	}
	c.background.Go(func() {
		err := o.commit()
		<-c.tokens
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = err
		}
	})
	return c.failed()
}

func (c *commits) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// wait waits for all commits of a run that ended with err. It returns err or else the first commit
// error.
func (c *commits) wait(err error) error {
	c.background.Wait()
	if err != nil {
		return err
	}
	return c.err
}
