package beam

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/encoding/protojson"
)

// described are the SDK's flags that the help shows, in our words. All others that
// are about runners are taken, too.
var described = map[string]string{
	"runner":             "what runs the pipeline: prism (within this process), flink, spark, universal (any job server) or dataflow (default prism)",
	"endpoint":           "`host:port` of the runner's job server (prism has its own)",
	"environment_type":   "where workers run: LOOPBACK (in this process; the default for prism), PROCESS, EXTERNAL (a pool: tfrec-beam --worker_pool) or DOCKER (the default for others)",
	"environment_config": "what that needs: for PROCESS `JSON` with the command, which is this program (the default for prism); for EXTERNAL the address of a pool; for DOCKER an image",
	"parallelism":        "how many workers Flink or Spark has at work",
	"job_name":           "`name` of the job in the runner",
	"experiments":        "what to switch on in the runner, separated by commas",
	"worker_binary":      "`program` for workers in containers (default: this one, on Linux with amd64)",
	"project":            "Google Cloud `project` for Dataflow",
	"region":             "Google Cloud `region` for Dataflow",
	"staging_location":   "`gs://...` where Dataflow finds this program",
	"temp_location":      "`gs://...` where Dataflow keeps temporary files (default: tmp in the staging location)",
}

// leftOut are flags of the SDK for starting workers, and flags with which the driver would not wait
// for the job, after which the set is made.
var leftOut = []string{
	"worker", "id", "logging_endpoint", "control_endpoint", "provision_endpoint", "semi_persist_dir", "options",
	"async", "execute_async", "dry_run", "template_location", "update",
}

// forDataflow are the SDK's flags that only Dataflow heeds.
var forDataflow = []string{
	"autoscaling_algorithm", "cpu_profiling", "dataflow_endpoint", "dataflow_kms_key", "dataflow_service_options",
	"disk_provisioned_iops", "disk_provisioned_throughput_mibps", "disk_size_gb", "disk_type", "flexrs_goal", "labels",
	"machine_type", "max_num_workers", "min_cpu_platform", "network", "no_use_public_ips", "num_workers",
	"number_of_worker_harness_threads", "project", "region", "sdk_container_image", "service_account_email",
	"staging_location", "subnetwork", "teardown_policy", "temp_location", "transform_name_mapping", "use_public_ips",
	"worker_harness_container_image", "worker_machine_type", "worker_region", "worker_zone", "zone",
}

// elsewhere are flags that Beam has in other languages, with the alternatives here. In Java they
// are written differently (camel).
var elsewhere = map[string]string{
	"flink_master":           "Flink's job server is given that, as --flink-master; --endpoint is where the job server listens",
	"flink_master_url":       "Flink's job server is given that, as --flink-master; --endpoint is where the job server listens",
	"spark_master_url":       "Spark's job server is given that, as --spark-master-url; --endpoint is where the job server listens",
	"flink_job_server_jar":   jobServerFirst,
	"spark_job_server_jar":   jobServerFirst,
	"flink_submit_uber_jar":  jobServerFirst,
	"flink_version":          "the job server is of one version of Flink",
	"job_endpoint":           "that is --endpoint here",
	"artifact_endpoint":      "the job server says where it takes artifacts",
	"environment_options":    "--environment_config holds all that the environment needs",
	"sdk_worker_parallelism": "a task manager has one worker process for each job; --workers says how much that does at once",
	"direct_num_workers":     "--workers says how much a worker process does at once",
	"direct_running_mode":    "--environment_type says where workers run",
	"save_main_session":      programIsAll,
	"requirements_file":      programIsAll,
	"setup_file":             programIsAll,
	"files_to_stage":         programIsAll,
	"streaming":              "all input is read once: the job is a batch",
	"checkpointing_interval": "all input is read once: the job is a batch",
	"gcp_temp_location":      "that is --temp_location here",
}

const (
	jobServerFirst = "start the job server, and say where it listens with --endpoint"
	programIsAll   = "workers need nothing but this program"
)

// camel is the name of a flag as Beam has it in Java: tempLocation for temp_location.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// foreignFlag is one of elsewhere.
type foreignFlag struct{ instead string }

func (foreignFlag) String() string     { return "" }
func (f foreignFlag) Set(string) error { return errors.New(f.instead) }
func (foreignFlag) Type() string       { return "value" }

// addFlags adds the SDK's flags to a verb's. The verb's own win.
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
	refuse := func(name, instead string) {
		if fs.Lookup(name) == nil {
			fs.VarPF(foreignFlag{instead}, name, "", instead).NoOptDefVal = "true"
			_ = fs.MarkHidden(name) // it exists
		}
	}
	for name, instead := range elsewhere {
		refuse(name, instead)
		refuse(camel(name), instead)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(described)), forDataflow) {
		refuse(camel(name), "that is --"+name+" here")
	}
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

// way returns how to reach the selected runner.
func way() string {
	if *runners.Runner == "" {
		return within
	}
	return known[*runners.Runner]
}

// prismHere reports whether the pipeline runs on prism within this process.
func prismHere() bool { return way() == within && *jobopts.Endpoint == "" }

// checkFlags returns an error for unsupported combinations of flags.
func checkFlags() error {
	if way() == dataflow {
		return checkDataflow()
	}
	for _, name := range forDataflow {
		if given(name) {
			return fmt.Errorf("--%s: only --runner dataflow heeds it", name)
		}
	}
	if way() == server && *jobopts.Endpoint == "" {
		return errors.New("--runner " + *runners.Runner + ": wants --endpoint host:port, where its job server listens")
	}
	switch environment() {
	case "", "loopback", "docker":
	case "external":
		if *jobopts.EnvironmentConfig == "" {
			return errors.New("--environment_type EXTERNAL: wants --environment_config host:port, where a pool of workers listens (tfrec-beam --worker_pool)")
		}
	case "process":
		_, err := processConfig()
		return err
	default:
		return fmt.Errorf("--environment_type %s: want LOOPBACK, PROCESS, EXTERNAL or DOCKER", *jobopts.EnvironmentType)
	}
	return nil
}

// given reports whether one of the SDK's flags was set.
func given(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// environment is --environment_type, which the SDK takes in any case.
func environment() string { return strings.ToLower(*jobopts.EnvironmentType) }

func isProcess() bool { return environment() == "process" }

// processConfig returns the configuration of processes in --environment_config. The default for
// prism in this process is this program.
func processConfig() (*pipepb.ProcessPayload, error) {
	config := &pipepb.ProcessPayload{}
	if *jobopts.EnvironmentConfig == "" && prismHere() {
		self, err := os.Executable()
		config.Command = self
		return config, err
	}
	const want = `--environment_config: want {"command": "/path/to/tfrec-beam"} for --environment_type PROCESS`
	if *jobopts.EnvironmentConfig == "" {
		return nil, errors.New(want)
	}
	if err := protojson.Unmarshal([]byte(*jobopts.EnvironmentConfig), config); err != nil {
		return nil, fmt.Errorf("%s: %w", want, err)
	}
	if config.GetCommand() == "" {
		return nil, errors.New(want)
	}
	return config, nil
}
