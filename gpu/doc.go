// Package gpu does augment's work on NVIDIA GPUs: crops, resizes, flips, turns,
// colours, normalisation, with the bytes of the CPU.
//
//	backend, err := gpu.Open(gpu.Options{Note: func(s string) { log.Print(s) }})
//	if err != nil {
//		return err // no driver, no GPU, built without CUDA: one sentence
//	}
//	defer backend.Close()
//	for batch := range batches { // []*augment.Task: decoded pictures, draws, sizes
//		if err := backend.Render(batch); err != nil {
//			return err
//		}
//		for _, task := range batch {
//			use(task.Floats, task.Err) // or Pixels, or YCbCr
//		}
//	}
//
// Batches in, batches out: a [Backend] takes decoded pictures of any sizes and
// hands back pixels, planes for a JPEG encoder, or normalised floats with channels last or first.
// Several goroutines may have a batch under way each; copies of one overlap the
// kernels of another ([Options.Streams]). A batch of 16 or more is worth a GPU's while.
//
// What happens to a picture is written down by package augment, as operations
// whose weights, tables and matrices the CPU's own code computed
// ([augment.Task.Lower]), and carried out to the letter by the kernels in
// gpu/kernels: in integers where the CPU has integers, and elsewhere in IEEE
// arithmetic that nothing contracts. What has no kernel (JPEG artefacts) or no
// room on the GPU is done on the CPU, picture by picture, and counted in
// [Stats]. When the GPU fails, the CPU goes on.
//
// CUDA is in programs built with the tag cuda, on Linux on amd64 with cgo (`make gpu`);
// they start without a driver, too. In all others the package is the same, and
// Open answers [ErrNotBuilt].
package gpu
