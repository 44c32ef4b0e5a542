// Package cuda runs kernels on NVIDIA GPUs through gorgonia.org/cu.
//
//	device, err := cuda.Open(0) // errors.Is(err, cuda.ErrNoDriver) and so on
//	module, err := device.Load(ptx)
//	scale, err := module.Function("scale")
//
//	stream, err := device.NewStream() // this goroutine keeps its thread until Close
//	defer stream.Close()
//	host, err := stream.AllocHost(n)
//	buffer, err := stream.Alloc(n)
//	copy(host.Bytes(), data)
//	err = stream.Upload(buffer, 0, host, 0, n)
//	err = stream.Launch(scale, cuda.Dim{X: blocks}, cuda.Dim{X: 256}, buffer.At(0), cuda.Int32(3))
//	err = stream.Download(host, 0, buffer, 0, n)
//	err = stream.Synchronize() // host.Bytes() is to be looked at from here on
//
// A [Stream], with all that it makes, belongs to the goroutine that made it; a [Device], a [Module]
// and a [Function] may be used by all. Nothing of a stream is left after when it is closed, and
// nothing of a device.
//
// The package is the same in all builds. Without the tag cuda, or elsewhere than on Linux on amd64
// with cgo, Open and Survey return [ErrNotBuilt]. With it, the program still starts without a
// driver, which Open looks for.
package cuda
