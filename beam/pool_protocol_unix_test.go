//go:build unix

package beam

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// fakeRunner is as much of a runner as workers need to connect: their control connections.
type fakeRunner struct {
	fnpb.UnimplementedProvisionServiceServer
	fnpb.UnimplementedBeamFnControlServer
	fnpb.UnimplementedBeamFnLoggingServer

	endpoint    string
	came, ended chan string // the IDs of workers

	mu     sync.Mutex
	hangUp map[string]context.CancelFunc // by ID
}

// startRunner starts one on this machine.
func startRunner(t *testing.T) *fakeRunner {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	r := &fakeRunner{endpoint: l.Addr().String(), came: make(chan string, 16), ended: make(chan string, 16), hangUp: map[string]context.CancelFunc{}}
	s := grpc.NewServer()
	fnpb.RegisterProvisionServiceServer(s, r)
	fnpb.RegisterBeamFnControlServer(s, r)
	fnpb.RegisterBeamFnLoggingServer(s, r)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return r
}

func (r *fakeRunner) GetProvisionInfo(context.Context, *fnpb.GetProvisionInfoRequest) (*fnpb.GetProvisionInfoResponse, error) {
	here := &pipepb.ApiServiceDescriptor{Url: r.endpoint}
	return &fnpb.GetProvisionInfoResponse{Info: &fnpb.ProvisionInfo{ControlEndpoint: here, LoggingEndpoint: here}}, nil
}

// Control holds the connection of a worker until that ends, or the runner hangs up.
func (r *fakeRunner) Control(stream fnpb.BeamFnControl_ControlServer) error {
	id, err := grpcx.ReadWorkerID(stream.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	r.mu.Lock()
	r.hangUp[id] = cancel
	r.mu.Unlock()
	r.came <- id
	<-ctx.Done()
	r.ended <- id
	return nil // an end without an error
}

func (r *fakeRunner) Logging(stream fnpb.BeamFnLogging_LoggingServer) error {
	<-stream.Context().Done()
	return nil
}

// next waits for IDs.
func next(t *testing.T, of <-chan string, want ...string) {
	t.Helper()
	left := map[string]bool{}
	for _, id := range want {
		left[id] = true
	}
	for len(left) > 0 {
		id := <-of
		if !left[id] {
			t.Fatalf("worker %s, want %q", id, want)
		}
		delete(left, id)
	}
}

// workers returns the processes of a pool, by ID.
func workers(t *testing.T, pool int) map[string]int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	check(t, err)
	all := map[string]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if id := regexp.MustCompile(` --id=(\S+)`).FindStringSubmatch(line); id != nil && f[1] == strconv.Itoa(pool) {
			all[id[1]], err = strconv.Atoi(f[0])
			check(t, err)
		}
	}
	return all
}

// TestTheProtocolOfPools starts, stops and kills workers of a pool as a runner does.
func TestTheProtocolOfPools(t *testing.T) {
	runner := startRunner(t)
	pool := start(t, onBeam, "--worker_pool", "127.0.0.1:0")
	stderr, err := pool.StderrPipe()
	check(t, err)
	check(t, pool.Start())
	defer func() { _ = pool.Process.Kill() }()
	said := make(chan string, 64) // lines of the pool's own
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if line, ok := strings.CutPrefix(lines.Text(), "tfrec-beam: "); ok {
				said <- line
			}
		}
	}()
	saying := func(pattern string) {
		t.Helper()
		if line := <-said; !regexp.MustCompile(pattern).MatchString(line) {
			t.Fatalf("the pool said %q, want %s", line, pattern)
		}
	}
	var address string
	if _, err := fmt.Sscanf(<-said, "workers are started by %s", &address); err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	defer connection.Close()
	client := fnpb.NewBeamFnExternalWorkerPoolClient(connection)
	ask := func(id, endpoint string) string {
		t.Helper()
		response, err := client.StartWorker(t.Context(), &fnpb.StartWorkerRequest{WorkerId: id, ProvisionEndpoint: &pipepb.ApiServiceDescriptor{Url: endpoint}})
		check(t, err)
		return response.GetError()
	}
	// A worker that could not start is stopped before any has started.
	_, err = client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-0"})
	check(t, err)

	for _, id := range []string{"1-1", "1-2", "1-3", "1-4"} {
		if e := ask(id, runner.endpoint); e != "" {
			t.Fatal(e)
		}
	}
	next(t, runner.came, "1-1", "1-2", "1-3", "1-4")
	processes := workers(t, pool.Process.Pid)
	if len(processes) != 4 {
		t.Fatalf("processes %v", processes)
	}

	// One is stopped: the pool has nothing to say.
	_, err = client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-3"})
	check(t, err)
	next(t, runner.ended, "1-3")
	_, err = client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-3"})
	check(t, err) // again, as a runner may

	// One is killed: the runner notices, the pool says so, and another may start with its ID.
	check(t, syscall.Kill(processes["1-2"], syscall.SIGKILL))
	next(t, runner.ended, "1-2")
	saying(fmt.Sprintf("worker process %d ended: signal: killed", processes["1-2"]))
	if e := ask("1-2", runner.endpoint); e != "" {
		t.Fatal(e)
	}
	next(t, runner.came, "1-2")

	// The job whose worker was killed ends, and asks for that to be stopped: the next job's remains.
	_, err = client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-2"})
	check(t, err)

	// The runner hangs up on one, without stopping it: it ends by itself.
	runner.mu.Lock()
	runner.hangUp["1-4"]()
	runner.mu.Unlock()
	next(t, runner.ended, "1-4")
	saying(fmt.Sprintf("worker process %d ended: exit status 0", processes["1-4"]))

	select {
	case id := <-runner.ended:
		t.Fatalf("worker %s has ended", id)
	default:
	}

	// What cannot start.
	if e := ask("1-5", ""); !strings.Contains(e, "worker 1-5: the runner has no provision service") {
		t.Errorf("without a provision service: %q", e)
	}
	saying("worker 1-5: the runner has no provision service")

	// The pool is terminated, and its workers end with it.
	check(t, pool.Process.Signal(syscall.SIGTERM))
	next(t, runner.ended, "1-1", "1-2")
	if line, more := <-said; more {
		t.Errorf("the pool said %q", line)
	}
	if err := pool.Wait(); err != nil {
		t.Errorf("the pool: %v", err)
	}
}

func TestAddressesOfPools(t *testing.T) {
	for line, want := range map[string]string{
		"--worker_pool": defaultPool, "--worker_pool=:7": ":7", "--worker_pool [::1]:7": "[::1]:7",
		"--worker_pool :7 more": "", "--worker_pool=:7 more": "", "convert --worker_pool": "", "": "",
	} {
		if got, is := poolAddress(strings.Fields(line)); got != want || is != (want != "") {
			t.Errorf("%q: %q, %v, want %q", line, got, is, want)
		}
	}
}
