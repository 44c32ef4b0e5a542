package beam

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	df "google.golang.org/api/dataflow/v1b3"
)

// withoutGoogle hides a project and a region that this machine may have.
func withoutGoogle(t *testing.T) {
	t.Helper()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none")) // or it looks for some in the network
	t.Setenv("CLOUDSDK_COMPUTE_REGION", "")
	t.Setenv("PATH", t.TempDir()) // no gcloud
}

func TestWrongUseOfDataflow(t *testing.T) {
	withoutGoogle(t)
	photos, out := filepath.Join(demo(t), "photos"), filepath.Join(t.TempDir(), "out")
	for want, more := range map[string][]string{
		"--environment_type loopback: Data":              {"--runner", "dataflow", "--environment_type", "loopback"},
		"--parallelism: Dataflow takes":                  {"--runner=dataflow", "--parallelism=4"},
		"takes the image of workers as":                  {"--runner=dataflow", "--environment_config=image"},
		"is the old name of --sdk_container_image":       {"--runner=dataflow", "--staging_location=gs://b/s", "--sdk_container_image=a", "--worker_harness_container_image=b"},
		"--project: Dataflow wants":                      {"--runner=dataflow", "--staging_location=gs://b/s"},
		"--region: Dataflow wants":                       {"--runner=dataflow", "--staging_location=gs://b/s", "--project=p"},
		"--staging_location \"\": Dataflow wants gs://":  {"--runner", "dataflow", "--project", "p", "--region", "r"},
		"--temp_location \"/tmp\": Dataflow wants gs://": {"--runner", "dataflow", "--staging_location", "gs://b/s", "--temp_location", "/tmp"},
		"--endpoint: Dataflow has no job server":         {"--runner", "dataflow", "--endpoint", "127.0.0.1:1"},
		"--environment_type PROCESS: Dataflow runs":      {"--runner", "dataflow", "--environment_type", "PROCESS"},
	} {
		o := run(t, onBeam, append([]string{"convert", "images", photos, out}, more...)...)
		if o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit %d: %s", more, o.code, o.stderr)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

// dryRun has the SDK make Dataflow's job of a pipeline without submitting it, and decodes it
// strictly.
func dryRun(t *testing.T, flags map[string]string) *df.Job {
	t.Helper()
	initialise()
	withoutGoogle(t)
	for name, value := range flags {
		f := flag.Lookup(name)
		before := f.Value.String()
		check(t, flag.Set(name, value))
		t.Cleanup(func() { _ = f.Value.Set(before) }) // it was that
	}
	var l lines
	log.SetLogger(&l)
	defer log.SetLogger(&log.Structural{})
	fn := &shardMaker{Args: []string{"convert", "images", "--", "gs://images/flowers", "gs://sets/flowers"}, Plan: "p"}
	if _, err := sdk.Run(t.Context(), "dataflow", pipeline(fn, []int{0, 1, 2})); err != nil {
		t.Fatal(err)
	}
	said := l.said.String()
	if !strings.Contains(said, "not submitting job") || !strings.Contains(said, "shardMaker") {
		t.Fatalf("no dry run of the pipeline: %s", said)
	}
	at := strings.LastIndex(said, "\n{\n")
	if at < 0 {
		t.Fatalf("no job in %s", said)
	}
	decoder := json.NewDecoder(strings.NewReader(said[at:]))
	decoder.DisallowUnknownFields()
	var job df.Job
	if err := decoder.Decode(&job); err != nil {
		t.Fatalf("%v in %s", err, said[at:])
	}
	return &job
}

// TestDataflowDryRun checks that each flag reaches its field of Dataflow's job.
func TestDataflowDryRun(t *testing.T) {
	job := dryRun(t, map[string]string{
		"dry_run": "true", "project": "flowers", "region": "europe-west4", "environment_type": "", "environment_config": "",
		"staging_location": "gs://sets/staging", "temp_location": "gs://sets/temp", "max_num_workers": "50", "num_workers": "5",
		"sdk_container_image": "registry.example.com/go-workers:1", "worker_machine_type": "n2-standard-16", "disk_size_gb": "80",
		"service_account_email": "tfrec@flowers.iam.gserviceaccount.com", "subnetwork": "regions/europe-west4/subnetworks/inner",
		"no_use_public_ips": "true", "labels": `{"team": "vision"}`, "experiments": "use_sibling_sdk_workers", "job_name": "flowers-1",
		"worker_zone": "europe-west4-a", "autoscaling_algorithm": "THROUGHPUT_BASED", "dataflow_service_options": "enable_prime",
	})
	e := job.Environment
	pool := e.WorkerPools[0]
	var options struct{ Options map[string]any }
	if err := json.Unmarshal(e.SdkPipelineOptions, &options); err != nil {
		t.Fatal(err)
	}
	pipeline, _ := options.Options["pipelineUrl"].(string)
	for what, ok := range map[string]bool{
		"type":            job.Type == "JOB_TYPE_BATCH",
		"name":            job.Name == "flowers-1" && job.ProjectId == "flowers",
		"labels":          len(job.Labels) == 1 && job.Labels["team"] == "vision",
		"temp_location":   e.TempStoragePrefix == "gs://sets/temp" && options.Options["tempLocation"] == "gs://sets/temp",
		"region":          options.Options["region"] == "europe-west4" && e.WorkerZone == "europe-west4-a",
		"account":         e.ServiceAccountEmail == "tfrec@flowers.iam.gserviceaccount.com",
		"experiments":     slices.Contains(e.Experiments, "use_sibling_sdk_workers") && slices.Contains(e.Experiments, "use_runner_v2"),
		"service options": slices.Equal(e.ServiceOptions, []string{"enable_prime"}),
		"pipeline":        strings.HasPrefix(pipeline, "gs://sets/staging/go-"),
		"packages":        len(pool.Packages) == 1 && pool.Packages[0].Name == "worker" && strings.HasPrefix(pool.Packages[0].Location, "gs://sets/staging/go-"),
		"image":           len(pool.SdkHarnessContainerImages) == 1 && pool.SdkHarnessContainerImages[0].ContainerImage == "registry.example.com/go-workers:1",
		"machines":        pool.MachineType == "n2-standard-16" && pool.NumWorkers == 5 && pool.DiskSizeGb == 80,
		"scaling":         pool.AutoscalingSettings.MaxNumWorkers == 50 && pool.AutoscalingSettings.Algorithm == "AUTOSCALING_ALGORITHM_BASIC",
		"network":         pool.IpConfiguration == "WORKER_IP_PRIVATE" && pool.Subnetwork == "regions/europe-west4/subnetworks/inner",
	} {
		if !ok {
			text, _ := json.Marshal(job)
			t.Errorf("%s: not as the flags say: %s", what, text)
		}
	}
}

// TestDataflowDefaults checks what Dataflow's job has without flags.
func TestDataflowDefaults(t *testing.T) {
	job := dryRun(t, map[string]string{
		"dry_run": "true", "project": "flowers", "region": "europe-west4", "environment_type": "", "environment_config": "",
		"staging_location": "gs://sets/staging",
	})
	pool := job.Environment.WorkerPools[0]
	if got := job.Environment.TempStoragePrefix; got != "gs://sets/staging/tmp" {
		t.Errorf("temporary files: %q, want those in the staging location", got)
	}
	if image := pool.SdkHarnessContainerImages[0].ContainerImage; !strings.Contains(image, "beam_go_sdk:") {
		t.Errorf("image %q, want Beam's for Go", image)
	}
	if job.Name == "" || pool.IpConfiguration != "WORKER_IP_UNSPECIFIED" {
		t.Errorf("%+v", job)
	}
}
