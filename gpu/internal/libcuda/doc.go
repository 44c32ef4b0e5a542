// Package libcuda replaces NVIDIA's driver library at link time, so that a program with CUDA in it
// starts on machines without the driver.
//
// gorgonia.org/cu, through which everything else goes, links with libcuda and calls cuInit before
// main, ending the process if that fails. This package defines every function of the driver that cu
// imports as a jump through a table (table_amd64.S), and satisfies "-lcuda" with an empty linker
// script (link/libcuda.so). The program then needs only libc. Its own cuInit succeeds; all other
// functions return CUDA_ERROR_NOT_INITIALIZED until [Load] found the driver, called its cuInit and
// filled the table. Functions that the driver does not have then return CUDA_ERROR_NOT_FOUND.
//
// Callers use package cuda. This package adds loading, pinned memory and the names of errors, which
// cu does not have. Without the tag cuda, or elsewhere than on Linux on amd64 with cgo, it is
// empty.
package libcuda
