package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
)

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
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(cli.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().Bool("json", false, "print the result as one JSON object on stdout")
	root.PersistentFlags().BoolP("quiet", "q", false, "no progress, notes or summaries: print only requested output and errors")
	cli.AddProgressFlag(root)
	cli.AddObjectCache(root)
	cli.HandleHelp(root)

	root.AddGroup(
		&cobra.Group{ID: cli.GroupMake, Title: "Make:"},
		&cobra.Group{ID: cli.GroupLook, Title: "Look:"},
		&cobra.Group{ID: cli.GroupCheck, Title: "Check:"},
		&cobra.Group{ID: cli.GroupChange, Title: "Change:"},
		&cobra.Group{ID: cli.GroupUse, Title: "Use:"},
		&cobra.Group{ID: cli.GroupOther, Title: "Other:"},
	)
	root.AddCommand(
		conversion.NewCommand(e),
		conversion.NewInitCommand(),
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
		newCardCommand(),
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
// verb. The root alone, without any word, shows the first verbs to know, by task.
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
		out := cmd.OutOrStdout()
		_, err := io.WriteString(out, cmd.Short+".\n\n"+cli.StartText(cmd.Name(), cli.Width(out)))
		return err
	}
}
