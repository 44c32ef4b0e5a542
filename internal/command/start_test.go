package command

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every command, such as version, waits for the initialisation of all packages. None of ours does
// much there: what most commands need not, such as a template, is made when it is used. The number
// of allocations stands for the time, and is the same on a busy machine.
func TestStartIsCheap(t *testing.T) {
	const most, mostOfAll = 1000, 6000 // allocations of a package, and of all together
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "version")
	c.Env = append(os.Environ(), actAsTfrec+"=1", "GODEBUG=inittrace=1")
	var trace strings.Builder
	c.Stderr = &trace
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, trace.String())
	}
	inits := regexp.MustCompile(`(?m)^init (\S+) .* (\d+) allocs$`).FindAllStringSubmatch(trace.String(), -1)
	if len(inits) < 20 {
		t.Fatalf("no trace of initialisation: %s", trace.String())
	}
	total := 0
	for _, m := range inits {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(m[1], "internal/command") || strings.HasPrefix(m[1], "testing") {
			continue // also of tests
		}
		total += n
		if strings.HasPrefix(m[1], "github.com/tfrec/") && n > most {
			t.Errorf("package %s makes %d allocations at the start of each command, want at most %d", m[1], n, most)
		}
	}
	if total > mostOfAll {
		t.Errorf("%d allocations at the start of each command, want at most %d", total, mostOfAll)
	}
	t.Logf("%d allocations in %d packages", total, len(inits))
}
