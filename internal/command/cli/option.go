package cli

import (
	"fmt"
	"strconv"

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
