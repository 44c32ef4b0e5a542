// Package fakecuda is for tests: it reports whether the NVIDIA driver of this process is the fake
// one in lib, injects faults into it and counts its allocations.
//
// The fake is a libcuda.so.1 that the loader finds if LD_LIBRARY_PATH names its directory; `make
// gpu-test` builds it and sets that. Its GPU is the processor, which runs the real kernels,
// compiled by g++, one thread after another. It is stricter than any GPU, so that occasional faults
// always occur here:
//
//   - queued work is not done before a wait for it;
//   - copies that don't wait need pinned memory;
//   - fresh memory holds 0xA5, and ends where a page begins that can't be touched;
//   - a thread without the context can't do a thing, and a failed kernel ends the context;
//   - the flags of a context are set before it is made, and waits that would keep a processor busy
//     are counted.
//
// Variables of the environment, read at each call, make it fail:
//
//	FAKECUDA_DEVICES     the number of GPUs: 1
//	FAKECUDA_MEMORY      the bytes of each: 1 GiB
//	FAKECUDA_DRIVER      the driver's version: 12020; PTX of later ones is rejected
//	FAKECUDA_CAPABILITY  the compute capability, times ten: 90
//	FAKECUDA_HARDWARE    0 if the chip has no JPEG decoder
//	FAKECUDA_ACTIVE      the flags of the primary context, which another library has made
//	FAKECUDA_MIG         1 if the GPUs are slices of others (MIG)
//	FAKECUDA_POOLS       0 if nvJPEG does not know memory pools
//	FAKECUDA_FAIL        FUNCTION:N:CODE, several separated by commas: after it is set, the
//	                     N-th call (with N+ it and all later ones) returns CODE. The function kernel is
//	                     a kernel that runs, rather than its launch; pictureBatched and picture are an
//	                     image that nvJPEG decodes in a batch or alone: it is skipped, without an error.
//	FAKECUDA_MEET        the number of streams that must have work queued at the same time before the first wait
//	                     for an event returns; if they have not within a minute, the GPU fails
//	FAKECUDA_TINT        a number added to the luma of every image that the fake nvJPEG decodes
//
// With it comes a fake libnvjpeg.so.12, which really decodes baseline and progressive images, to
// the samples of libjpeg and our own decoder. It decodes when the stream is waited for, from the
// current bytes at the image's address, into memory that must be the GPU's. It rejects objects that
// are used for two images at once, and formats with planes that an image does not have. Which of
// its backends accepts an image is arbitrary, so that each is the only one for something.
// FAKECUDA_FAIL knows its functions, too.
package fakecuda
