package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/tfrec/tfrec/internal/plural"
)

// The groups of verbs in the help, by task.
const (
	GroupMake   = "make"
	GroupLook   = "look"
	GroupCheck  = "check"
	GroupChange = "change"
	GroupUse    = "use"
	GroupOther  = "other"
)

// ChildNamed returns the command of a name below cmd; nil if there is none.
func ChildNamed(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// ExactArgs wants one argument for each name.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(args) > len(names) {
			return UsageError("%s too many: %q; want %s", plural.Of(len(args)-len(names), "argument"), args[len(names)], wanted(names))
		}
		return UsageError("%s missing; want %s", strings.Join(names[len(args):], " and "), wanted(names))
	}
}

// MinArgs wants an argument for each name, and any number more. A name that
// ends in ... is the one that repeats.
func MinArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) >= len(names) {
			return nil
		}
		missing := strings.ReplaceAll(strings.Join(names[len(args):], " and "), "...", "")
		return UsageError("%s missing; want %s", missing, wanted(names))
	}
}

// NoArgs wants no argument.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError("unexpected argument %q", args[0])
	}
	return nil
}

func wanted(names []string) string { return strings.Join(names, " ") }
