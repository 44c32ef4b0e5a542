package beam

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // registers itself
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
)

// onDataflow runs a pipeline on Dataflow, and returns its counters. The SDK waits for the job without
// heeding ctx (2.77.0): if that ends, the job is left to itself.
func onDataflow(ctx context.Context, p *sdk.Pipeline) (map[string]int64, error) {
	program, done, err := workerProgram()
	if err != nil {
		return nil, err
	}
	defer done()
	*jobopts.WorkerBinary = program // or the SDK would have Go build one of the sources here
	type outcome struct {
		counts map[string]int64
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		result, err := sdk.Run(ctx, *runners.Runner, p)
		if err != nil {
			o.err = gaveUp(rootCause(whyFailed(ctx, result, err)))
		} else {
			m := result.Metrics()
			o.counts = countsOf(&m)
		}
		ended <- o
	}()
	select {
	case o := <-ended:
		return o.counts, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// whyFailed returns the last error among a job's messages. Without one it returns err, which only
// reports that the job failed.
func whyFailed(ctx context.Context, result sdk.PipelineResult, err error) string {
	if result == nil || result.JobID() == "" {
		return err.Error()
	}
	client, e := dataflowlib.NewClient(ctx, flag.Lookup("dataflow_endpoint").Value.String())
	if e != nil {
		return err.Error()
	}
	project, region := gcpopts.GetProjectFromFlagOrEnvironment(ctx), gcpopts.GetRegion(ctx)
	list, e := client.Projects.Locations.Jobs.Messages.List(project, region, result.JobID()).MinimumImportance("JOB_MESSAGE_ERROR").Context(ctx).Do()
	if e != nil || len(list.JobMessages) == 0 {
		return err.Error()
	}
	return result.JobID() + ": " + list.JobMessages[len(list.JobMessages)-1].MessageText
}

// checkDataflow returns an error for settings that Dataflow does not support, or would reject only
// after the input has been listed.
func checkDataflow() error {
	if e := environment(); e != "" && e != "docker" {
		return fmt.Errorf("--environment_type %s: Dataflow runs workers in containers of its own", *jobopts.EnvironmentType)
	}
	if *jobopts.EnvironmentConfig != "" {
		return errors.New("--environment_config: Dataflow takes the image of workers as --sdk_container_image")
	}
	if *jobopts.Endpoint != "" {
		return errors.New("--endpoint: Dataflow has no job server; --dataflow_endpoint names another service")
	}
	if *jobopts.Parallelism > 0 {
		return errors.New("--parallelism: Dataflow takes the number of workers as --max_num_workers")
	}
	for _, name := range []string{"staging_location", "temp_location"} {
		at := flag.Lookup(name).Value.String()
		if at == "" && name == "temp_location" {
			continue
		}
		if bucket, ok := strings.CutPrefix(at, "gs://"); !ok || bucket == "" {
			return fmt.Errorf("--%s %q: Dataflow wants gs://bucket/path", name, at)
		}
	}
	if given("worker_harness_container_image") && given("sdk_container_image") { // the SDK panics (2.77.0)
		return errors.New("--worker_harness_container_image: is the old name of --sdk_container_image: give only that")
	}
	if gcpopts.GetProjectFromFlagOrEnvironment(context.Background()) == "" {
		return errors.New("--project: Dataflow wants the Google Cloud project that runs the job")
	}
	if gcpopts.GetRegion(context.Background()) == "" {
		return errors.New("--region: Dataflow wants the region that runs the job, such as europe-west4")
	}
	return nil
}
