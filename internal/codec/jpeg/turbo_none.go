//go:build !((linux || darwin) && (amd64 || arm64) && !android && !ios && !static)

package jpeg

import "errors"

// turbo is absent from this build.
type turbo struct{ decoder }

func (*turbo) append(dst []byte, _ Pixels, _ int, _ Subsampling) ([]byte, error) {
	return dst, errNoTurbo
}

func (*turbo) appendPlanes(dst []byte, _ *Planar, _ int) ([]byte, error) { return dst, errNoTurbo }

// errNoTurbo is the answer of static builds, and of all builds on other platforms.
var errNoTurbo = errors.New("this build of tfrec loads no libraries")

// getTurbo does not advise to install the library: this build would not load it.
const getTurbo = "a tfrec built from source with `go install` or `make install` loads it, on Linux and macOS"

func loadTurbo() (*turbo, error) { return nil, errNoTurbo }

// warning is an error after which libjpeg continued and gave pixels.
type warning struct{ error }
