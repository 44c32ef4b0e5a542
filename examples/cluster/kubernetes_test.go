package cluster

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// decode decodes all documents of a YAML file into the types that their apiVersion and kind name. A
// field that a type lacks, or that is given twice, is an error.
func decode(t *testing.T, path string) []any {
	t.Helper()
	var objects []any
	for _, document := range bytes.Split(read(t, path), []byte("\n---\n")) {
		var header struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &header); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var object any
		switch header.APIVersion + " " + header.Kind {
		case "apps/v1 Deployment":
			object = &appsv1.Deployment{}
		case "batch/v1 Job":
			object = &batchv1.Job{}
		case "networking.k8s.io/v1 NetworkPolicy":
			object = &networkingv1.NetworkPolicy{}
		case "v1 ConfigMap":
			object = &corev1.ConfigMap{}
		case "v1 Service":
			object = &corev1.Service{}
		case "v1 ServiceAccount":
			object = &corev1.ServiceAccount{}
		case "v1 Secret":
			object = &corev1.Secret{}
		default:
			t.Fatalf("%s: unexpected %v", path, header)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, object)
	}
	return objects
}

// decodeOne decodes a file with one document of type T.
func decodeOne[T any](t *testing.T, path string) *T {
	t.Helper()
	objects := decode(t, path)
	object, ok := objects[0].(*T)
	if !ok || len(objects) != 1 {
		t.Fatalf("%s: got %T and %d more, want one %T", path, objects[0], len(objects)-1, object)
	}
	return object
}

// TestKubernetesJobs checks what the types do not say: the names that objects have for each other,
// and what a cluster refuses.
func TestKubernetesJobs(t *testing.T) {
	paths, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		for _, object := range decode(t, path) {
			job, ok := object.(*batchv1.Job)
			if !ok {
				continue
			}
			checkPod(t, path, job.Spec.Template.Spec)
			pod := job.Spec.Template.Spec
			if len(pod.Containers) != 1 || pod.RestartPolicy != corev1.RestartPolicyNever {
				t.Fatalf("%s: %d containers, restarted %s", path, len(pod.Containers), pod.RestartPolicy)
			}
			if indexed := job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion; !indexed {
				if job.Spec.Completions != nil || job.Spec.BackoffLimitPerIndex != nil {
					t.Errorf("%s: completions %v and backoffLimitPerIndex %v need completionMode Indexed", path, job.Spec.Completions, job.Spec.BackoffLimitPerIndex)
				}
			} else {
				withTasks(t, pod.Containers[0].Args, int(*job.Spec.Completions))
			}
		}
	}
}

// checkPod compares the names in a pod with those of the objects that it needs.
func checkPod(t *testing.T, path string, pod corev1.PodSpec) {
	t.Helper()
	account := decodeOne[corev1.ServiceAccount](t, "kubernetes/account.yaml").Name
	secret := decodeOne[corev1.Secret](t, "kubernetes/secret.yaml").Name
	config := decodeOne[corev1.ConfigMap](t, "flink/config.yaml").Name
	if pod.ServiceAccountName != "" && pod.ServiceAccountName != account {
		t.Errorf("%s: service account %s, want %s", path, pod.ServiceAccountName, account)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, from := range c.EnvFrom {
			if (from.SecretRef == nil || from.SecretRef.Name != secret) && (from.ConfigMapRef == nil || from.ConfigMapRef.Name != config) {
				t.Errorf("%s: variables from %v, want the secret %s or the configuration %s", path, from, secret, config)
			}
		}
		for _, mount := range c.VolumeMounts {
			if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
				t.Errorf("%s: no volume %s", path, mount.Name)
			}
		}
		for resource, limit := range c.Resources.Limits {
			if limit.Cmp(c.Resources.Requests[resource]) < 0 {
				t.Errorf("%s: requests more %s than its limit", path, resource)
			}
		}
	}
}

// TestPreemptionIsNoFailure checks the rules for failed pods of the jobs from bucket to bucket.
func TestPreemptionIsNoFailure(t *testing.T) {
	for _, path := range []string{"kubernetes/convert.yaml", "kubernetes/finalize.yaml", "flink/convert.yaml", "flink/shuffle.yaml"} {
		job := decodeOne[batchv1.Job](t, path)
		if job.Spec.PodFailurePolicy == nil {
			t.Fatalf("%s: no podFailurePolicy", path)
		}
		// The first rule that matches decides: a node's end first, whatever the exit code.
		rules := job.Spec.PodFailurePolicy.Rules
		if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore || len(rules[0].OnPodConditions) != 1 ||
			rules[0].OnPodConditions[0] != (batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}) {
			t.Errorf("%s: rules %v, want preemption to be ignored first", path, rules)
			continue
		}
		codes := rules[1].OnExitCodes
		if rules[1].Action != batchv1.PodFailurePolicyActionFailJob || codes == nil || codes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn ||
			!slices.Contains(codes.Values, 2) || slices.Contains(codes.Values, 1) || *codes.ContainerName != job.Spec.Template.Spec.Containers[0].Name {
			t.Errorf("%s: rule %v, want wrong usage to be final, and other failures not", path, rules[1])
		}
	}
}

func TestKubernetesFromBucketToBucket(t *testing.T) {
	secret := decodeOne[corev1.Secret](t, "kubernetes/secret.yaml")
	convert := decodeOne[batchv1.Job](t, "kubernetes/convert.yaml")
	finalize := decodeOne[batchv1.Job](t, "kubernetes/finalize.yaml")
	of := func(j *batchv1.Job) corev1.Container { return j.Spec.Template.Spec.Containers[0] }
	env := func(j *batchv1.Job) []string { return variables(of(j), secret) }
	if !slices.Equal(env(convert), env(finalize)) {
		t.Fatalf("the jobs differ in variables: %q, %q", env(convert), env(finalize))
	}
	s := newS3(t, secret.StringData["AWS_ACCESS_KEY_ID"], secret.StringData["AWS_SECRET_ACCESS_KEY"])
	job{
		convert:  withTasks(t, of(convert).Args, int(*convert.Spec.Completions)),
		finalize: of(finalize).Args,
		env:      env(convert),
		index:    func(task int) []string { return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", task)} },
	}.runOn(t, s)
}

// variables returns those of a container with the keys of a secret, sorted. It leaves out those that
// a cluster fills in.
func variables(c corev1.Container, secret *corev1.Secret) []string {
	var all []string
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			all = append(all, v.Name+"="+v.Value)
		}
	}
	for _, from := range c.EnvFrom {
		if from.SecretRef == nil {
			continue
		}
		for name, value := range secret.StringData {
			all = append(all, name+"="+value)
		}
	}
	slices.Sort(all)
	return all
}
