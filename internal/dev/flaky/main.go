package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == busyArg {
		keepBusy(os.Stdin)
	}
	f := flaky{out: os.Stdout}
	flag.StringVar(&f.dir, "C", ".", "`directory` of the module")
	flag.IntVar(&f.runs, "n", 20, "`number` of runs of each package")
	flag.StringVar(&f.match, "run", ".", "run the tests that match this `regexp`")
	flag.BoolVar(&f.race, "race", true, "run under the race detector too")
	flag.DurationVar(&f.timeout, "timeout", 30*time.Minute, "end a run of a package after this `time`")
	perCore := flag.Int("load", 2, "`number` of busy processes for each core")
	flag.Uint64Var(&f.seed, "seed", uint64(time.Now().UnixNano()), "`seed` of the orders of the tests")
	flag.Parse()
	if f.runs < 1 || *perCore < 0 || f.timeout <= 0 {
		fmt.Fprintln(os.Stderr, "flaky: -n and -timeout must be above 0, -load at least 0")
		os.Exit(2)
	}
	f.load = *perCore * runtime.NumCPU()
	f.patterns = flag.Args()
	if len(f.patterns) == 0 {
		f.patterns = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := f.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
	fmt.Println("ok")
}
