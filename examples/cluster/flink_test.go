package cluster

import (
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// flinkFiles are the files of the session cluster.
func flinkFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("flink/*.yaml")
	if err != nil || len(paths) < 7 {
		t.Fatal(paths, err)
	}
	return paths
}

// deployment decodes the one in a file, which may hold a service, too.
func deployment(t *testing.T, path string) *appsv1.Deployment {
	t.Helper()
	for _, object := range decode(t, path) {
		if d, ok := object.(*appsv1.Deployment); ok {
			return d
		}
	}
	t.Fatalf("%s: no Deployment", path)
	return nil
}

// properties reads FLINK_PROPERTIES as Flink's image does: KEY: VALUE in each line, without spaces.
func properties(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	config := decodeOne[corev1.ConfigMap](t, "flink/config.yaml")
	for line := range strings.Lines(config.Data["FLINK_PROPERTIES"]) {
		key, value, ok := strings.Cut(strings.Join(strings.Fields(line), ""), ":")
		if !ok || strings.HasPrefix(key, "#") || all[key] != "" {
			t.Errorf("FLINK_PROPERTIES: %q: want a property that is given once", line)
		}
		all[key] = value
	}
	return all
}

// slots is how many tasks a task manager has at once.
func slots(t *testing.T) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(properties(t)["taskmanager.numberOfTaskSlots"], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// pods returns the labels and the pods of all objects in the files of the session cluster, by path.
func pods(t *testing.T) map[string]corev1.PodTemplateSpec {
	t.Helper()
	all := map[string]corev1.PodTemplateSpec{}
	for _, path := range flinkFiles(t) {
		for _, object := range decode(t, path) {
			switch o := object.(type) {
			case *appsv1.Deployment:
				all[path] = o.Spec.Template
			case *batchv1.Job:
				all[path] = o.Spec.Template
			}
		}
	}
	return all
}

// selects reports whether a selector matches labels.
func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// TestFlinkSession checks what the types do not say of the session cluster's objects.
func TestFlinkSession(t *testing.T) {
	all := pods(t)
	endpoints := map[string]bool{} // service:port
	for _, path := range flinkFiles(t) {
		for _, object := range decode(t, path) {
			switch o := object.(type) {
			case *appsv1.Deployment:
				if !selects(o.Spec.Selector.MatchLabels, o.Spec.Template.Labels) {
					t.Errorf("%s: the selector %v does not match the pods' %v", path, o.Spec.Selector.MatchLabels, o.Spec.Template.Labels)
				}
				if p := o.Spec.Template.Spec.RestartPolicy; p != "" && p != corev1.RestartPolicyAlways {
					t.Errorf("%s: pods are restarted %s, which a Deployment refuses", path, p)
				}
			case *corev1.Service:
				pod, ok := all[path]
				if !ok || !selects(o.Spec.Selector, pod.Labels) {
					t.Fatalf("%s: the service selects %v, the pods are %v", path, o.Spec.Selector, pod.Labels)
				}
				for _, port := range o.Spec.Ports {
					endpoints[fmt.Sprintf("%s:%d", o.Name, port.Port)] = true
					if !slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == port.Port && p.Name == port.Name }) {
						t.Errorf("%s: the container has no port %s", path, port.Name)
					}
				}
			case *networkingv1.NetworkPolicy:
				from := o.Spec.Ingress[0].From
				for of, pod := range all {
					if len(from) != 1 || !selects(o.Spec.PodSelector.MatchLabels, pod.Labels) || !selects(from[0].PodSelector.MatchLabels, pod.Labels) {
						t.Errorf("%s: does not let %s in, or does not protect it", path, of)
					}
				}
			}
		}
	}
	for path, pod := range all {
		checkPod(t, path, pod.Spec)
		checkRestricted(t, path, pod.Spec)
		for _, c := range pod.Spec.Containers {
			for _, arg := range c.Args {
				_, value, _ := strings.Cut(arg, "=")
				if strings.HasPrefix(value, "tfrec-flink") && !endpoints[value] {
					t.Errorf("%s: %s: no service has this port: %q", path, arg, slices.Sorted(maps.Keys(endpoints)))
				}
			}
		}
	}
	if host := properties(t)["jobmanager.rpc.address"]; !endpoints[host+":6123"] {
		t.Errorf("jobmanager.rpc.address: no service %s has port 6123", host)
	}
}

