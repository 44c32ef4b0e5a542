package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/option"
)

// AddOptions adds the flags of a table.
func AddOptions(fs *pflag.FlagSet, t option.Table) {
	for i := range t {
		AddOption(fs, &t[i])
	}
}

// AddOption adds the flag of an option. Fields without a parser of their own get the default.
func AddOption(fs *pflag.FlagSet, o *option.Option) {
	addFlag(fs, o)
	place(fs.Lookup(o.Flag), o)
}

func addFlag(fs *pflag.FlagSet, o *option.Option) {
	if parse := o.Parser(); parse != nil {
		TextVar(fs, o.Flag, o.Default, o.Value, o.Help, parse, o.Words...)
		return
	}
	switch to := o.To.(type) {
	case *bool:
		if o.Not {
			fs.VarPF((*opposite)(to), o.Flag, o.Short, o.Help).NoOptDefVal = "true"
			return
		}
		fs.BoolVarP(to, o.Flag, o.Short, false, o.Help)
	case *string:
		fs.StringVarP(to, o.Flag, o.Short, o.Default, o.Help)
	case *int:
		fs.IntVarP(to, o.Flag, o.Short, int(number(o)), o.Help)
	case *int64:
		fs.Int64VarP(to, o.Flag, o.Short, number(o), o.Help)
	case *float64:
		fs.Float64VarP(to, o.Flag, o.Short, 0, o.Help)
	case *[]string:
		if o.Many == option.Joined {
			fs.StringSliceVarP(to, o.Flag, o.Short, nil, o.Help)
			return
		}
		fs.StringArrayVarP(to, o.Flag, o.Short, nil, o.Help)
	default:
		panic(fmt.Sprintf("--%s: a %T needs a Set", o.Flag, to)) // a mistake in this program
	}
	if o.Bare != "" {
		fs.Lookup(o.Flag).NoOptDefVal = o.Bare
	}
}

// number returns the default of an integer.
func number(o *option.Option) int64 {
	if o.Default == "" {
		return 0
	}
	n, err := strconv.ParseInt(o.Default, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("the default of --%s: %v", o.Flag, err)) // a mistake in this program
	}
	return n
}

// CheckOptions returns a usage error for given flags that miss a flag that they need, come together with
// a flag that they exclude, or have a value that they do not accept.
func CheckOptions(fs *pflag.FlagSet, t option.Table) error {
	for i := range t {
		o := &t[i]
		if !fs.Changed(o.Flag) {
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(o.Excludes)) {
			if f := fs.Lookup(other); f.Changed && f.Value.String() != "false" {
				return excludes(o, other)
			}
		}
		if o.Check != nil {
			if err := o.Check(); err != nil {
				return UsageError("--%s %q: %w", o.Flag, fs.Lookup(o.Flag).Value, err)
			}
		}
		for _, needed := range o.Needs {
			if !hasFlag(fs, needed) {
				return UsageError("--%s: needs --%s", o.Flag, needed)
			}
		}
	}
	return nil
}

// excludes returns the error for an option that is given together with a flag that it excludes.
func excludes(o *option.Option, other string) error {
	if why := o.Excludes[other]; why != "" {
		return UsageError("--%s and --%s: give one of them: %s", o.Flag, other, why)
	}
	return UsageError("--%s and --%s: give one of them", o.Flag, other)
}

// hasFlag reports whether a flag is given, such as "resize", or has a value, as "fit pad".
func hasFlag(fs *pflag.FlagSet, needed string) bool {
	name, value, valued := strings.Cut(needed, " ")
	f := fs.Lookup(name)
	return f.Changed && (!valued || f.Value.String() == value)
}
