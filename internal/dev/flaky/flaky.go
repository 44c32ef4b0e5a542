package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/shell"
)

// flaky runs the tests of a module's packages.
type flaky struct {
	dir      string   // of the module
	patterns []string // of packages
	match    string   // regular expression of tests
	runs     int      // of each package
	race     bool     // also under the race detector
	load     int      // busy processes
	timeout  time.Duration
	seed     uint64
	out      io.Writer
}

// pkg is a package with tests.
type pkg struct {
	path string
	dir  string
}

// way is one way to run tests.
type way struct {
	race  bool
	procs int // GOMAXPROCS
}

// ways take turns. The first two differ in both respects.
var ways = []way{{false, 1}, {true, 4}, {false, 4}, {true, 1}}

// failure is a test that failed.
type failure struct {
	pkg, test string
	times, of int
	command   string   // that runs it as the first time it failed
	outputs   []string // paths
}

// run runs the tests, and reports whether none failed.
func (f *flaky) run(ctx context.Context) (ok bool, err error) {
	packages, err := f.list(ctx)
	if err != nil {
		return false, err
	}
	if f.race && !f.haveCompiler(ctx) {
		fmt.Fprintln(f.out, "no C compiler: nothing runs under the race detector")
		f.race = false
	}
	bin, err := os.MkdirTemp("", "tfrec-flaky-bin")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(bin)
	kept, err := os.MkdirTemp("", "tfrec-flaky")
	if err != nil {
		return false, err
	}
	defer os.Remove(kept) // unless there are outputs
	fmt.Fprintf(f.out, "seed %d, %d busy processes\n", f.seed, f.load)
	var failures []*failure
	for _, p := range packages {
		var found []*failure
		if found, err = f.test(ctx, p, bin, kept); err != nil {
			err = fmt.Errorf("%s: %w", p.path, err)
		}
		failures = append(failures, found...)
		if err != nil {
			break
		}
	}
	for _, fl := range failures {
		fmt.Fprintf(f.out, "\n%s %s: failed %d of %d times\n\t%s\n", fl.pkg, fl.test, fl.times, fl.of, fl.command)
		for _, path := range fl.outputs {
			fmt.Fprintf(f.out, "\t%s\n", path)
		}
	}
	return len(failures) == 0, err
}

// list returns the packages that match and have tests.
func (f *flaky) list(ctx context.Context) (packages []pkg, err error) {
	out, err := f.goCommand(ctx, append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"}, f.patterns...)...)
	for line := range strings.Lines(out) {
		path, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		packages = append(packages, pkg{path, dir})
	}
	if err == nil && len(packages) == 0 {
		err = fmt.Errorf("no package with tests matches %s", strings.Join(f.patterns, " "))
	}
	return packages, err
}

// haveCompiler reports whether cgo, and so the race detector, has its compiler.
func (f *flaky) haveCompiler(ctx context.Context) bool {
	out, err := f.goCommand(ctx, "env", "CC")
	fields := strings.Fields(out)
	if err != nil || len(fields) == 0 {
		return false
	}
	_, err = exec.LookPath(fields[0])
	return err == nil
}

// goCommand returns the output of a go command in the module.
func (f *flaky) goCommand(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = f.dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	return string(out), err
}

// test runs the tests of a package, prints a line about them, and returns those that failed.
func (f *flaky) test(ctx context.Context, p pkg, bin, kept string) (failures []*failure, err error) {
	binary := map[bool]string{} // by whether it has the race detector
	for _, race := range []bool{false, true} {
		if race && (!f.race || f.runs < 2) {
			break
		}
		binary[race] = filepath.Join(bin, fmt.Sprintf("race-%t.test", race))
		defer os.Remove(binary[race])
		if err := f.build(ctx, p, race, binary[race]); err != nil {
			return nil, err
		}
	}
	stop, err := startLoad(f.load)
	if err != nil {
		return nil, err
	}
	defer stop()
	began, done, failed := time.Now(), 0, 0
	byName := map[string]*failure{}
	for i := range f.runs {
		w := ways[i%len(ways)]
		w.race = w.race && f.race
		run := testRun{pkg: p, way: w, binary: binary[w.race], match: f.match, timeout: f.timeout, seed: rand.New(rand.NewPCG(f.seed, uint64(i))).Int64()}
		run.output = filepath.Join(kept, fmt.Sprintf("%s-%d.txt", strings.NewReplacer("/", "_", "\\", "_").Replace(p.path), i+1))
		tests, none, err := run.do(ctx)
		if err != nil {
			return values(byName, done), err
		}
		if none {
			return nil, nil
		}
		done++
		if len(tests) > 0 {
			failed++
		}
		for _, name := range tests {
			fl := byName[name]
			if fl == nil {
				fl = &failure{pkg: p.path, test: name, command: run.again()}
				byName[name] = fl
			}
			fl.times++
			fl.outputs = append(fl.outputs, run.output)
		}
	}
	failures = values(byName, done)
	fmt.Fprintf(f.out, "%s: %d of %d runs failed, %v\n", p.path, failed, done, time.Since(began).Round(time.Second/10))
	return failures, nil
}

// values returns the failures of a package after some runs, the most frequent first.
func values(byName map[string]*failure, runs int) (failures []*failure) {
	for _, fl := range byName {
		fl.of = runs
		failures = append(failures, fl)
	}
	slices.SortFunc(failures, func(a, b *failure) int { return cmp.Or(b.times-a.times, strings.Compare(a.test, b.test)) })
	return failures
}

// build builds the tests of a package.
func (f *flaky) build(ctx context.Context, p pkg, race bool, path string) error {
	args := []string{"test", "-c", "-vet=off", "-o", path}
	if race {
		args = append(args, "-race")
	}
	_, err := f.goCommand(ctx, append(args, p.path)...)
	return err
}

// testRun is one run of a package's tests.
type testRun struct {
	pkg
	way
	binary  string
	match   string
	timeout time.Duration
	seed    int64  // of the tests' order
	output  string // path of the file that gets the output, kept if a test failed
}

// grace is the time for a test binary to end and print its goroutines after its own timeout.
const grace = time.Minute

// do runs the tests, and returns the names of those that failed. none reports that no test matches.
func (r *testRun) do(ctx context.Context) (failed []string, none bool, err error) {
	file, err := os.Create(r.output)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		file.Close()
		if len(failed) == 0 {
			os.Remove(r.output)
		}
	}()
	limited, cancel := context.WithTimeout(ctx, r.timeout+grace)
	defer cancel()
	c := exec.CommandContext(limited, r.binary, r.args()...)
	c.Dir, c.Stdout, c.Stderr = r.dir, file, file
	c.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", r.procs))
	if os.Getenv("GORACE") == "" {
		c.Env = append(c.Env, "GORACE=atexit_sleep_ms=100") // a second otherwise
	}
	err = c.Run()
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	ended := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &ended) {
		return nil, false, err
	}
	output, readErr := os.ReadFile(r.output)
	if readErr != nil {
		return nil, false, readErr
	}
	if err == nil {
		return nil, bytes.Contains(output, []byte("testing: warning: no tests to run\n")), nil
	}
	events, err := toJSON(output)
	if err != nil {
		return nil, false, err
	}
	failed, text, err := failedTests(events)
	if err != nil {
		return nil, false, err
	}
	text = fmt.Sprintf("%s\n%s%v\n", r.again(), text, ended)
	return failed, false, os.WriteFile(r.output, []byte(text), 0o644)
}

