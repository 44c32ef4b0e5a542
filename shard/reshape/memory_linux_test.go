//go:build !race

package reshape

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/tfrecord"
)

// The race detector uses memory of its own, which is not measured here.

// peakMemory reshards in a separate process, in the given order, and returns its peak memory, in bytes.
func peakMemory(t *testing.T, in, order string, memory int64) int64 {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReshardsForPeakMemory$")
	// The garbage collector ends before anything else goes on: how much is allocated meanwhile depends
	// on what else the machine does.
	cmd.Env = append(os.Environ(), "GODEBUG=gcstoptheworld=2", "GOMAXPROCS=2", "RESHAPE_IN="+in, "RESHAPE_ORDER="+order, fmt.Sprintf("RESHAPE_MEMORY=%d", memory))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, after, _ := strings.Cut(string(out), "VmHWM:") // not what wait says, which counts its parent in
	var kb int64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return kb << 10
}

// TestReshardsForPeakMemory runs in the process that peakMemory starts.
func TestReshardsForPeakMemory(t *testing.T) {
	in := os.Getenv("RESHAPE_IN")
	if in == "" {
		t.Skip("it is run by other tests")
	}
	var o ReshardOptions
	_, err := fmt.Sscan(os.Getenv("RESHAPE_MEMORY"), &o.Memory)
	settest.Check(t, err)
	switch os.Getenv("RESHAPE_ORDER") {
	case "shuffled":
		o.Shuffle = true
	case "sorted":
		o.SortBy = "id"
	}
	_, err = Reshard(context.Background(), []string{in}, filepath.Join(t.TempDir(), "out"), o)
	settest.Check(t, err)
	status, err := os.ReadFile("/proc/self/status")
	settest.Check(t, err)
	os.Stdout.Write(status)
}

func TestPeakMemory(t *testing.T) {
	const mb = 1 << 20
	dir := t.TempDir()
	records := func(name string, n int, size func(i int) int) string {
		return settest.ExampleFile(t, filepath.Join(dir, name), n, func(i int, b *tfrecord.Builder) {
			b.Int64("id", int64(i))
			b.Bytes("data", make([]byte, size(i)))
		})
	}
	few := records("few", 1, func(int) int { return 1 })
	base := peakMemory(t, few, "shuffled", mb)
	small := sync.OnceValue(func() string { return records("small", 120_000, func(int) int { return 500 }) })
	large := sync.OnceValue(func() string {
		return records("large", 20_000, func(i int) int {
			if i == 10_000 {
				return 80 * mb
			}
			return 100
		})
	})
	type run struct {
		name   string
		in     func() string
		order  string
		memory int64
		most   int64 // more than a run with one record
	}
	for _, test := range torture.Sample(t, 2, []run{
		{"small records", small, "shuffled", 16 * mb, 32 * mb},
		{"small records", small, "sorted", 16 * mb, 32 * mb},
		{"a large record", large, "shuffled", 16 * mb, 2*80*mb + 32*mb},
		{"a large record", large, "sorted", 16 * mb, 2*80*mb + 32*mb},
		{"a large record", large, "unchanged", 0, 80*mb + 32*mb},
	}) {
		if got := peakMemory(t, test.in(), test.order, test.memory) - base; got > test.most {
			t.Errorf("%s, %s: %d MB; want %d MB or less", test.name, test.order, got/mb, test.most/mb)
		} else {
			t.Logf("%s, %s: %d MB beyond the %d MB of a run of one record", test.name, test.order, got/mb, base/mb)
		}
	}
}
