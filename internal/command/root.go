package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/plural"
)

// The groups of verbs in the help.
const (
	groupConvert = "convert"
	groupLook    = "look"
	groupReshape = "reshape"
	groupRead    = "read"
	groupOther   = "other"
)

// helpWidth is how many columns the flags in the help take at most.
const helpWidth = "100"

// helpText is the help of a command: cobra's, with the exit codes at the end.
func helpText(cmd *cobra.Command) string {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	return about + "\n\n" + cmd.UsageString() + "\nExit codes:\n" + exitHelp(cmd)
}

// newRootCommand makes the command; an engine carries out its conversions unless it
// is nil.
func newRootCommand(e *Engine) *cobra.Command {
	root := &cobra.Command{
		Use:   "tfrec",
		Short: "Raw data into sharded TFRecords, and back",
		Long: `tfrec converts raw data to sharded, CRC-checked TFRecords that TensorFlow, TFDS,
DALI and PyTorch loaders read, and inspects, verifies and reshapes them.

Results go to stdout, everything else to stderr. Inputs named PATH are a
TFRecord file, a glob, a directory of shards, or a manifest.json; cat, inspect
and verify take - for one file on stdin. Sizes are printed in powers of 1024:
KiB, MiB, GiB; as values of flags, 64MiB and 64MB are both understood.`,
		Version:       build.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if e != nil {
		root.Use = e.Name
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		io.WriteString(cmd.OutOrStdout(), helpText(cmd)) // resultWriter keeps the error
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped "+helpWidth))
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().Bool("json", false, "print the result as one JSON object on stdout")
	root.PersistentFlags().BoolP("quiet", "q", false, "no progress, notes or summaries: print only requested output and errors")
	addObjectCache(root)

	root.AddGroup(
		&cobra.Group{ID: groupConvert, Title: "Convert:"},
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupReshape, Title: "Reshape:"},
		&cobra.Group{ID: groupRead, Title: "Read:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	root.AddCommand(
		newConvertCommand(e),
		newFinalizeCommand(),
		newAugmentCommand(),
		newInspectCommand(),
		newStatsCommand(),
		newPreviewCommand(),
		newVerifyCommand(),
		newIndexCommand(),
		newDiffCommand(),
		newRepairCommand(),
		newAdoptCommand(),
		newReshardCommand(e),
		newMergeCommand(),
		newSampleCommand(),
		newTakeCommand(),
		newSplitCommand(),
		newFilterCommand(),
		newDedupeCommand(),
		newFeaturesCommand(),
		newAppendCommand(),
		newCatCommand(),
		newExportCommand(),
		newBenchCommand(),
		newDoctorCommand(),
		newCleanCommand(),
		newGPUCommand(),
		newConfigCommand(),
		newVersionCommand(),
		newCompletionCommand(),
	)
	help := newHelpCommand()
	root.SetHelpCommand(help)
	root.AddCommand(help)
	refuseUnknownVerbs(root)
	completeFlags(root)
	handleDashes(root)
	root.InitDefaultVersionFlag()
	return root
}

// refuseUnknownVerbs makes every command that only holds others answer a word
// that it does not know with a usage error. The root alone, without any word,
// shows the first verbs to know.
func refuseUnknownVerbs(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		refuseUnknownVerbs(c)
	}
	if cmd.Runnable() || !cmd.HasSubCommands() {
		return
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(cmd, args[0])
		}
		if cmd.HasParent() {
			return usageError("want one of: %s", strings.Join(verbs(cmd), ", "))
		}
		_, err := io.WriteString(cmd.OutOrStdout(), cmd.Short+".\n\n"+startText(cmd.Name()))
		return err
	}
}

// newHelpCommand is cobra's help command with the usual exit code for a verb
// that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]...",
		GroupID: groupOther,
		Short:   "Show the help of a verb",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for _, word := range args {
				next := childNamed(at, word)
				if next == nil {
					return unknownVerb(at, word)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at := cmd.Root()
			for _, word := range args {
				if at = childNamed(at, word); at == nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
			}
			return verbs(at), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func childNamed(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// exactArgs wants one argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(args) > len(names) {
			return usageError("%s too many: %q; want %s", plural.Of(len(args)-len(names), "argument"), args[len(names)], wanted(names))
		}
		return usageError("%s missing; want %s", strings.Join(names[len(args):], " and "), wanted(names))
	}
}

// minArgs wants an argument for each name, and any number more. A name that
// ends in ... is the one that repeats.
func minArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) >= len(names) {
			return nil
		}
		missing := strings.ReplaceAll(strings.Join(names[len(args):], " and "), "...", "")
		return usageError("%s missing; want %s", missing, wanted(names))
	}
}

// noArgs wants no argument.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("unexpected argument %q", args[0])
	}
	return nil
}

func wanted(names []string) string { return strings.Join(names, " ") }
