package nvjpeg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
)

// The libraries that are looked for, by CUDA's major version.
const (
	oldest = 11
	newest = 13
)

// errNotInstalled means that the library does not exist.
var errNotInstalled = errors.New("not installed")

// Library is an nvJPEG library that was found. It is safe for concurrent use.
type Library struct {
	native        native
	name, version string
	backends      []Backend
	missing       []Missing
}

// Open finds an nvJPEG that works on the stream's GPU: the latest that is not for a later CUDA than
// the driver is. One that does not load, or has no backend for the GPU, is passed over. Errors wrap
// ErrAbsent, cuda.ErrOutOfMemory or cuda.ErrNotBuilt.
func Open(s *cuda.Stream) (*Library, error) {
	driver := s.Device().Driver()
	var names, why []string
	for major := min(max(driver/1000, oldest), newest); major >= oldest; major-- {
		name := fmt.Sprintf("libnvjpeg.so.%d", major)
		l, err := openLibrary(name, s)
		switch {
		case err == nil:
			return l, nil
		case errors.Is(err, errNotInstalled):
			names = append(names, name)
		case errors.Is(err, cuda.ErrOutOfMemory), errors.Is(err, cuda.ErrNotBuilt):
			return nil, err
		default:
			why = append(why, err.Error())
		}
	}
	if len(why) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrAbsent, strings.Join(why, "; "))
	}
	text := fmt.Sprintf("none of %s is installed", strings.Join(names, ", "))
	if driver/1000 < newest {
		text += fmt.Sprintf("; later ones are not for the driver, which is for CUDA %s", cuda.VersionText(driver))
	}
	return nil, fmt.Errorf("%w: %s", ErrAbsent, text)
}

// openLibrary opens one library and tries it. Errors do not wrap ErrAbsent.
func openLibrary(name string, s *cuda.Stream) (*Library, error) {
	n, err := openNative(name)
	if err != nil {
		return nil, err
	}
	v, answer := n.version()
	if answer != success {
		return nil, fmt.Errorf("%s does not report its version: %s", name, answer)
	}
	// The CUDA in nvJPEG stays loaded, and has the context in mind.
	if err := s.Device().Keep(); err != nil {
		return nil, err
	}
	l := &Library{native: n, name: name, version: v}
	d, err := l.newDecoder(s)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	l.backends, l.missing = d.Backends(), d.Missing()
	return l, nil
}

// Name returns the file that was found, such as "libnvjpeg.so.12".
func (l *Library) Name() string { return l.name }

// Version returns nvJPEG's version, such as "12.2.2".
func (l *Library) Version() string { return l.version }

// Backends returns the backends that Open found on its GPU, in the order in which they are tried.
// Missing returns the others.
func (l *Library) Backends() []Backend { return l.backends }

// Missing returns the backends that Open did not find on its GPU.
func (l *Library) Missing() []Missing { return l.missing }

// Missing is a backend that is not available.
type Missing struct {
	Backend Backend
	// Failed is false where the GPU has no such decoder, and true where it could not be made.
	Failed bool
	// Reason is nvJPEG's answer.
	Reason string
}

// String is a sentence.
func (m Missing) String() string {
	if m.Failed {
		return fmt.Sprintf("nvJPEG's backend %q does not start: %s", m.Backend, m.Reason)
	}
	return fmt.Sprintf("nvJPEG's backend %q is not for this GPU: %s", m.Backend, m.Reason)
}
