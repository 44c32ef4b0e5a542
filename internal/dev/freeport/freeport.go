// Package freeport finds ports for the servers that tests start.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// ports are those that Next returns, each once, in a random order: below the ones that systems give
// to connections, so that none of these has it before the server does.
var (
	ports = rand.Perm(20_000)
	tried atomic.Int32 // of ports
)

// Next returns a free port of 127.0.0.1.
func Next(t testing.TB) int {
	t.Helper()
	for {
		i := int(tried.Add(1)) - 1
		if i >= len(ports) {
			t.Fatal("no port is free")
		}
		port := 10_000 + ports[i]
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
}
