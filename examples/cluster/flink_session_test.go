package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// taskManagers is how many the tests run, instead of the 4 of the example.
const taskManagers = 2

// session is the session cluster as processes of this machine, with the arguments, variables and
// configuration of the files. The names of services become addresses here. All task managers share
// the pool of workers, since they share localhost.
type session struct {
	t *testing.T
	// jars is the directory of the jars of Flink, Beam's runner and what both need. Flink's processes
	// get no class of Beam: the job server sends them, as to Flink's image.
	jars, conf string
	rest, pool string // host:port
	endpoints  *strings.Replacer
	managers   []*process
	workers    *process
}

// startSession starts the cluster, whose workers reach the store through p.
func startSession(t *testing.T, s store, secret *corev1.Secret, p *proxy) *session {
	t.Helper()
	address := func() string { return "127.0.0.1:" + freePort(t) }
	c := &session{t: t, jars: program(t, "TFREC_FLINK"), conf: t.TempDir(), rest: address(), pool: address()}
	jobs, artifacts := freePort(t), freePort(t)
	c.endpoints = strings.NewReplacer("tfrec-flink:8081", c.rest, "tfrec-flink-jobserver:8099", "127.0.0.1:"+jobs,
		"localhost:50000", c.pool, "$(POD_IP)", "127.0.0.1", "--job-port=8099", "--job-port="+jobs,
		"--artifact-port=8098", "--artifact-port="+artifacts, "=/tmp/artifacts", "="+t.TempDir())
	c.configure()

	manager := deployment(t, "flink/jobmanager.yaml").Spec.Template.Spec.Containers[0]
	c.flink(manager, "JM", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint")
	pod := deployment(t, "flink/taskmanager.yaml").Spec.Template.Spec
	cmd, _ := container(t, program(t, "TFREC_BEAM"), s, p, variables(pod.InitContainers[0], secret), c.here(pod.InitContainers[0].Args))
	c.workers = launch(t, "the pool of workers", cmd)
	await(t, c.pool, c.workers)
	for range taskManagers {
		c.startTaskManager()
	}
	c.awaitSlots()

	server := deployment(t, "flink/jobserver.yaml").Spec.Template.Spec.Containers[0]
	java := exec.Command("java", append([]string{"-cp", filepath.Join(c.jars, "*"), "org.apache.beam.runners.flink.FlinkJobServerDriver"}, c.here(server.Args)...)...)
	java.Env = append(os.Environ(), variables(server, secret)...)
	await(t, "127.0.0.1:"+jobs, launch(t, "Beam's job server", java))
	return c
}

// here returns arguments with addresses of this machine.
func (c *session) here(args []string) []string {
	args = slices.Clone(args)
	for i := range args {
		args[i] = c.endpoints.Replace(args[i])
	}
	return args
}

// configure writes Flink's configuration: that of the example, and addresses of this machine.
func (c *session) configure() {
	c.t.Helper()
	all := properties(c.t)
	host, port, _ := strings.Cut(c.rest, ":")
	maps.Copy(all, map[string]string{
		"jobmanager.rpc.address": host, "jobmanager.rpc.port": freePort(c.t), "rest.address": host, "rest.bind-address": host,
		"rest.bind-port": port, "taskmanager.host": host, "io.tmp.dirs": c.t.TempDir(),
	})
	var lines strings.Builder
	for key, value := range all {
		fmt.Fprintf(&lines, "%s: %s\n", key, value)
	}
	if err := os.WriteFile(filepath.Join(c.conf, "flink-conf.yaml"), []byte(lines.String()), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// classPath is Flink's own.
func (c *session) classPath() string {
	c.t.Helper()
	jars, err := filepath.Glob(filepath.Join(c.jars, "*.jar"))
	if err != nil || len(jars) == 0 {
		c.t.Fatal(jars, err)
	}
	return strings.Join(slices.DeleteFunc(jars, func(jar string) bool { return strings.HasPrefix(filepath.Base(jar), "beam-") }), ":")
}

// flink runs a process of Flink as its image does for the argument of a container: with the memory
// that Flink derives from its configuration. kind is JM or TM.
func (c *session) flink(of corev1.Container, kind, class string) *process {
	c.t.Helper()
	if want := map[string]string{"JM": "jobmanager", "TM": "taskmanager"}[kind]; !slices.Equal(of.Args, []string{want}) {
		c.t.Fatalf("%q: want %s", of.Args, want)
	}
	sizes := exec.Command("java", "-cp", c.classPath(), "org.apache.flink.runtime.util.bash.BashJavaUtils", "GET_"+kind+"_RESOURCE_PARAMS", "--configDir", c.conf)
	out, err := sizes.CombinedOutput()
	var results []string
	for line := range strings.Lines(string(out)) {
		if _, result, ok := strings.Cut(line, "BASH_JAVA_UTILS_EXEC_RESULT:"); ok {
			results = append(results, result)
		}
	}
	if err != nil || len(results) != 2 {
		c.t.Fatalf("%s: %v\n%s", sizes, err, out)
	}
	args := append(strings.Fields(results[0]), "-cp", c.classPath(), class, "--configDir", c.conf)
	return launch(c.t, "Flink's "+of.Args[0], exec.Command("java", append(args, strings.Fields(results[1])...)...))
}

// startTaskManager starts one.
func (c *session) startTaskManager() {
	c.t.Helper()
	of := deployment(c.t, "flink/taskmanager.yaml").Spec.Template.Spec.Containers[0]
	c.managers = append(c.managers, c.flink(of, "TM", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"))
}

// awaitSlots waits until the job manager knows all task managers.
func (c *session) awaitSlots() {
	c.t.Helper()
	testwait.Until(func() bool {
		response, err := http.Get("http://" + c.rest + "/overview")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		var overview struct{ TaskManagers int }
		err = json.NewDecoder(response.Body).Decode(&overview)
		return err == nil && overview.TaskManagers == taskManagers
	})
}

// drive starts the driver of a job. ended is closed at its end, and wait wants that to be a success.
func (c *session) drive(path string, s store, secret *corev1.Secret) (ended <-chan struct{}, wait func()) {
	c.t.Helper()
	of, d := driver(c.t, path), deployment(c.t, "flink/taskmanager.yaml")
	args := c.here(withParallelism(c.t, of.Args, int(*d.Spec.Replicas)*slots(c.t)))
	cmd, out := container(c.t, program(c.t, "TFREC_BEAM"), s, &proxy{}, variables(of, secret), args)
	p := testwait.Start(c.t, cmd)
	return p.Done(), func() {
		c.t.Helper()
		if err := p.Wait(); err != nil {
			c.t.Fatalf("%q: %v\n%s", args, err, out)
		}
		c.t.Logf("%s", out)
	}
}

// children returns the processes that a process has started.
func children(t *testing.T, parent int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 && f[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(f[0])
			all = append(all, pid)
		}
	}
	return all
}

// awaitNoWorkers waits until the workers of all jobs have ended. The task managers keep those of a
// job for a minute, and may keep their connections for good, of which a worker learns after six and a
// half.
func (c *session) awaitNoWorkers() {
	c.t.Helper()
	began := time.Now()
	for len(children(c.t, c.workers.Cmd.Process.Pid)) > 0 {
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Logf("no workers are left after %v", time.Since(began))
}

// TestFlinkFromBucketToBucket converts and shuffles on the session cluster. In the middle of the
// conversion it kills a task manager, which its Deployment would replace, and a worker: the job ends
// without an error.
func TestFlinkFromBucketToBucket(t *testing.T) {
	program(t, "TFREC_FLINK")
	secret := decodeOne[corev1.Secret](t, "kubernetes/secret.yaml")
	s := newS3(t, secret.StringData["AWS_ACCESS_KEY_ID"], secret.StringData["AWS_SECRET_ACCESS_KEY"])
	p := &proxy{finished: make(chan string, 1), gone: make(chan struct{}), resumes: true}
	c := startSession(t, s, secret, p)

	ended, wait := c.drive("flink/convert.yaml", s, secret)
	select {
	case shard := <-p.finished:
		t.Logf("%s is finished: a task manager and a worker are killed", shard)
	case <-ended:
		wait()
		t.Fatal("the job ended before a shard was finished")
	}
	c.managers[0].kill()
	c.startTaskManager()
	workers := children(t, c.workers.Cmd.Process.Pid)
	if len(workers) == 0 {
		t.Fatal("the pool has no workers")
	}
	worker, err := os.FindProcess(workers[0])
	if err != nil {
		t.Fatal(err)
	}
	worker.Kill()
	close(p.gone)
	wait()
	dir := t.TempDir()
	convert, shuffle := filepath.Join(dir, "photos"), filepath.Join(dir, "photos-shuffled")
	for _, args := range [][]string{
		{"convert", "images", photos, convert, "--name", "photos", "--resize", "224", "--shards", "256"},
		{"reshard", convert, shuffle, "--shuffle", "--seed", "7", "--shards", "64"},
	} {
		if out, err := exec.Command(tfrec(t), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	same(t, withoutState(s.set(t)), withoutState(filesBelow(t, convert)))

	_, wait = c.drive("flink/shuffle.yaml", s, secret)
	wait()
	same(t, withoutState(filesBelow(t, filepath.Join(s.dir, "sets", "photos-shuffled"))), withoutState(filesBelow(t, shuffle)))
	c.awaitNoWorkers()
	c.workers.Cmd.Process.Signal(syscall.SIGTERM)
	c.workers.kill() // waits
}
