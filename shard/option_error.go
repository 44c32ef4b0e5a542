package shard

// OptionError reports an invalid option: a mistake of the caller, independent of the input.
type OptionError struct {
	// Field is a struct and its field, such as "AugmentSpec.Policy", or a function and its
	// argument, such as "reshape.DropFeatures.keys".
	Field string
	// Err says what is wrong.
	Err error
}

func (e *OptionError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *OptionError) Unwrap() error { return e.Err }
