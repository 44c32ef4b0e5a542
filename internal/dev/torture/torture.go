// Package torture is for tests that take minutes, which `make torture` runs. They are
// of three kinds. Some run the command under strace: with system calls that fail, killed
// at a system call, and traced, so that the order can be checked in which data and names
// are synced. These need Linux and strace (on Debian: apt-get install strace). Others
// draw what they do by seed; they run some seeds in any case, and many more here. The
// rest go through a long list of cases; in any case they take a random sample of it, and
// here the whole list. Samples, and what tests draw from Rand, differ from process to
// process, unless TFREC_SAMPLE_SEED or -sample-seed is given:
//
//	go test ./internal/command -run TestTorture -torture
//	go test ./reader -run 'Random|Pairs|Huge' -torture -torture-seed 5000
//	go test ./internal/codec/imagefile -run TestTIFF -sample-seed 1234
package torture

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	on    = flag.Bool("torture", false, "run the tests that take minutes, and more seeds of those that draw what they do")
	first = flag.Uint64("torture-seed", 1_000_000, "the first of these seeds")
	draw  = flag.Uint64("sample-seed", sampleSeed(), "the seed of Rand and Sample; default: TFREC_SAMPLE_SEED, or a random one")
)

// sampleSeed returns the seed that the environment names, or a random one. It panics on a value that
// is not a number.
func sampleSeed() uint64 {
	text := os.Getenv("TFREC_SAMPLE_SEED")
	if text == "" {
		return rand.Uint64()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic("TFREC_SAMPLE_SEED: " + err.Error())
	}
	return seed
}

// Rand returns the random numbers of a test. The log of the test has the flag that draws the same ones
// again.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	t.Logf("-sample-seed %d draws the same again", *draw)
	name := fnv.New64a()
	name.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(*draw, name.Sum64()))
}

// On reports whether the tests that take minutes are to run.
func On() bool { return *on }

// Seeds returns the seeds that a test runs: 0 and on, as many as usual, a quarter of these with
// -short, and with -torture as many more from -torture-seed on.
func Seeds(usual, more int) []uint64 {
	var seeds []uint64
	if !*on {
		usual = fewer(usual)
	}
	for i := range usual {
		seeds = append(seeds, uint64(i))
	}
	if *on {
		for i := range more {
			seeds = append(seeds, *first+uint64(i))
		}
	}
	return seeds
}

// fewer returns a quarter of n with -short, and at least 1.
func fewer(n int) int {
	if testing.Short() {
		return (n + 3) / 4
	}
	return n
}

// Sample returns n of the cases of a test in their order, a quarter of n with -short, and all cases
// with -torture. The log of the test has the flag that draws the same ones again.
func Sample[T any](t testing.TB, n int, cases []T) []T {
	t.Helper()
	if *on {
		return cases
	}
	if n = fewer(n); n >= len(cases) {
		return cases
	}
	t.Logf("%d of %d cases: -torture runs all", n, len(cases))
	numbers := Rand(t).Perm(len(cases))[:n]
	slices.Sort(numbers)
	sample := make([]T, n)
	for i, number := range numbers {
		sample[i] = cases[number]
	}
	return sample
}

// Need skips a test unless it is to be tortured, and the system can.
func Need(t testing.TB) {
	t.Helper()
	if !*on {
		t.Skip("give -torture to run it")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("it needs strace (on Debian: apt-get install strace)")
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, bytes.TrimSpace(out))
	}
}

// A Trace is one run of a command under strace.
type Trace struct {
	// Calls names the system calls to trace. Default: those on files.
	Calls []string
	// Inject is the fault for a call, as after the colon of strace's --inject:
	// "openat:error=EIO:when=3". Numbers count per thread. Default: nothing.
	Inject string
	// Path restricts tracing and injecting to calls on this path. Default: all.
	Path string
}

// FileCalls are the system calls that change files, their names or their times on
// disk.
var FileCalls = []string{
	"open", "openat", "creat", "write", "pwrite64", "writev", "ftruncate", "fallocate", "copy_file_range", "sendfile",
	"fsync", "fdatasync", "syncfs", "rename", "renameat", "renameat2", "link", "linkat", "symlinkat",
	"unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
}

// Run runs a command and returns what it printed, its exit code (-1 when a signal
// ended it) and the log.
func (x Trace) Run(t testing.TB, c *exec.Cmd) (output string, code int, log []byte) {
	t.Helper()
	calls := x.Calls
	if calls == nil {
		calls = FileCalls
	}
	file := filepath.Join(t.TempDir(), "strace.log")
	// Calls that a processor does not have are passed over.
	args := []string{"-f", "-y", "-s", "4096", "-o", file, "-e", "trace=?" + strings.Join(calls, ",?"), "-e", "signal=none"}
	if x.Path != "" {
		args = append(args, "-P", x.Path)
	}
	if x.Inject != "" {
		args = append(args, "-e", "inject="+x.Inject)
	}
	traced := exec.Command("strace", append(append(args, "--", c.Path), c.Args[1:]...)...)
	traced.Env, traced.Dir = c.Env, c.Dir
	var out bytes.Buffer
	traced.Stdout, traced.Stderr = &out, &out
	err := traced.Run()
	if traced.ProcessState == nil {
		t.Fatalf("strace: %v", err)
	}
	log, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(log) == 0 && x.Path == "" {
		t.Fatalf("strace logged nothing: %s", out.Bytes())
	}
	return out.String(), traced.ProcessState.ExitCode(), log
}

// Counts returns how often each thread made each of the calls, the most of any
// thread for each call.
func Counts(log []byte) map[string]int {
	perThread := map[string]int{}
	most := map[string]int{}
	for c := range parse(log) {
		key := c.thread + " " + c.name
		perThread[key]++
		most[c.name] = max(most[c.name], perThread[key])
	}
	return most
}

// Spread returns at most n numbers of 1..of: the first, the last, and some between.
func Spread(n, of int) []int {
	var numbers []int
	for i := range min(n, of) {
		numbers = append(numbers, 1+i*(of-1)/max(1, min(n, of)-1))
	}
	return numbers
}

// Injected reports whether strace had anything to inject in the run of a log.
func Injected(log []byte) bool { return bytes.Contains(log, []byte("(INJECTED)")) }

// Panicked returns the first line of a panic in the output of a Go program.
func Panicked(output string) string {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "goroutine ") {
			return fmt.Sprintf("%q", strings.TrimSpace(line))
		}
	}
	return ""
}
