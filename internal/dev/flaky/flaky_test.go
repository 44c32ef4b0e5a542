package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == busyArg {
		keepBusy(os.Stdin)
	}
	os.Exit(m.Run())
}

// inModule returns a run over packages of testdata/module, and what it prints.
func inModule(t *testing.T, patterns ...string) (*flaky, *strings.Builder) {
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	return &flaky{dir: "testdata/module", patterns: patterns, match: ".", runs: 4, timeout: time.Hour, seed: 1, out: &out}, &out
}

func TestFailuresAreListed(t *testing.T) {
	f, out := inModule(t, "./...")
	f.patterns = []string{"./bad", "./crash", "./good", "./other"}
	f.load = 1
	ok, err := f.run(t.Context())
	if ok || err != nil {
		t.Error(ok, err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		line = regexp.MustCompile(`[0-9.]+m?s$`).ReplaceAllString(strings.TrimSuffix(line, "\n"), "TIME")
		if path, ok := strings.CutPrefix(line, "\t"); ok && strings.HasSuffix(path, ".txt") {
			output, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(output), "exit status") || !strings.Contains(string(output), "GOMAXPROCS=") {
				t.Errorf("%s has %q", path, output)
			}
			line = "\tOUTPUT"
		}
		lines = append(lines, regexp.MustCompile(`shuffle [0-9]+ .*`).ReplaceAllString(regexp.MustCompile(`cd \S*/testdata`).ReplaceAllString(line, "cd testdata"), "shuffle SEED"))
	}
	if want := strings.Split(wanted, "\n"); !slices.Equal(lines, want[1:]) {
		t.Errorf("got\n%s\nwant%s", strings.Join(lines, "\n"), wanted)
	}
}

const wanted = `
seed 1, 1 busy processes
example.com/module/bad: 4 of 4 runs failed, TIME
example.com/module/crash: 4 of 4 runs failed, TIME
example.com/module/good: 0 of 4 runs failed, TIME

example.com/module/bad TestNever: failed 4 of 4 times
	cd testdata/module/bad && GOMAXPROCS=1 go test -count=1 -run . -shuffle SEED
	OUTPUT
	OUTPUT
	OUTPUT
	OUTPUT

example.com/module/bad TestBad/four: failed 2 of 4 times
	cd testdata/module/bad && GOMAXPROCS=4 go test -count=1 -run . -shuffle SEED
	OUTPUT
	OUTPUT

example.com/module/crash TestCrash: failed 4 of 4 times
	cd testdata/module/crash && GOMAXPROCS=1 go test -count=1 -run . -shuffle SEED
	OUTPUT
	OUTPUT
	OUTPUT
	OUTPUT`

func TestNoFailuresLeaveNothing(t *testing.T) {
	f, _ := inModule(t, "./good", "./other")
	if ok, err := f.run(t.Context()); !ok || err != nil {
		t.Error(ok, err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

func TestHangingTestsAreEnded(t *testing.T) {
	f, out := inModule(t, "./hang")
	f.runs, f.timeout = 1, time.Second
	if ok, err := f.run(t.Context()); ok || err != nil {
		t.Error(ok, err)
	}
	// The time may be over before the test begins.
	if !regexp.MustCompile(`(?m)/hang (TestHang(/on)?|\(no test\)): failed 1 of 1 times$`).MatchString(out.String()) {
		t.Errorf("%s", out)
	}
}

func TestInterruption(t *testing.T) {
	f, _ := inModule(t, "./hang")
	ctx, cancel := context.WithCancel(t.Context())
	f.load = 1
	time.AfterFunc(500*time.Millisecond, cancel) // in any phase
	if ok, err := f.run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(ok, err)
	}
}

func TestErrors(t *testing.T) {
	for _, pattern := range []string{"./missing", "./nothing/..."} {
		f, _ := inModule(t, pattern)
		if ok, err := f.run(t.Context()); ok || err == nil {
			t.Error(pattern, ok, err)
		}
	}
}

func TestFailedTests(t *testing.T) {
	for _, c := range []struct {
		name, events string
		failed       []string
	}{
		{"a subtest", `{"Action":"run","Test":"A"}{"Action":"run","Test":"A/b"}{"Action":"fail","Test":"A/b"}{"Action":"fail","Test":"A"}`, []string{"A/b"}},
		{"a subtest and another of its name's beginning", `{"Action":"fail","Test":"A/b"}{"Action":"fail","Test":"A"}{"Action":"fail","Test":"AB"}`, []string{"A/b", "AB"}},
		{"paused tests do not run", `{"Action":"run","Test":"A"}{"Action":"pause","Test":"A"}{"Action":"run","Test":"B"}{"Action":"fail"}`, []string{"B"}},
		{"one that goes on does", `{"Action":"run","Test":"A"}{"Action":"pause","Test":"A"}{"Action":"cont","Test":"A"}`, []string{"A"}},
		{"none runs", `{"Action":"run","Test":"A"}{"Action":"pass","Test":"A"}{"Action":"fail"}`, []string{noTest}},
	} {
		failed, _, err := failedTests([]byte(c.events))
		if err != nil || !slices.Equal(failed, c.failed) {
			t.Errorf("%s: %q, %v", c.name, failed, err)
		}
	}
}
