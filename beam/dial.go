package beam

import (
	"context"
	"fmt"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// A runner that has sent nothing for silence is pinged, and its worker ends unless it answers
// within patience: its machine may be lost, or its process may hold connections that it does not
// read any more, as a task manager of Flink does once Beam's classes were unloaded with a job. gRPC
// servers reject clients that ping every five minutes or more often.
var (
	silence  = 6 * time.Minute
	patience = 30 * time.Second
)

// dialRunner connects a worker, for grpcx.Dial. As the SDK's own, it waits until there is a connection.
func dialRunner(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silence, Timeout: patience}))
	if err != nil {
		return nil, fmt.Errorf("connect to the runner at %s: %w", endpoint, err)
	}
	c.Connect()
	for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
		if !c.WaitForStateChange(ctx, state) {
			_ = c.Close()
			return nil, fmt.Errorf("connect to the runner at %s: %w", endpoint, ctx.Err())
		}
		c.Connect()
	}
	return c, nil
}
