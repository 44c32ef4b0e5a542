package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/spelling"
)

// flagError says what is wrong with a flag on the command line.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		if slices.Contains(objectCacheFlags, name) {
			return usageError("--%s: is for the build with object storage (make build-cloud)", name)
		}
		if near := nearFlag(cmd.Flags(), name, nil); near != "" {
			return usageError("unknown flag --%s; did you mean --%s?", name, near)
		}
		return usageError("unknown flag --%s", name)
	case errors.As(err, &unknown):
		return usageError("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		kind, _ := pflag.UnquoteUsage(missing.GetFlag())
		return usageError("--%s: its value is missing: want %s", missing.GetFlag().Name, kind)
	case errors.As(err, &invalid):
		return usageError("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), flagCause(invalid))
	}
	return usageError("%w", err)
}

// flagCause says what is wrong with the value of a flag, without flag and value.
func flagCause(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case !errors.As(err, &invalid):
		return err
	case !errors.As(err, &number):
		return invalid.Unwrap()
	}
	want := "a whole number"
	switch invalid.GetFlag().Value.Type() {
	case "bool":
		want = "true or false"
	case "float64":
		want = "a number"
	}
	if errors.Is(number, strconv.ErrRange) {
		want += " that is not so large"
	}
	return fmt.Errorf("want %s", want)
}

// maxSlips is how many letters a misspelt flag may differ in.
const maxSlips = 2

// nearFlag returns the flag, not among those to skip, that a misspelt name may stand
// for; "" where none is near.
func nearFlag(fs *pflag.FlagSet, name string, skip []string) string {
	best, least := "", maxSlips+1
	fs.VisitAll(func(f *pflag.Flag) {
		if d := spelling.Distance(f.Name, name); d < least && d < len(name) && !f.Hidden && !slices.Contains(skip, f.Name) {
			best, least = f.Name, d
		}
	})
	return best
}
