package source

import (
	"fmt"
	"runtime"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
)

const (
	LeastMemory   = 1e6 // minimum of Options.Memory
	defaultMemory = 256 << 20
)

// Options are the options by which inputs are opened and read.
type Options struct {
	// Expand finds the files that a path stands for.
	Expand shard.ExpandOptions
	// Workers is the number of goroutines that read, check and scan records. Default: GOMAXPROCS.
	Workers int
	// Memory bounds what is held of records that are sorted or counted, in bytes. Minimum: 1 MB.
	// Default: 256 MiB.
	Memory int64
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Progress, if not nil, counts the records that are read.
	Progress *Progress
}

// Check returns an error if an option is out of range.
func (o Options) Check() error {
	if o.Memory != 0 && o.Memory < LeastMemory {
		return OptionError(optname.OptionsMemory, "%d bytes are too few: want 1MB or more", o.Memory)
	}
	if o.Workers < 0 {
		return OptionError(optname.OptionsWorkers, "%d is negative", o.Workers)
	}
	if o.MaxRecord < 0 {
		return OptionError(optname.OptionsMaxRecord, "%d is negative", o.MaxRecord)
	}
	return nil
}

// complete returns the options with defaults in place of zeros, but for MaxRecord.
func (o Options) complete() Options {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// OptionError returns an error about an option, either a struct field or a function argument.
func OptionError(option optname.Name, format string, args ...any) error {
	return &shard.OptionError{Field: option.String(), Err: fmt.Errorf(format, args...)}
}
