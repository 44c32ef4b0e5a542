//go:build linux && amd64 && !static

// Toolkit compiles kernels to PTX with NVRTC, which needs no GPU:
//
//	go run ./gpu/toolkit [-check | -occupancy] [-nvrtc FILE] [-ptxas FILE] [-include DIR] FILE.cu...
//
// For each FILE.cu it writes FILE.ptx next to it, or with -check compares that file with what it
// would write: a version of NVRTC is deterministic. With -check it also searches the PTX for float
// arithmetic that is contracted or approximate, and assembles it with ptxas for all targets, where
// no register may spill into memory. With -occupancy it prints, of the PTX that there is, how many
// registers each kernel takes, and how many threads a multiprocessor holds.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// options determine the PTX, together with the source. compute_70 is the oldest architecture that
// the kernels run on; the driver compiles for the GPU in use. Without fmad a product and a sum are
// rounded separately, as on the CPU.
var options = []string{"--gpu-architecture=compute_70", "--fmad=false"}

func main() {
	library := flag.String("nvrtc", ".cuda/nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "the compiler's library")
	ptxas := flag.String("ptxas", ".cuda/ptxas/nvidia/cuda_nvcc/bin/ptxas", "the assembler, for -check")
	include := flag.String("include", "gpu/kernels", "where kernels find what they include")
	check := flag.Bool("check", false, "write nothing; fail where a file differs from what would be written")
	count := flag.Bool("occupancy", false, "write nothing; print the registers of kernels, and the threads that these allow")
	flag.Parse()
	if *count {
		for _, source := range flag.Args() {
			if err := occupancy(os.Stdout, *ptxas, target(source)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		return
	}
	if err := run(*library, *ptxas, *include, *check, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// target is the file of a source's PTX.
func target(source string) string { return strings.TrimSuffix(source, filepath.Ext(source)) + ".ptx" }

func run(library, ptxas, include string, check bool, sources []string) error {
	compiler, err := openCompiler(library)
	if err != nil {
		return err
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		ptx, err := compiler.compile(filepath.Base(source), text, append(options, "--include-path="+include))
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		target := target(source)
		if !check {
			if err := os.WriteFile(target, ptx, 0o644); err != nil {
				return err
			}
			continue
		}
		switch there, err := os.ReadFile(target); {
		case err != nil:
			return err
		case !bytes.Equal(there, ptx):
			return fmt.Errorf("%s is not what %s compiles to: run `make ptx` and commit what it wrote", target, source)
		}
		if err := contracted(ptx); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if err := assemble(ptxas, target); err != nil {
			return err
		}
	}
	return nil
}
