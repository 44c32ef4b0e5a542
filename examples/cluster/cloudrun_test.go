package cluster

import (
	"fmt"
	"testing"

	runv1 "google.golang.org/api/run/v1"
	"sigs.k8s.io/yaml"
)

// cloudRun decodes a job of Cloud Run strictly.
func cloudRun(t *testing.T, path string) *runv1.ExecutionSpec {
	t.Helper()
	var job runv1.Job
	if err := yaml.UnmarshalStrict(read(t, path), &job); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if job.ApiVersion != "run.googleapis.com/v1" || job.Kind != "Job" {
		t.Fatalf("%s: %s %s", path, job.ApiVersion, job.Kind)
	}
	return job.Spec.Template.Spec
}

func TestCloudRunFromBucketToBucket(t *testing.T) {
	// The script replaces and runs the jobs one after the other.
	var names []string
	files := map[string]string{}
	for _, call := range capture(t, "gcloud", "cloud-run/run.sh", "europe-west4") {
		switch fmt.Sprint(call[:3]) {
		case "[run jobs replace]":
			var job runv1.Job
			if err := yaml.Unmarshal(read(t, "cloud-run/"+call[3]), &job); err != nil {
				t.Fatal(err)
			}
			files[job.Metadata.Name] = "cloud-run/" + call[3]
		case "[run jobs execute]":
			names = append(names, call[3])
		default:
			t.Errorf("unexpected gcloud %q", call)
		}
	}
	if len(names) != 2 || files[names[0]] == "" || files[names[1]] == "" {
		t.Fatalf("runs %q of %q, want two", names, files)
	}
	convert, finalize := cloudRun(t, files[names[0]]), cloudRun(t, files[names[1]])
	if finalize.TaskCount != 1 {
		t.Errorf("%d tasks finalize", finalize.TaskCount)
	}
	job{
		convert:  withTasks(t, convert.Template.Spec.Containers[0].Args, int(convert.TaskCount)),
		finalize: finalize.Template.Spec.Containers[0].Args,
		index: func(task int) []string {
			return []string{fmt.Sprint("CLOUD_RUN_TASK_INDEX=", task), fmt.Sprint("CLOUD_RUN_TASK_COUNT=", tasks), "CLOUD_RUN_TASK_ATTEMPT=0"}
		},
	}.runOn(t, newGCS(t))
}