// args are the arguments of the test binary.
func (r *testRun) args() []string {
	args := []string{
		"-test.v=test2json", "-test.paniconexit0", "-test.run=" + r.match,
		fmt.Sprintf("-test.shuffle=%d", r.seed), fmt.Sprintf("-test.timeout=%v", r.timeout),
	}
	if r.race {
		args = append(args, "-test.short")
	}
	return args
}

// again returns the command that runs the tests in the same way once more, in the directory of the
// package. All of them run, since those before a test may have a part in its failure.
func (r *testRun) again() string {
	args := []string{"test", "-count=1", "-run", r.match, "-shuffle", fmt.Sprint(r.seed), "-timeout", r.timeout.String()}
	if r.race {
		args = append(args, "-race", "-short")
	}
	return fmt.Sprintf("cd %s && GOMAXPROCS=%d %s", shell.Quote(r.dir), r.procs, shell.Join("go", args))
}

// toJSON turns the output of a test binary into events, one a line.
func toJSON(output []byte) ([]byte, error) {
	c := exec.Command("go", "tool", "test2json")
	c.Stdin = bytes.NewReader(output)
	events, err := c.Output()
	if err != nil {
		err = fmt.Errorf("go tool test2json: %w", err)
	}
	return events, err
}

// noTest is the name of what fails outside of tests.
const noTest = "(no test)"

// failedTests returns the names of the tests that failed according to the events of a run that
// failed, and its output as text. Of tests with subtests it names the subtests. If no test failed, as
// after a crash or a timeout, it returns those that were running.
func failedTests(events []byte) (failed []string, text string, err error) {
	var b strings.Builder
	running := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(events)); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, "", fmt.Errorf("go tool test2json: %w", err)
		}
		b.WriteString(e.Output)
		if e.Test == "" {
			continue
		}
		switch e.Action {
		case "run", "cont":
			running[e.Test] = true
		case "pause", "pass", "skip":
			delete(running, e.Test)
		case "fail":
			delete(running, e.Test)
			failed = append(failed, e.Test)
		}
	}
	if len(failed) == 0 {
		for name := range running {
			failed = append(failed, name)
		}
	}
	failed = leaves(failed)
	if len(failed) == 0 {
		failed = []string{noTest}
	}
	return failed, b.String(), nil
}

// leaves returns the names of tests that have no subtest among them, sorted.
func leaves(names []string) (ends []string) {
	for _, name := range names {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name+"/") }) {
			ends = append(ends, name)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}
