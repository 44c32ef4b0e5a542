package beam

import (
	"os"

	_ "github.com/tfrec/tfrec/cloud" // workers read and write URLs, too
	"github.com/tfrec/tfrec/internal/command"
)

// Main runs the command with the process's arguments, and returns the exit code. In
// a process that a runner has started as a worker, it is that worker; with --worker_pool, it starts
// workers.
func Main() int {
	command.NameFlags() // also of workers, whose reasons are in the ledger
	if address, is := poolAddress(os.Args[1:]); is {
		return runPool(address)
	}
	if startedByRunner(os.Args[1:]) {
		return serve(os.Args[1:])
	}
	return command.MainWith(engine())
}

// engine returns the engine for conversions and reshard.
func engine() *command.Engine {
	return &command.Engine{Name: "tfrec-beam", Flags: addFlags, Check: checkFlags, Make: makeShards, Reshard: reshard}
}
