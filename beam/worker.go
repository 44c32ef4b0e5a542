package beam

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// provisionEndpoint is where a process that a runner started itself
// (--environment_type=PROCESS) asks for what it has to know. In a container, the SDK's
// boot program asks, and starts this one with the answer.
var provisionEndpoint = flag.String("provision_endpoint", "", "Provision endpoint (for workers).")

// startedByRunner reports whether the arguments are those of a worker.
func startedByRunner(args []string) bool {
	if len(args) == 0 {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	return strings.HasPrefix(args[0], "-") && (name == "worker" || name == "id" || name == "provision_endpoint")
}

// serve is what a worker does. It returns only when it cannot.
func serve(args []string) int {
	err := flag.CommandLine.Parse(args)
	if err == nil && *provisionEndpoint != "" {
		err = provision(flag.Lookup("id").Value.String())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tfrec-beam: as a worker:", err)
		return 1
	}
	// A terminal interrupts the driver, too, which stops its workers.
	signal.Ignore(os.Interrupt)
	// The SDK prints complaints, and prism has its workers print where the driver
	// prints its result.
	os.Stdout = os.Stderr
	sdk.Init()
	fmt.Fprintln(os.Stderr, "tfrec-beam: as a worker: want --worker=true")
	return 1
}

// provision sets the flags that a worker is started with in a container, as
// sdks/go/container/boot.go does.
func provision(id string) error {
	id = strings.Trim(id, "'") // prism quotes it, and there is no shell to undo that
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(context.Background(), id), *provisionEndpoint)
	if err != nil {
		return fmt.Errorf("ask what to do: %w", err)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("options of the pipeline: %w", err)
	}
	for name, value := range map[string]string{
		"worker": "true", "id": id, "options": options,
		"logging_endpoint": info.GetLoggingEndpoint().GetUrl(), "control_endpoint": info.GetControlEndpoint().GetUrl(),
	} {
		if value == "" {
			continue // given as a flag, or not needed
		}
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	os.Setenv("STATUS_ENDPOINT", info.GetStatusEndpoint().GetUrl())
	os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " "))
	return nil
}
