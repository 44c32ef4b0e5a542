package beam

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// execute runs a pipeline on the runner that the flags select, and returns its counters if it
// succeeds, nil if the runner has none. Meanwhile it calls watch with them from time to time. If
// ctx ends, a running job is cancelled, except on Dataflow, and the error is ctx's.
func execute(ctx context.Context, p *sdk.Pipeline, watch func(counts map[string]int64)) (map[string]int64, error) {
	initialise()
	if way() == dataflow {
		return onDataflow(ctx, p)
	}
	if way() == within && *jobopts.EnvironmentType == "" {
		*jobopts.EnvironmentType = "LOOPBACK"
	}
	server, hangUp, err := jobServer(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the runner: %w", err)
	}
	defer hangUp()
	j := &submitted{server: server}
	if err := j.submit(ctx, p); err != nil {
		return nil, err
	}
	defer j.stopWorkers()
	return j.follow(ctx, watch)
}

// initialise prepares the SDK for the process, once.
var initialise = sync.OnceFunc(func() {
	sdk.Init()
	quieten()
})

// inProcess is prism within this process; it lives as long.
var inProcess = sync.OnceValues(func() (jobpb.JobServiceClient, error) {
	return prism.CreateJobServer(context.Background(), prism.Options{})
})

// jobServer returns what jobs are given to, and how to hang up.
func jobServer(ctx context.Context) (jobpb.JobServiceClient, func(), error) {
	if prismHere() {
		server, err := inProcess()
		return server, func() {}, err
	}
	if err := knock(ctx, *jobopts.Endpoint); err != nil {
		return nil, nil, err
	}
	connection, err := grpcx.Dial(ctx, *jobopts.Endpoint, dialTime)
	if err != nil {
		return nil, nil, err
	}
	return jobpb.NewJobServiceClient(connection), func() { _ = connection.Close() }, nil
}

