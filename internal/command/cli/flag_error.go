package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	case errors.Is(err, pflag.ErrHelp): // --help-all
		return pflag.ErrHelp
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return unknownFlag(cmd, "--"+unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		if word := unknown.GetSpecifiedShortnames(); len(word) > 1 { // -resize
			return unknownFlag(cmd, "-"+oneDash(cmd.Flags(), word))
		}
		return UsageError("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		kind, _ := pflag.UnquoteUsage(missing.GetFlag())
		return UsageError("--%s: its value is missing: want %s", missing.GetFlag().Name, kind)
	case errors.As(err, &invalid):
		if f := invalid.GetFlag(); f.Shorthand != "" && cmd.Flags().Lookup(f.Shorthand+invalid.GetValue()) != nil { // -json, as -j son
			return unknownFlag(cmd, "-"+f.Shorthand+invalid.GetValue())
		}
		return UsageError("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), FlagCause(invalid))
	}
	return UsageError("%w", err)
}

// oneDash returns a name that was given with one dash, of which the first letter may have been taken for
// a short flag: "quiet" for "uiet".
func oneDash(fs *pflag.FlagSet, rest string) string {
	name := rest
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Shorthand != "" && fs.Lookup(f.Shorthand+rest) != nil {
			name = f.Shorthand + rest
		}
	})
	return name
}

// unknownFlag returns the error for a flag that the verb does not have, as it was given.
func unknownFlag(cmd *cobra.Command, given string) error {
	name := strings.TrimLeft(given, "-")
	if slices.Contains(objectCacheFlags, name) {
		return UsageError("--%s: is for the build with object storage (make build-cloud)", name)
	}
	if meant := SuggestFlag(cmd.Flags(), name); meant != "" {
		return UsageError("unknown flag %s; did you mean %s?", given, meant)
	}
	return UsageError("unknown flag %s", given)
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
