//go:build linux && amd64 && !static

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The oldest and latest targets that kernels are assembled for.
const (
	oldestTarget = 70
	latestTarget = 121
)

var (
	// forbidden is arithmetic of floats that rounds otherwise than the CPU does.
	forbidden = regexp.MustCompile(`(?m)^.*\b(?:fma\.|mad\.[\w.]*f(?:32|64)|\w[\w.]*\.(?:ftz|approx)\b).*$`)
	targets   = regexp.MustCompile(`'sm_(\d+)'`)
	spills    = regexp.MustCompile(`[1-9]\d* bytes spill (?:stores|loads)`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
	function  = regexp.MustCompile(`(?:Compiling entry function|Function properties for) '?(\w+)`)
)

// contracted returns an error that holds the first instruction of PTX with forbidden arithmetic.
func contracted(ptx []byte) error {
	if found := forbidden.Find(ptx); found != nil {
		return fmt.Errorf("%q rounds otherwise than the CPU", bytes.TrimSpace(found))
	}
	return nil
}

// assemble runs ptxas over a file of PTX for each target that it knows. A kernel whose registers
// spill into memory is an error.
func assemble(ptxas, file string) error {
	help, err := exec.Command(ptxas, "--help").Output()
	if err != nil {
		return fmt.Errorf("no ptxas (make check-ptx fetches it): %w", err)
	}
	known := 0
	for _, m := range targets.FindAllSubmatch(help, -1) {
		var number int
		if _, err := fmt.Sscan(string(m[1]), &number); err != nil || number < oldestTarget || number > latestTarget {
			continue
		}
		known++
		said, err := exec.Command(ptxas, "-v", "-arch", "sm_"+string(m[1]), "-o", os.DevNull, file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: ptxas for sm_%d: %w\n%s", file, number, err, said)
		}
		if err := spilled(said); err != nil {
			return fmt.Errorf("%s: sm_%d: %w", file, number, err)
		}
	}
	if known == 0 {
		return errors.New("ptxas --help names no target")
	}
	return nil
}

// spilled returns an error that names the first function that spills, according to ptxas.
func spilled(said []byte) error {
	name := []byte("a function")
	for line := range bytes.Lines(said) {
		if m := function.FindSubmatch(line); m != nil {
			name = m[1]
		}
		if found := spills.Find(line); found != nil {
			return fmt.Errorf("%s: %s", name, found)
		}
	}
	return nil
}

// Of a multiprocessor of the targets that occupancy prints, and of a block of our kernels.
const (
	registerFile  = 64 << 10
	maxThreads    = 2048
	blockThreads  = 256
	registerUnits = 8 // a thread's registers are a multiple of these
)

// resident returns how many threads a multiprocessor holds that have so many registers each.
func resident(registers int) int {
	each := (registers + registerUnits - 1) / registerUnits * registerUnits
	return min(maxThreads, registerFile/(each*blockThreads)*blockThreads)
}

// occupancy writes, as a table in Markdown, the registers of each kernel in a file of PTX, and the
// threads that a multiprocessor holds, for targets that have the same multiprocessors in this.
func occupancy(w io.Writer, ptxas, file string) error {
	of := map[string][]int{}
	var names []string
	for _, target := range []string{"sm_80", "sm_90", "sm_100"} {
		said, err := exec.Command(ptxas, "-v", "-arch", target, "-o", os.DevNull, file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: ptxas for %s (make check-ptx fetches it): %w\n%s", file, target, err, said)
		}
		name := ""
		for line := range bytes.Lines(said) {
			if m := function.FindSubmatch(line); m != nil {
				name = strings.TrimPrefix(string(m[1]), "tfrec_")
			}
			if m := registers.FindSubmatch(line); m != nil {
				n, err := strconv.Atoi(string(m[1]))
				if err != nil {
					return err
				}
				if of[name] == nil {
					names = append(names, name)
				}
				of[name] = append(of[name], n)
			}
		}
	}
	slices.Sort(names)
	fmt.Fprintln(w, "| kernel | registers on sm_80, sm_90, sm_100 | threads of 2,048 |\n|---|---|---|")
	for _, name := range names {
		var threads []string
		for _, n := range of[name] {
			threads = append(threads, fmt.Sprint(resident(n)))
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, strings.Trim(fmt.Sprint(of[name]), "[]"), strings.Join(threads, " "))
	}
	return nil
}
