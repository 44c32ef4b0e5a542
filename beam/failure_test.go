package beam

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

func TestFailuresAreASentence(t *testing.T) {
	const more = " (--beam_log error shows all that it said)"
	for _, c := range []struct{ said, want string }{
		{"no such job", "no such job"},
		{"job job-001[tf rec] failed:\nfailed to start environment go", "failed to start environment go"},
		{"job x failed:\n<no error received>", "<no error received>"},
		{"job x failed:\nbundle inst001 failed:while executing Process for Plan[1]\n\tcaused by:\nsource failed\n\tcaused by:\na.tfrecord: permission denied", "a.tfrecord: permission denied"},
		// Flink's, when a worker reports an error.
		{`job x failed:
java.lang.RuntimeException: The Runner experienced the following error during execution:
	at org.apache.beam.runners.flink.FlinkPipelineRunner.run(FlinkPipelineRunner.java:97)
	Suppressed: java.io.IOException: closed
		at java.base/java.lang.Thread.run(Thread.java:840)
	Caused by: java.io.IOException: not the cause
		... 3 more
Caused by: org.apache.flink.runtime.JobException: Recovery is suppressed by NoRestartBackoffTimeStrategy
	at org.apache.flink.Flink.fail(Flink.java:1)
Caused by: java.util.concurrent.ExecutionException: java.lang.RuntimeException: Error received from SDK harness for instruction 3: process bundle failed for instruction 3 using plan s02-1 : while executing Process for Plan[s02-1]:
	caused by:
source failed
	caused by:
a.tfrecord: permission denied
	at java.base/java.util.concurrent.CompletableFuture.reportGet(CompletableFuture.java:396)
	... 7 more`, "a.tfrecord: permission denied" + more},
		// And when it dies.
		{`job x failed:
java.lang.RuntimeException: it failed
	at a.B.c(B.java:1)
Caused by: java.lang.IllegalStateException: java.io.IOException: Process died with exit code 137
	at a.B.c(B.java:2)
	... 7 more`, "Process died with exit code 137" + more},
		{`job x failed:
org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: CANCELLED: client cancelled
	at a.B.c(B.java:1)`, "a worker died, or lost its connection (CANCELLED: client cancelled)" + more},
	} {
		if got := rootCause(c.said); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.said, got, c.want)
		}
	}
}

// TestFlagsOfDataflow compares the flags that are refused elsewhere with those that the SDK has.
func TestFlagsOfDataflow(t *testing.T) {
	for _, name := range forDataflow {
		if flag.Lookup(name) == nil || slices.Contains(leftOut, name) {
			t.Errorf("--%s: the SDK has no such flag, or it is left out", name)
		}
	}
	for name := range elsewhere {
		if flag.Lookup(name) != nil {
			t.Errorf("--%s: the SDK has this flag now", name)
		}
	}
	flag.VisitAll(func(f *flag.Flag) {
		if strings.Contains(f.Name, "worker_") && f.Name != "worker_binary" && !slices.Contains(forDataflow, f.Name) {
			t.Errorf("--%s: is new", f.Name)
		}
	})
}