// knock reports a server that is not there at once; gRPC would wait for it.
func knock(ctx context.Context, address string) error {
	connection, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// Timeouts of job servers, and the interval between requests for counters.
const (
	dialTime   = 20 * time.Second
	cancelTime = 10 * time.Second
	watchEvery = time.Second
)

// submitted is a job that a job server was given.
type submitted struct {
	server   jobpb.JobServiceClient
	id       string
	pipeline *pipepb.Pipeline
	loopback *extworker.Loopback // workers in this process, or nil
	pool     *workerPool         // workers as processes of this one, or nil
	died     chan error          // the first worker of the pool that ended
}

// submit gives a pipeline to the job server: what runnerlib.Execute does before it
// waits.
func (j *submitted) submit(ctx context.Context, p *sdk.Pipeline) (err error) {
	defer func() {
		if err != nil {
			j.stopWorkers()
		}
	}()
	urn, config := jobopts.GetEnvironmentUrn(ctx), jobopts.GetEnvironmentConfig
	switch {
	case jobopts.IsLoopback():
		if j.loopback, err = extworker.StartLoopback(ctx, 0); err != nil {
			return err
		}
		config = j.loopback.EnvironmentConfig
	case isProcess() && prismHere():
		if err := j.startPool(); err != nil {
			return err
		}
		urn, config = graphx.URNEnvExternal, func(context.Context) string { return j.pool.address() }
	case environment() == "external" && prismHere():
		if err := knock(ctx, *jobopts.EnvironmentConfig); err != nil { // prism panics (2.77.0)
			return fmt.Errorf("reach the pool of workers: %w", err)
		}
	}
	edges, _, err := p.Build()
	if err != nil {
		return err
	}
	environment, err := graphx.CreateEnvironment(ctx, urn, config)
	if err != nil {
		return err
	}
	j.pipeline, err = graphx.Marshal(edges, &graphx.Options{Environment: environment, PipelineResourceHints: jobopts.GetPipelineResourceHints()})
	if err != nil {
		return err
	}
	program, done, err := workerProgram()
	if err != nil {
		return err
	}
	defer done()
	if err := runnerlib.UpdateGoEnvironmentWorker(program, j.pipeline); err != nil {
		return err
	}
	prepared, artifacts, token, err := runnerlib.Prepare(ctx, j.server, j.pipeline, &runnerlib.JobOptions{
		Name:         jobopts.GetJobName(),
		Experiments:  jobopts.GetExperiments(),
		RetainDocker: *jobopts.RetainDockerContainers,
		Parallelism:  *jobopts.Parallelism,
	})
	if err != nil {
		return err
	}
	if token, err = runnerlib.Stage(ctx, prepared, artifacts, program, token); err != nil {
		return err
	}
	j.id, err = runnerlib.Submit(ctx, j.server, prepared, token)
	return err
}

// workerProgram returns the program for workers on other machines. Call done when the runner has
// it.
func workerProgram() (path string, done func(), err error) {
	if *jobopts.WorkerBinary != "" {
		return *jobopts.WorkerBinary, func() {}, nil
	}
	if starts := strings.ToUpper(*jobopts.EnvironmentType); starts == "LOOPBACK" || starts == "PROCESS" || starts == "EXTERNAL" {
		// It is not used, but a file has to be staged.
		f, err := os.CreateTemp("", "tfrec-beam-*")
		if err != nil {
			return "", nil, err
		}
		return f.Name(), func() { os.Remove(f.Name()) }, f.Close()
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", nil, errors.New("workers in containers run Linux on amd64: give --worker_binary, a tfrec-beam built for that")
	}
	path, err = os.Executable()
	return path, func() {}, err
}

// startPool starts what starts the workers as processes. Prism would do that itself, and wait for
// ever when one dies (2.77.0).
func (j *submitted) startPool() error {
	config, err := processConfig()
	if err != nil {
		return err
	}
	var env []string
	for name, value := range config.GetEnv() {
		env = append(env, name+"="+value)
	}
	j.died = make(chan error, 1)
	j.pool = &workerPool{command: config.GetCommand(), env: env, silent: true, ended: func(err error) {
		select {
		case j.died <- err:
		default: // one is enough
		}
	}}
	return j.pool.listen("localhost:0")
}

// stopWorkers ends the workers in this process, and its processes.
func (j *submitted) stopWorkers() {
	if j.pool != nil {
		j.pool.close()
	}
	if j.loopback != nil {
		_ = j.loopback.Stop(context.Background()) // it has no error to return
	}
}

// follow waits for the job to end.
func (j *submitted) follow(ctx context.Context, watch func(map[string]int64)) (map[string]int64, error) {
	ended := make(chan error, 1)
	waiting, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { ended <- runnerlib.WaitForCompletion(waiting, j.server, j.id) }()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return nil, j.failure(err)
			}
			counts, _ := j.counts(ctx) // not all job servers have them, and all is done
			return counts, nil
		case <-tick.C:
			if counts, err := j.counts(ctx); err == nil { // otherwise next time
				watch(counts)
			}
		case err := <-j.died:
			j.cancel(ended)
			return nil, gaveUp(err.Error())
		case <-ctx.Done():
			j.cancel(ended)
			return nil, context.Cause(ctx)
		}
	}
}

// cancel cancels the job and waits, not for ever, for its end.
func (j *submitted) cancel(ended <-chan error) {
	ctx, stop := context.WithTimeout(context.Background(), cancelTime)
	defer stop()
	if _, err := j.server.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); err != nil {
		return // the job or the server no longer exists
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// counts requests the counters.
func (j *submitted) counts(ctx context.Context) (map[string]int64, error) {
	response, err := j.server.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.id})
	if err != nil {
		return nil, fmt.Errorf("ask the runner for its counters: %w", err)
	}
	m := response.GetMetrics()
	return countsOf(metricsx.FromMonitoringInfos(j.pipeline, m.GetAttempted(), m.GetCommitted())), nil
}

// countsOf returns our counters by name, over all steps.
func countsOf(r *metrics.Results) map[string]int64 {
	counts := map[string]int64{}
	for _, c := range r.AllMetrics().Counters() {
		if c.Namespace() == namespace {
			counts[c.Name()] += c.Result()
		}
	}
	return counts
}
