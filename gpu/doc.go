// Package gpu will run augment's resizes and colour operations on CUDA with
// the same bytes as the CPU.
//
// Nothing lives here yet; every picture goes through package augment.
package gpu
