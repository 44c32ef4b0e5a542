package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tasks is how many tasks the tests run instead of the 64 of the examples.
const tasks = 4

// single makes the set that one machine makes with the options of the examples.
func single(t *testing.T, dir string) string {
	t.Helper()
	run(t, dir, nil, "tfrec", "convert", "images", "photos", "one", "--name", "photos", "--resize", "224", "--shards", "256", "--quiet")
	return manifest(t, filepath.Join(dir, "one")).Fingerprint
}

func TestSlurm(t *testing.T) {
	need(t, "bash")
	dir := project(t, "cluster")
	want := single(t, dir)
	script := filepath.Join(dir, "slurm.sbatch")
	replace(t, script, "tasks=64", "tasks="+strconv.Itoa(tasks))
	for _, i := range []int{2, 0, 3} {
		run(t, dir, []string{"SLURM_ARRAY_TASK_ID=" + strconv.Itoa(i), "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_STEP=1",
			"SLURM_ARRAY_TASK_COUNT=" + strconv.Itoa(tasks), "SLURM_CPUS_PER_TASK=1"}, "bash", script, "photos", "out")
	}
	// One that failed is run again by its number.
	run(t, dir, []string{"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_COUNT=1", "BY_NUMBER=1"}, "bash", script, "photos", "out")
	run(t, dir, nil, "tfrec", "finalize", "out")
	if got := manifest(t, filepath.Join(dir, "out")).Fingerprint; got != want {
		t.Errorf("fingerprint %s, want one machine's %s", got, want)
	}
}

func TestKubernetes(t *testing.T) {
	dir := project(t, "cluster")
	want := single(t, dir)
	f, err := os.Open("cluster/kubernetes/volume.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := 0
	for d := yaml.NewDecoder(f); ; ran++ {
		var job struct {
			Kind string
			Spec struct {
				CompletionMode string `yaml:"completionMode"`
				Completions    int
				Template       struct {
					Spec struct {
						Containers []struct{ Args []string }
					}
				}
			}
		}
		if err := d.Decode(&job); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		args := job.Spec.Template.Spec.Containers[0].Args
		for i := range args {
			args[i] = strings.Replace(args[i], "/data/", dir+"/", 1)
		}
		if args[0] == "finalize" {
			run(t, dir, nil, "tfrec", args...)
			continue
		}
		i := slices.Index(args, "--tasks") + 1
		if job.Spec.CompletionMode != "Indexed" || strconv.Itoa(job.Spec.Completions) != args[i] {
			t.Errorf("%s with %d completions, and --tasks %s", job.Spec.CompletionMode, job.Spec.Completions, args[i])
		}
		args[i] = strconv.Itoa(tasks)
		for n := range tasks {
			run(t, dir, []string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(n)}, "tfrec", args...)
		}
	}
	if ran != 2 {
		t.Fatalf("%d jobs", ran)
	}
	if got := manifest(t, filepath.Join(dir, "out")).Fingerprint; got != want {
		t.Errorf("fingerprint %s, want one machine's %s", got, want)
	}
}

// TestAWSBatch gives the script an aws that writes down what it is called with.
func TestAWSBatch(t *testing.T) {
	need(t, "bash")
	dir := project(t, "cluster")
	want := single(t, dir)
	replace(t, filepath.Join(dir, "aws-batch/efs.sh"), "tasks=64", "tasks="+strconv.Itoa(tasks))
	fake := "#!/bin/bash\nprintf '%s\\0' \"$@\" >> calls; printf '\\n\\0' >> calls\necho id-$2\n"
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "bash", "aws-batch/efs.sh", "queue", "image", "fs-1")
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	submitted := 0
	for call := range bytes.SplitSeq(calls, []byte("\n\x00")) {
		words := strings.Split(string(call), "\x00")
		after := func(name string) string {
			i := slices.Index(words, name)
			if i < 0 {
				return ""
			}
			return words[i+1]
		}
		if after("batch") == "register-job-definition" {
			var properties map[string]any
			if err := json.Unmarshal([]byte(after("--container-properties")), &properties); err != nil || properties["image"] != "image" {
				t.Errorf("%v: %v", properties, err)
			}
		}
		if after("batch") != "submit-job" {
			continue
		}
		submitted++
		var overrides struct{ Command []string }
		if err := json.Unmarshal([]byte(after("--container-overrides")), &overrides); err != nil {
			t.Fatalf("%q: %v", after("--container-overrides"), err)
		}
		args := overrides.Command
		for i := range args {
			args[i] = strings.Replace(args[i], "/data/", dir+"/", 1)
		}
		size := 1
		if array := after("--array-properties"); array != "" {
			size, _ = strconv.Atoi(strings.TrimPrefix(array, "size="))
		} else if after("--depends-on") != "jobId=id-submit-job" {
			t.Errorf("depends on %q", after("--depends-on"))
		}
		for n := range size {
			run(t, dir, []string{"AWS_BATCH_JOB_ARRAY_INDEX=" + strconv.Itoa(n), "AWS_BATCH_JOB_ARRAY_SIZE=" + strconv.Itoa(size)}, "tfrec", args...)
		}
	}
	if submitted != 2 {
		t.Fatalf("%d jobs in %q", submitted, calls)
	}
	if got := manifest(t, filepath.Join(dir, "out")).Fingerprint; got != want {
		t.Errorf("fingerprint %s, want one machine's %s", got, want)
	}
}
