package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
)

// helpWidth is the maximum width of the flags in the help, in columns.
const helpWidth = "100"

// helpText is the help of a command: cobra's, with the exit codes at the end.
func helpText(cmd *cobra.Command) string {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	return about + "\n\n" + cmd.UsageString() + "\nExit codes:\n" + cli.ExitHelp(cmd)
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
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped "+helpWidth))
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().Bool("json", false, "print the result as one JSON object on stdout")
	root.PersistentFlags().BoolP("quiet", "q", false, "no progress, notes or summaries: print only requested output and errors")
	cli.AddProgressFlag(root)
	cli.AddObjectCache(root)

	root.AddGroup(
		&cobra.Group{ID: cli.GroupConvert, Title: "Convert:"},
		&cobra.Group{ID: cli.GroupLook, Title: "Look:"},
		&cobra.Group{ID: cli.GroupReshape, Title: "Reshape:"},
		&cobra.Group{ID: cli.GroupRead, Title: "Read:"},
		&cobra.Group{ID: cli.GroupOther, Title: "Other:"},
	)
	root.AddCommand(
		conversion.NewCommand(e),
		conversion.NewFinalizeCommand(),
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
		conversion.NewConfigCommand(),
		newVersionCommand(),
		newCompletionCommand(),
	)
	help := newHelpCommand()
	root.SetHelpCommand(help)
	root.AddCommand(help)
	refuseUnknownVerbs(root)
	cli.CompleteFlags(root)
	cli.HandleDashes(root)
	root.InitDefaultVersionFlag()
	return root
}

// refuseUnknownVerbs makes every command that only holds others return a usage error for an unknown
// verb. The root alone, without any word, shows the first verbs to know.
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
			return cli.UnknownVerb(cmd, args[0])
		}
		if cmd.HasParent() {
			return cli.UsageError("want one of: %s", strings.Join(cli.Verbs(cmd), ", "))
		}
		_, err := io.WriteString(cmd.OutOrStdout(), cmd.Short+".\n\n"+cli.StartText(cmd.Name()))
		return err
	}
}

// newHelpCommand is cobra's help command with the usual exit code for a verb
// that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]...",
		GroupID: cli.GroupOther,
		Short:   "Show the help of a verb",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for _, word := range args {
				next := cli.ChildNamed(at, word)
				if next == nil {
					return cli.UnknownVerb(at, word)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at := cmd.Root()
			for _, word := range args {
				if at = cli.ChildNamed(at, word); at == nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
			}
			return cli.Verbs(at), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
