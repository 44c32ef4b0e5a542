package main

import (
	"io"
	"os"
	"os/exec"
)

// busyArg is the only argument of the processes that keep a core busy.
const busyArg = "keep-a-core-busy"

// startLoad starts n processes that keep a core busy each. stop ends them. They end as well when this
// process does, even if it is killed: each reads a pipe that then has no writer.
func startLoad(n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range n {
		c := exec.Command(self, busyArg)
		c.Env = append(os.Environ(), "GOMAXPROCS=2") // one that computes, one that reads
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, func() {
			in.Close()
			c.Wait()
		})
	}
	return stop, nil
}

// keepBusy computes until in ends.
func keepBusy(in io.Reader) {
	go func() {
		io.Copy(io.Discard, in)
		os.Exit(0)
	}()
	for i := 0; ; i++ {
	}
}
