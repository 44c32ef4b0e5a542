// Package gpu does augment's work on NVIDIA GPUs: crops, resizes, flips, turns,
// colours, normalisation, with the bytes of the CPU; and decodes JPEGs, if asked to, with
// nvJPEG, to its own.
//
//	backend, err := gpu.Open(gpu.Options{Note: func(s string) { log.Print(s) }})
//	if err != nil {
//		return err // no driver, no GPU, built without CUDA: one sentence
//	}
//	defer backend.Close()
//	for batch := range batches { // []*augment.Task: images, draws, sizes
//		if err := backend.Render(batch); err != nil {
//			return err
//		}
//		for _, task := range batch {
//			use(task.Floats, task.Err) // or Pixels, or YCbCr
//		}
//	}
//
// Batches in, batches out: a [Backend] takes images of any sizes, decoded or as JPEGs, and
// hands back pixels, planes for a JPEG encoder, or normalised floats with channels last or first.
// Several goroutines may have a batch under way each; copies of one overlap the
// kernels of another ([Options.Streams]). A batch of 16 or more is worth a GPU's while.
//
// What happens to an image is written down by package augment, as operations
// whose weights, tables and matrices the CPU's own code computed
// (internal/raster), and carried out to the letter by the kernels in
// gpu/kernels: in integers where the CPU has integers, and elsewhere in IEEE
// arithmetic that nothing contracts. What has no kernel (JPEG artefacts) or no
// room on the GPU is done on the CPU, image by image, and counted in
// [Stats]. When the GPU fails, the CPU goes on.
//
// # JPEGs
//
// A task may have an encoded image ([augment.Task.ReadJPEG]), which was walked over for damage
// first: nvJPEG forgives too much. With [Options.Decode] nvJPEG decodes it into the GPU's memory,
// and the kernels go on from there. What it is not asked for because of its header
// ([augment.Info]), what it refuses, and what lacks memory or a GPU that works, is decoded by the
// task's codec; its Decoder says who it was, and its FellBack that it should have been nvJPEG.
// Pixels are nvJPEG's, within a tolerance of the codec's; [Backend.Decoder] names all that decides
// them.
//
//	backend, err := gpu.Open(gpu.Options{Decode: true})
//	if errors.Is(err, gpu.ErrNoNVJPEG) {
//		backend, err = gpu.Open(gpu.Options{}) // tasks' codecs decode
//	}
//	…
//	task := &augment.Task{Resize: &spec, Form: augment.FloatPlanes}
//	if err := task.ReadJPEG(codec, file); err != nil { // file stays as it is until Render returned
//		return err // damaged, or not a JPEG: then give a decoded Image
//	}
//	err = backend.Render([]*augment.Task{task, …})
//
// Tasks, with the memory of their results, belong to the caller again when Render returned, and are
// best used again for other images: ReadJPEG is all that takes. Files and tasks are only read from
// while Render is under way; a Backend keeps nothing of them. Its own memory, on the GPU and
// pinned, grows to the largest batch and is given back by Close.
//
// # Builds
//
// CUDA is in programs built with the tag cuda, on Linux on amd64 with cgo (`make gpu`);
// they start without a driver, too. In all others the package is the same, and
// Open answers [ErrNotBuilt].
package gpu