// checkRestricted checks what the Pod Security Standard "restricted" asks of pods.
func checkRestricted(t *testing.T, path string, pod corev1.PodSpec) {
	t.Helper()
	s := pod.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s: the pod may run as root, or without seccomp", path)
	}
	if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		t.Errorf("%s: the services' variables may be taken for tfrec's", path)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: container %s keeps privileges", path, c.Name)
		}
		if ours := strings.Contains(c.Image, "/tfrec-beam:"); !ours && (s.RunAsUser == nil || *s.RunAsUser == 0) {
			t.Errorf("%s: the user of %s may be root", path, c.Image) // ours has a number for its user
		}
	}
}

// TestFlinkParallelism compares the parallelism of the jobs with the slots that there are.
func TestFlinkParallelism(t *testing.T) {
	d := deployment(t, "flink/taskmanager.yaml")
	for _, path := range []string{"flink/convert.yaml", "flink/shuffle.yaml"} {
		withParallelism(t, driver(t, path).Args, int(*d.Spec.Replicas)*slots(t))
	}
}

// driver is the container of a job.
func driver(t *testing.T, path string) corev1.Container {
	t.Helper()
	return decodeOne[batchv1.Job](t, path).Spec.Template.Spec.Containers[0]
}

// withParallelism returns the arguments of a job on want slots for the task managers of the tests.
func withParallelism(t *testing.T, args []string, want int) []string {
	t.Helper()
	i := slices.Index(args, fmt.Sprint("--parallelism=", want))
	if i < 0 {
		t.Fatalf("%q: want --parallelism=%d, as many as there are slots", args, want)
	}
	args = slices.Clone(args)
	args[i] = fmt.Sprint("--parallelism=", taskManagers*slots(t))
	return args
}

// TestFlinkMemory compares what Flink may take with the limits of its containers.
func TestFlinkMemory(t *testing.T) {
	for path, property := range map[string]string{
		"flink/jobmanager.yaml": "jobmanager.memory.process.size", "flink/taskmanager.yaml": "taskmanager.memory.process.size",
	} {
		size := strings.Replace(properties(t)[property], "m", "Mi", 1)
		limit := deployment(t, path).Spec.Template.Spec.Containers[0].Resources.Limits.Memory()
		if want, err := resource.ParseQuantity(size); err != nil || limit.Cmp(want) != 0 {
			t.Errorf("%s: a limit of %s, want %s, %s (%v)", path, limit, property, size, err)
		}
	}
}

// TestFlinkVersions compares the versions of images with those that the tests run.
func TestFlinkVersions(t *testing.T) {
	text, err := os.ReadFile("../../beam/runners/flink.xml")
	if err != nil {
		t.Fatal(err)
	}
	var pom struct {
		Dependencies []struct {
			ID      string `xml:"artifactId"`
			Version string `xml:"version"`
		} `xml:"dependencies>dependency"`
	}
	if err := xml.Unmarshal(text, &pom); err != nil || len(pom.Dependencies) == 0 {
		t.Fatal(pom, err)
	}
	flink, ok := strings.CutPrefix(pom.Dependencies[0].ID, "beam-runners-flink-")
	if !ok {
		t.Fatalf("the first dependency is %+v", pom.Dependencies[0])
	}
	want := fmt.Sprintf("apache/beam_flink%s_job_server:%s", flink, pom.Dependencies[0].Version)
	if got := deployment(t, "flink/jobserver.yaml").Spec.Template.Spec.Containers[0].Image; got != want {
		t.Errorf("the job server's image is %s, want %s", got, want)
	}
	for _, path := range []string{"flink/jobmanager.yaml", "flink/taskmanager.yaml"} {
		if got := deployment(t, path).Spec.Template.Spec.Containers[0].Image; !strings.HasPrefix(got, "flink:"+flink+".") {
			t.Errorf("%s: image %s, want Flink %s", path, got, flink)
		}
	}
}
