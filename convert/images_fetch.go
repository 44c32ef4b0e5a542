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

// jobImages are the images of jobs in order, each followed by its partners, without those that the
// listing rejected.
type jobImages struct {
	source *imageSource
	jobs   []int   // may grow
	job, i int     // next job, and next of its samples
	rest   []int32 // images of the sample before
}

func (p *jobImages) next() *origin.Image {
	for ; p.job < len(p.jobs); p.job, p.i = p.job+1, 0 {
		for samples := p.source.samples[p.jobs[p.job]]; len(p.rest) > 0 || p.i < len(samples); {
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

// aheadOfJobs requests the images of jobs ahead of their tasks.
type aheadOfJobs struct {
	*prefetch.Fetcher
	jobs     jobImages
	expected []int // jobs whose images were requested but not their tasks, in order
}

// Prepare implements plan.Source.
func (s *imageSource) Prepare(ctx context.Context, jobs []int, inOrder bool) error {
	if err := s.Origin.Load(ctx, s.temp, s.imagesOf(jobs)); err != nil {
		return err
	}
	if !s.Fetches() || len(jobs) == 0 {
		return nil
	}
	a := &aheadOfJobs{jobs: jobImages{source: s}}
	if inOrder {
		a.jobs.jobs, a.expected = slices.Clip(jobs), jobs
	}
	a.Fetcher = s.Fetch(ctx, s.fetchMemory, a.jobs.next)
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

// imagesOf yields the images of jobs that can be read, in order; those of all jobs for nil. An image
// with variants comes several times.
func (s *imageSource) imagesOf(jobs []int) iter.Seq[*origin.Image] {
	if jobs == nil {
		for job := range s.samples {
			jobs = append(jobs, job)
		}
	}
	images := jobImages{source: s, jobs: jobs}
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
	_ = s.Origin.Unload() // nobody reads its temporary files again
}

// begin requests the images of a job whose tasks come next, unless that was done.
func (a *aheadOfJobs) begin(job int) {
	a.More(func() {
		if len(a.expected) > 0 {
			a.expected = a.expected[1:]
		} else {
			a.jobs.jobs = append(a.jobs.jobs, job)
		}
	})
}

// take returns the images of samples of the job begun last, each with its partners, following those
// of the previous call.
func (a *aheadOfJobs) take(samples []sample.Sample) [][]*prefetch.Fetch {
	taken := make([][]*prefetch.Fetch, len(samples))
	for i, one := range samples {
		for range a.jobs.source.Needs(nil, one) {
			taken[i] = append(taken[i], a.Fetcher.Take())
		}
	}
	return taken
}
