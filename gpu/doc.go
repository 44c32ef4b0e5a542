// Package gpu executes augment's tasks on NVIDIA GPUs: crops, resizes, flips, rotations, colours
// and normalisation, with the same bytes as the CPU. On request it decodes JPEGs with nvJPEG.
//
//	backend, err := gpu.Open(gpu.Options{Note: func(s string) { log.Print(s) }})
//	if err != nil {
//		return err // no driver, no GPU, or built without CUDA
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
// A [Backend] takes batches of images of any sizes, decoded or as JPEGs, and returns pixels, planes
// for a JPEG encoder, or normalised floats with channels last or first. It is safe for concurrent
// use: copies of one batch overlap the kernels of another ([Options.Streams]). A batch of 16 or
// more is worthwhile.
//
// Package augment compiles a task to operations whose weights, tables and matrices the CPU's own
// code computed (internal/codec/raster), and the kernels in gpu/kernels execute them exactly: in integers
// where the CPU uses integers, otherwise in IEEE arithmetic without contraction. Tasks without a
// kernel (JPEG artefacts) and tasks that do not fit into GPU memory are executed on the CPU, image
// by image, and counted in [Stats]. If the GPU fails, the CPU takes over.
//
// # JPEGs
//
// A task may contain an encoded image ([augment.Task.ReadJPEG]), which is searched for damage
// first, because nvJPEG is too tolerant. With [Options.Decode] nvJPEG decodes it into the GPU's
// memory, where the kernels continue. The task's codec decodes images whose header rules nvJPEG out
// ([augment.Info]), images that nvJPEG rejects, and all others while memory or a working GPU is
// missing. The task's Decoder names the decoder that was used, and FellBack reports whether nvJPEG
// should have decoded it. Pixels of nvJPEG are within a tolerance of the codec's; [Backend.Decoder]
// names everything that they depend on.
//
//	backend, err := gpu.Open(gpu.Options{Decode: true})
//	if errors.Is(err, gpu.ErrNoNVJPEG) {
//		backend, err = gpu.Open(gpu.Options{}) // tasks' codecs decode
//	}
//	…
//	task := &augment.Task{Resize: &spec, Form: augment.FloatPlanes}
//	if err := task.ReadJPEG(codec, file); err != nil { // file must not change until Render returns
//		return err // damaged, or not a JPEG: then give a decoded Image
//	}
//	err = backend.Render([]*augment.Task{task, …})
//
// Tasks and the memory of their results belong to the caller again when Render returns, and are
// best reused for other images with ReadJPEG. A Backend keeps nothing of tasks and files. Its own
// memory, on the GPU and pinned, grows to the largest batch and is freed by Close.
//
// # Training
//
// ImageSpec.Backend of package reader has a Backend make the batches that a training job reads, in
// page-locked memory ([Backend.AllocHost]), which a framework copies to a GPU without waiting.
//
// # Builds
//
// CUDA is in programs built with the tag cuda, on Linux on amd64 with cgo (`make gpu`); they also
// start without a driver. In all others the package has the same API, and Open returns
// [ErrNotBuilt].
package gpu
