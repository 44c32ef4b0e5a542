package storage

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// Environment variables with the limits for servers. They are read when a store is opened and apply
// to all stores of the process.
const (
	// MinSpeedVariable is the least speed in bytes a second, 0 for none.
	MinSpeedVariable = "TFREC_MIN_SPEED"
	// TimeoutVariable bounds the time in which a server sends or accepts nothing.
	TimeoutVariable = "TFREC_TIMEOUT"
	// HedgeVariable is when a second request is made for a range: "p95", or after a duration.
	HedgeVariable = "TFREC_HEDGE"
	// MaxRequestsVariable is the maximum number of small requests in flight to a store.
	MaxRequestsVariable = "TFREC_MAX_REQUESTS"
)

// expected holds the limits for servers.
type expected struct {
	speed   int64         // in bytes a second while a body is waited for; 0: any
	silence time.Duration // how long a server may send nothing before the request is repeated
	hedge   hedgeAfter

	requests int // MostRequests
}

// hedgeAfter specifies when to hedge a request for a range, that is, to make a second one while the
// first is unanswered. The zero value is never.
type hedgeAfter struct {
	slowest bool          // after the time that 95 in 100 answers take
	delay   time.Duration // or after a set one
}

const (
	defaultSpeed   = 1024
	defaultSilence = 30 * time.Second
	leastSilence   = time.Second

	defaultRequests = 256
	maxRequests     = 4096
)

// response returns the timeout for an answer after the whole body has been read: data in the
// system's buffers are still in transit then.
func (e *expected) response() time.Duration { return 4 * e.silence }

// finish returns the timeout for a store to assemble thousands of parts.
func (e *expected) finish() time.Duration { return 10 * e.silence }

var network atomic.Pointer[expected]

func init() { network.Store(byDefault()) }

func byDefault() *expected {
	return &expected{speed: defaultSpeed, silence: defaultSilence, requests: defaultRequests}
}

// readEnvironment sets the limits for servers from the environment.
func readEnvironment() error {
	e := byDefault()
	if s := os.Getenv(MinSpeedVariable); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%s is %q: want a number of bytes a second, or 0 for no lower bound", MinSpeedVariable, s)
		}
		e.speed = n
	}
	if s := os.Getenv(TimeoutVariable); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil || d < leastSilence {
			return fmt.Errorf("%s is %q: want a duration of at least %v, such as 30s or 2m", TimeoutVariable, s, leastSilence)
		}
		e.silence = d
	}
	switch s := os.Getenv(HedgeVariable); s {
	case "", "off":
	case "p95":
		e.hedge.slowest = true
	default:
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return fmt.Errorf("%s is %q: want p95, a duration such as 200ms, or off", HedgeVariable, s)
		}
		e.hedge.delay = d
	}
	if s := os.Getenv(MaxRequestsVariable); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxRequests {
			return fmt.Errorf("%s is %q: want a number of requests, 1 to %d", MaxRequestsVariable, s, maxRequests)
		}
		e.requests = n
	}
	network.Store(e)
	return nil
}
