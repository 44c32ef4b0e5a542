package cuda

import (
	"bytes"
	"errors"
)

// Module is PTX that the driver compiled for the GPU. It lives as long as its
// device, and is safe for concurrent use.
type Module struct {
	device *Device
	module module
}

// Function is a kernel. Like its module it is safe for concurrent use.
type Function struct {
	name     string
	function function
}

// Load has the driver compile PTX, which takes a moment unless it did before and
// keeps the result. Errors wrap ErrOldDriver where the driver doesn't take it.
func (d *Device) Load(ptx []byte) (*Module, error) {
	if len(ptx) == 0 || bytes.IndexByte(ptx, 0) >= 0 {
		return nil, fault(nil, 0, "load kernels: this is not PTX")
	}
	m := &Module{device: d}
	err := d.do(func() (err error) {
		m.module, err = d.context.load(ptx)
		return err
	})
	var call *callError
	if errors.As(err, &call) {
		switch call.code {
		case codeUnsupportedPTX, codeInvalidPTX, codeNoBinary:
			return nil, fault(ErrOldDriver, call.code, "the NVIDIA driver, for CUDA %s, does not take the kernels of this program: %s; %s", VersionText(d.version), call, updateDriver)
		}
	}
	if err != nil {
		return nil, d.explain(err, "load kernels")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.modules = append(d.modules, m.module)
	return m, nil
}

// Function finds a kernel by the name that it has in PTX.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{name: name}
	err := m.device.do(func() (err error) {
		f.function, err = m.module.function(name)
		return err
	})
	if err != nil {
		return nil, m.device.explain(err, "find kernel "+name)
	}
	return f, nil
}
