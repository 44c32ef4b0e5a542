package beam

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/pflag"
)

// described are the SDK's flags that the help shows, in our words. All others that
// are about runners are taken, too.
var described = map[string]string{
	"runner":             "what runs the pipeline: prism (within this process), flink, spark, universal (any job server) or dataflow (default prism)",
	"endpoint":           "`host:port` of the runner's job server (prism has its own)",
	"environment_type":   "where workers run: LOOPBACK (in this process; the default for prism), PROCESS, EXTERNAL or DOCKER (the SDK's default)",
	"environment_config": "what that needs: for PROCESS `JSON` with the command, which is this program; for EXTERNAL the address of a pool; for DOCKER an image",
	"parallelism":        "how many workers Flink or Spark has at work",
	"job_name":           "`name` of the job in the runner",
	"experiments":        "what to switch on in the runner, separated by commas",
	"worker_binary":      "`program` for workers in containers (default: this one, on Linux with amd64)",
	"project":            "Google Cloud `project` for Dataflow",
	"region":             "Google Cloud `region` for Dataflow",
	"staging_location":   "`gs://...` where Dataflow finds this program",
}

// leftOut are flags of the SDK that workers are started with, and those that would have nobody wait
// for the job, after which the set is made.
var leftOut = []string{
	"worker", "id", "logging_endpoint", "control_endpoint", "provision_endpoint", "semi_persist_dir", "options",
	"async", "execute_async", "dry_run", "template_location", "update",
}

// addFlags adds the SDK's flags to those of a verb. The verb's own win.
func addFlags(fs *pflag.FlagSet) {
	flag.VisitAll(func(f *flag.Flag) {
		if strings.HasPrefix(f.Name, "test.") || slices.Contains(leftOut, f.Name) || fs.Lookup(f.Name) != nil {
			return
		}
		usage, shown := described[f.Name]
		if !shown {
			usage = f.Usage
		}
		added := fs.VarPF(sdkFlag{f}, f.Name, "", usage)
		added.Hidden = !shown
		added.DefValue = "" // in the text, where it matters
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			added.NoOptDefVal = "true"
		}
	})
	fs.Var(&logs, "beam_log", "what Beam and the runner within this process say on stderr: off, error, warn, info or debug (default off)")
}

// sdkFlag is one of the SDK's flags, which are in flag.CommandLine.
type sdkFlag struct{ *flag.Flag }

func (f sdkFlag) String() string {
	if f.Flag == nil {
		return ""
	}
	return f.Value.String()
}

// Set sets it there, where pipeline options are taken from.
func (f sdkFlag) Set(s string) error {
	if f.Name == "runner" && known[s] == "" {
		return fmt.Errorf("want one of: %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return flag.Set(f.Name, s)
}

func (f sdkFlag) Type() string { return "value" }

// The ways to reach a runner.
const (
	within   = "within"   // prism, or a job server
	server   = "server"   // a job server
	dataflow = "dataflow" // the SDK does it
)

// known are the names of runners.
var known = map[string]string{
	"prism": within, "PrismRunner": within,
	"flink": server, "FlinkRunner": server, "spark": server, "SparkRunner": server,
	"universal": server, "portable": server, "PortableRunner": server,
	"dataflow": dataflow, "DataflowRunner": dataflow,
}

// way is how the runner that was asked for is reached.
func way() string {
	if *runners.Runner == "" {
		return within
	}
	return known[*runners.Runner]
}

// checkFlags says what cannot be.
func checkFlags() error {
	if way() == server && *jobopts.Endpoint == "" {
		return errors.New("--runner " + *runners.Runner + ": wants --endpoint host:port, where its job server listens")
	}
	if way() == dataflow && jobopts.IsLoopback() {
		return errors.New("--environment_type LOOPBACK: Dataflow's workers do not see this process")
	}
	return nil
}
