//go:build !race

package reshape

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// The race detector uses memory of its own, which is not measured here.

// peakMemory runs a shuffle in a separate process and returns its peak memory, in bytes.
func peakMemory(t *testing.T, in string, memory int64) int64 {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestShufflesForPeakMemory$")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "RESHAPE_IN="+in, fmt.Sprintf("RESHAPE_MEMORY=%d", memory))
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

// TestShufflesForPeakMemory runs in the process that peakMemory starts.
func TestShufflesForPeakMemory(t *testing.T) {
	in := os.Getenv("RESHAPE_IN")
	if in == "" {
		t.Skip("it is run by other tests")
	}
	var o ReshardOptions
	_, err := fmt.Sscan(os.Getenv("RESHAPE_MEMORY"), &o.Memory)
	settest.Check(t, err)
	if o.Memory > 0 {
		o.Shuffle = true
	} else {
		o.Memory = 0
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
	base := peakMemory(t, few, mb)
	small := records("small", 120_000, func(int) int { return 500 })
	large := records("large", 20_000, func(i int) int {
		if i == 10_000 {
			return 80 * mb
		}
		return 100
	})
	for _, test := range []struct {
		name   string
		in     string
		memory int64
		most   int64 // more than a run with one record
	}{
		{"small records, external", small, 16 * mb, 32 * mb},
		{"a large record", large, 16 * mb, 2*80*mb + 32*mb},
		{"a large record, not shuffled", large, 0, 80*mb + 32*mb},
	} {
		if got := peakMemory(t, test.in, test.memory) - base; got > test.most {
			t.Errorf("%s: %d MB; want %d MB or less", test.name, got/mb, test.most/mb)
		} else {
			t.Logf("%s: %d MB beyond the %d MB of a run of one record", test.name, got/mb, base/mb)
		}
	}
}
