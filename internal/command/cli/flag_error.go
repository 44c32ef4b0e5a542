package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/spelling"
)

// FlagError returns an error that describes the problem with a flag on the command line.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		if slices.Contains(objectCacheFlags, name) {
			return UsageError("--%s: is for the build with object storage (make build-cloud)", name)
		}
		if near := NearFlag(cmd.Flags(), name, nil); near != "" {
			return UsageError("unknown flag --%s; did you mean --%s?", name, near)
		}
		return UsageError("unknown flag --%s", name)
	case errors.As(err, &unknown):
		return UsageError("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		kind, _ := pflag.UnquoteUsage(missing.GetFlag())
		return UsageError("--%s: its value is missing: want %s", missing.GetFlag().Name, kind)
	case errors.As(err, &invalid):
		return UsageError("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), FlagCause(invalid))
	}
	return UsageError("%w", err)
}

// FlagCause returns the problem with the value of a flag, without flag and value.
func FlagCause(err error) error {
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

// maxSlips is the maximum number of letters in which a misspelt flag may differ.
const maxSlips = 2

// NearFlag returns the flag that is most similar to a misspelt name, except those in skip; "" if
// none is similar.
func NearFlag(fs *pflag.FlagSet, name string, skip []string) string {
	best, least := "", maxSlips+1
	fs.VisitAll(func(f *pflag.Flag) {
		if d := spelling.Distance(f.Name, name); d < least && d < len(name) && !f.Hidden && !slices.Contains(skip, f.Name) {
			best, least = f.Name, d
		}
	})
	return best
}
