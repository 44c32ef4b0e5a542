package beam

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestRunnersThatFallSilent has a runner keep its connection to a worker, and no longer read it.
func TestRunnersThatFallSilent(t *testing.T) {
	t.Parallel()
	defer func(s, p time.Duration) { silence, patience = s, p }(silence, patience)
	silence, patience = 10*time.Second, time.Second // gRPC asks no earlier

	runner := startRunner(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	var silent atomic.Bool
	go func() {
		here, err := l.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", runner.endpoint)
		if err != nil {
			return
		}
		t.Cleanup(func() { _, _ = here.Close(), there.Close() })
		forward := func(to, from net.Conn) {
			buf := make([]byte, 4096)
			for {
				n, err := from.Read(buf)
				if silent.Load() {
					return
				}
				if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
					return
				}
			}
		}
		go forward(here, there)
		forward(there, here)
	}()

	ctx := grpcx.WriteWorkerID(context.Background(), "1-1")
	c, err := dialRunner(ctx, l.Addr().String(), time.Hour)
	check(t, err)
	defer c.Close()
	control, err := fnpb.NewBeamFnControlClient(c).Control(ctx)
	check(t, err)
	next(t, runner.came, "1-1")
	silent.Store(true)
	if _, err := control.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("%v, want that the runner does not answer", err)
	}
}

// TestRunnersThatAreNotThere wants an error that says where the runner should be.
func TestRunnersThatAreNotThere(t *testing.T) {
	const nobody = "127.0.0.1:1" // a port that no test is given
	if c, err := dialRunner(t.Context(), nobody, 100*time.Millisecond); err == nil {
		_ = c.Close()
		t.Error("connected")
	} else if want := "connect to the runner at " + nobody + ": context deadline exceeded"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
