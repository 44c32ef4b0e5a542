package storage

import (
	"fmt"
	"io"
	"time"
)

// SpeedWindow is the time that a body may be too slow before its request is repeated. Tests change
// it before the first request.
var SpeedWindow = 30 * time.Second

// pace measures the speed of one body, in windows of SpeedWindow. Only the time that is spent
// waiting for the network counts.
type pace struct {
	least  int64 // bytes a second; 0: any speed is fine
	waited time.Duration
	bytes  int64
}

func newPace() pace { return pace{least: network.Load().speed} }

// moved counts bytes that took some time. It returns a *slowError at the end of a window that had
// too few of them.
func (p *pace) moved(n int, took time.Duration) error {
	p.waited += took
	p.bytes += int64(n)
	if p.waited < SpeedWindow {
		return nil
	}
	slow := float64(p.bytes) < float64(p.least)*p.waited.Seconds()
	p.waited, p.bytes = 0, 0
	if slow {
		return &slowError{p.least}
	}
	return nil
}

// slowError means that a body was sent or received too slowly.
type slowError struct{ least int64 }

func (e *slowError) Error() string {
	return fmt.Sprintf("slower than %d bytes a second for %v (%s sets the bound)", e.least, SpeedWindow, MinSpeedVariable)
}

// drain fills p from a body, and closes it. It calls alive before each read.
func drain(body io.ReadCloser, p []byte, alive func()) (n int, err error) {
	defer body.Close()
	speed := newPace()
	for err == nil && n < len(p) {
		var got int
		alive()
		began := time.Now()
		got, err = body.Read(p[n:])
		n += got
		if slow := speed.moved(got, time.Since(began)); err == nil && n < len(p) {
			err = slow
		}
	}
	return n, err
}
