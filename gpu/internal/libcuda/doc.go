// Package libcuda stands in for NVIDIA's driver library, so that a program with
// CUDA in it starts on machines that have none.
//
// gorgonia.org/cu, through which everything else goes, asks the linker for libcuda and calls cuInit
// before main, ending the process where that fails. This package defines every function of the
// driver that cu imports as a jump through a table (table_amd64.S), and satisfies "-lcuda" with an
// empty linker script (link/libcuda.so). The program then needs only libc. Its own cuInit succeeds;
// all other functions return CUDA_ERROR_NOT_INITIALIZED until [Load] found the driver, called its
// cuInit and filled the table. Functions that the driver lacks then return CUDA_ERROR_NOT_FOUND.
//
// Package cuda is for callers; this one has what cu lacks: loading, pinned memory
// and the names of errors. Without the tag cuda, or elsewhere than on Linux on
// amd64 with cgo, it is empty.
package libcuda
