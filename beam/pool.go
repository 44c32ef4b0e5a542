package beam

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// workerPool starts workers as processes for runners, by Beam's protocol for external environments.
type workerPool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	command string
	env     []string // in addition to this process's
	// ended is called when a worker cannot start, or ends and was not stopped. It must not block.
	ended func(error)
	// silent is whether the runner is told that all is well when a worker cannot start: prism panics
	// otherwise (2.77.0).
	silent bool

	listener net.Listener

	mu      sync.Mutex
	closed  bool
	workers []*poolWorker
	started map[string]int // how many workers with an ID were started, less the requests to stop one
	end     error          // how the first worker ended
}

// poolWorker is a running process.
type poolWorker struct {
	id      string
	process *os.Process
	stopped bool // by the pool
	done    chan struct{}
}

// listen begins to serve runners on address, as net.Listen wants it, for the rest of the process.
func (p *workerPool) listen(address string) (err error) {
	if p.listener, err = net.Listen("tcp", address); err != nil {
		return err
	}
	p.started = map[string]int{}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	go func() { _ = server.Serve(p.listener) }()
	return nil
}

// address is where the pool listens.
func (p *workerPool) address() string { return p.listener.Addr().String() }

// StartWorker starts a process, which gets everything but its name from the runner.
func (p *workerPool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	if err := p.start(r); err != nil {
		p.ended(err)
		if !p.silent {
			return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
		}
	}
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *workerPool) start(r *fnpb.StartWorkerRequest) error {
	endpoint := r.GetProvisionEndpoint().GetUrl()
	if endpoint == "" {
		return fmt.Errorf("worker %s: the runner has no provision service", r.GetWorkerId())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("the pool of workers is closed")
	}
	c := exec.Command(p.command, "--id="+r.GetWorkerId(), "--provision_endpoint="+endpoint)
	c.Env = append(os.Environ(), p.env...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Start(); err != nil {
		return fmt.Errorf("start worker %s: %w", r.GetWorkerId(), err)
	}
	w := &poolWorker{id: r.GetWorkerId(), process: c.Process, done: make(chan struct{})}
	p.workers = append(p.workers, w)
	p.started[w.id]++
	go p.wait(w, c)
	return nil
}

// wait waits for the end of a worker.
func (p *workerPool) wait(w *poolWorker, c *exec.Cmd) {
	defer close(w.done)
	_ = c.Wait() // the state says as much
	p.mu.Lock()
	p.workers = slices.DeleteFunc(p.workers, func(o *poolWorker) bool { return o == w })
	stopped := w.stopped
	end := fmt.Errorf("worker process %d ended: %s", w.process.Pid, c.ProcessState)
	if p.end == nil {
		p.end = end
	}
	p.mu.Unlock()
	if !stopped {
		p.ended(end)
	}
}

// firstEnd closes the pool, and returns how the first of its workers ended, nil if it had none.
func (p *workerPool) firstEnd() error {
	p.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// StopWorker ends a process if it can only be the one that is meant. Two jobs or task managers of
// Flink may give the same ID to their workers, and a request may come when the job's worker has died
// and the next job has one with its ID: none is ended then, but each ends when its runner hangs up.
func (p *workerPool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	id := r.GetWorkerId()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if w.id != id {
			continue
		}
		w.stopped = true
		if p.started[id] == 1 {
			_ = w.process.Kill() // unless it has ended by itself
		}
	}
	if p.started[id]--; p.started[id] <= 0 {
		delete(p.started, id)
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// close ends the workers and waits for them. No other is started.
func (p *workerPool) close() {
	p.mu.Lock()
	p.closed = true
	workers := slices.Clone(p.workers)
	for _, w := range workers {
		w.stopped = true
		_ = w.process.Kill() // unless it has ended by itself
	}
	p.mu.Unlock()
	for _, w := range workers {
		<-w.done
	}
}

// defaultPool is where a pool listens: on the port of Beam's own pools, for this machine only.
const defaultPool = "localhost:50000"

// poolAddress returns the address to listen at if the arguments are for a pool.
func poolAddress(args []string) (address string, is bool) {
	if len(args) == 0 {
		return "", false
	}
	name, address, given := strings.Cut(args[0], "=")
	switch more := args[1:]; {
	case name != "--worker_pool" || len(more) > 1 || given && len(more) > 0:
		return "", false
	case len(more) == 1:
		return more[0], true
	case !given:
		return defaultPool, true
	}
	return address, true
}

// runPool starts workers of this program for runners until it is interrupted.
func runPool(address string) int {
	complain := func(err error) { fmt.Fprintln(os.Stderr, "tfrec-beam: as a pool of workers:", err) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		complain(err)
		return 1
	}
	pool := &workerPool{command: self, ended: complain}
	if err := pool.listen(address); err != nil {
		complain(err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "tfrec-beam: workers are started by", pool.address())
	<-ctx.Done()
	pool.close()
	return 0
}
