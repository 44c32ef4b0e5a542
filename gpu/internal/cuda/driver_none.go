//go:build !(cuda && linux && amd64 && cgo)

package cuda

func openDriver() (driver, error) {
	return nil, fault(ErrNotBuilt, 0, "this binary was built without CUDA; on Linux on amd64, `make gpu` builds one that has it")
}
