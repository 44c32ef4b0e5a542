package shard

// OptionError says that an option cannot be what it is, whatever the input holds: the caller's
// mistake.
type OptionError struct {
	// Field is the option: a struct and its field, such as "ImageOptions.Augment". The messages of
	// this module name options and functions as Go does; the command turns them into flags and verbs.
	Field string
	// Err says what is wrong with it.
	Err error
}

func (e *OptionError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *OptionError) Unwrap() error { return e.Err }
