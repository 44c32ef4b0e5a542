package beam

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// provisionEndpoint is the source of configuration for a process that a runner started itself
// (--environment_type=PROCESS). In a container, the SDK's boot program fetches the configuration
// and passes it to this program.
var provisionEndpoint = flag.String("provision_endpoint", "", "Provision endpoint (for workers).")

// startedByRunner reports whether the arguments are for a worker.
func startedByRunner(args []string) bool {
	if len(args) == 0 {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	return strings.HasPrefix(args[0], "-") && (name == "worker" || name == "id" || name == "provision_endpoint")
}

// serve runs a worker until its runner hangs up or cannot be reached.
func serve(args []string) int {
	err := flag.CommandLine.Parse(args)
	// A terminal interrupts the driver, too, which stops its workers.
	signal.Ignore(os.Interrupt)
	// The SDK prints complaints, and prism has its workers print where the driver
	// prints its result.
	os.Stdout = os.Stderr
	grpcx.Dial = dialRunner
	if err == nil && *provisionEndpoint == "" {
		sdk.Init() // returns only without --worker
		err = errors.New("want --worker=true")
	} else if err == nil {
		sdk.Init()
		err = work(flag.Lookup("id").Value.String())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tfrec-beam: as a worker:", err)
		return 1
	}
	return 0
}

// work fetches the configuration, as sdks/go/container/boot.go does in a container, and runs a
// worker until the runner hangs up. With --worker, the SDK would then stay until the process is
// killed (2.77.0), which a pool whose runners use the same IDs cannot do.
func work(id string) error {
	id = strings.Trim(id, "'") // prism quotes it for a shell
	ctx := grpcx.WriteWorkerID(context.Background(), id)
	info, err := tools.ProvisionInfo(ctx, *provisionEndpoint)
	if err != nil {
		return fmt.Errorf("ask what to do: %w", err)
	}
	var options runtime.RawOptionsWrapper
	text, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err == nil {
		err = json.Unmarshal([]byte(text), &options)
	}
	if err != nil {
		return fmt.Errorf("options of the pipeline: %w", err)
	}
	runtime.GlobalOptions.Import(options.Options)
	// Endpoints that the runner does not state may be given as flags.
	logging := cmp.Or(info.GetLoggingEndpoint().GetUrl(), flag.Lookup("logging_endpoint").Value.String())
	control := cmp.Or(info.GetControlEndpoint().GetUrl(), flag.Lookup("control_endpoint").Value.String())
	return harness.MainWithOptions(ctx, logging, control, harness.Options{
		RunnerCapabilities: info.GetRunnerCapabilities(), StatusEndpoint: info.GetStatusEndpoint().GetUrl(),
	})
}
