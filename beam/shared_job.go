package beam

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command"
)

// sharedJob is a job that all shard makers of a process make shards of.
type sharedJob struct {
	*convert.Job
	lent bool // by the driver, which is this process

	mu  sync.Mutex
	err error // the first that a shard came to
}

func (j *sharedJob) failed(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// failure is the first error that a shard came to in this process.
func (j *sharedJob) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// jobs are the process's, by the conversion.
var jobs = struct {
	sync.Mutex
	of map[string]*sharedJob
}{of: map[string]*sharedJob{}}

// conversion identifies the conversion that a shard maker works for.
func (fn *shardMaker) conversion() string { return fn.Dir + "\x00" + strings.Join(fn.Args, "\x00") }

// lend makes the driver's job the one of makers in this process.
func (fn *shardMaker) lend(job *convert.Job) *sharedJob {
	jobs.Lock()
	defer jobs.Unlock()
	j := &sharedJob{Job: job, lent: true}
	jobs.of[fn.conversion()] = j
	return j
}

// takeBack ends lend.
func (fn *shardMaker) takeBack() {
	jobs.Lock()
	defer jobs.Unlock()
	delete(jobs.of, fn.conversion())
}

// shared returns the job that the maker is for. A worker's process plans it at the first call, and
// keeps it until another plan of the same conversion is requested, for example after a run with a
// changed input.
func (fn *shardMaker) shared(ctx context.Context) (*sharedJob, error) {
	jobs.Lock() // held while planning: all callers need the same plan
	defer jobs.Unlock()
	j := jobs.of[fn.conversion()]
	if j != nil && (j.lent || j.Plan() == fn.Plan) {
		return j, nil
	}
	if j != nil {
		if err := j.Close(); err != nil {
			return nil, err
		}
		delete(jobs.of, fn.conversion())
	}
	if here, err := os.Getwd(); err != nil || here != fn.Dir {
		// Best effort: a directory that is not there is missed only by relative paths.
		_ = os.Chdir(fn.Dir)
	}
	job, err := command.JoinJob(ctx, fn.Args, func(s string) { log.Warn(ctx, s) })
	if err != nil {
		return nil, fmt.Errorf("the worker cannot join the conversion: %w", err)
	}
	if job.Plan() != fn.Plan {
		_ = job.Close()
		return nil, fmt.Errorf("the worker planned %s, the driver %s: another conversion has begun in the directory", job.Plan(), fn.Plan)
	}
	j = &sharedJob{Job: job}
	jobs.of[fn.conversion()] = j
	return j, nil
}
