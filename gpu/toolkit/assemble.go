//go:build linux && amd64 && !static

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
