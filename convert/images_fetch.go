package convert

import (
	"context"
	"iter"
	"os"
	"slices"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/sample"
)

// shardImages are the images of shards in order, each followed by its partners, without the images that
// the listing rejected.
type shardImages struct {
	source   *imageSource
	shards   []int   // may grow
	shard, i int     // next shard, and next of its samples
	rest     []int32 // images of the sample before
}

func (p *shardImages) next() *origin.Image {
	for ; p.shard < len(p.shards); p.shard, p.i = p.shard+1, 0 {
		for samples := p.source.samples[p.shards[p.shard]]; len(p.rest) > 0 || p.i < len(samples); {
			if len(p.rest) == 0 {
				p.rest = p.source.Needs(p.rest[:0], samples[p.i])
				p.i++
				continue
			}
			image := p.rest[0]
			p.rest = p.rest[1:]
			return &p.source.Images[image]
		}
	}
	return nil
}

// aheadOfShards requests the images of shards ahead of their tasks.
type aheadOfShards struct {
	*prefetch.Fetcher
	images   shardImages
	expected []int // shards whose images were requested but not their tasks, in order
}

// Prepare implements plan.Source.
func (s *imageSource) Prepare(ctx context.Context, shards []int, inOrder bool) error {
	if err := s.Origin.Load(ctx, s.temp, s.imagesOf(shards)); err != nil {
		return err
	}
	if !s.Fetches() || len(shards) == 0 {
		return nil
	}
	a := &aheadOfShards{images: shardImages{source: s}}
	if inOrder {
		a.images.shards, a.expected = slices.Clip(shards), shards
	}
	a.Fetcher = s.Fetch(ctx, s.fetchMemory, a.images.next)
	s.ahead = a
	return nil
}

// temp creates a temporary file. A dry run writes nothing into the directory of the set.
func (s *imageSource) temp() (*os.File, error) {
	if s.Options.DryRun {
		return os.CreateTemp("", "tfrec-archive.*")
	}
	return s.dir.TempFile("archive")
}

// imagesOf yields the readable images of the given shards, in order; nil selects all shards. An
// image with variants is yielded several times.
func (s *imageSource) imagesOf(shards []int) iter.Seq[*origin.Image] {
	if shards == nil {
		for shard := range s.samples {
			shards = append(shards, shard)
		}
	}
	images := shardImages{source: s, shards: shards}
	return func(yield func(*origin.Image) bool) {
		for p := images.next(); p != nil && yield(p); p = images.next() {
		}
	}
}

// Rest implements plan.Source.
func (s *imageSource) Rest() {
	if s.ahead != nil {
		s.ahead.Close()
		s.ahead = nil
	}
	_ = s.Origin.Unload() // its temporary files are not read again
}

// begin requests the images of a shard whose tasks come next, unless that was done.
func (a *aheadOfShards) begin(shard int) {
	a.More(func() {
		if len(a.expected) > 0 {
			a.expected = a.expected[1:]
		} else {
			a.images.shards = append(a.images.shards, shard)
		}
	})
}

// take returns the images of the next samples of the shard begun last, each with its partners. It
// continues where the previous call ended.
func (a *aheadOfShards) take(samples []sample.Sample) [][]*prefetch.Fetch {
	taken := make([][]*prefetch.Fetch, len(samples))
	for i, one := range samples {
		for range a.images.source.Needs(nil, one) {
			taken[i] = append(taken[i], a.Fetcher.Take())
		}
	}
	return taken
}
