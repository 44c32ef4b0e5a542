package command

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/topic"
)

// newHelpCommand replaces cobra's: it shows topics, too, and an unknown verb is wrong usage.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB... | TOPIC]",
		GroupID: cli.GroupOther,
		Short:   "Show the help of a verb, or explain a topic",
		Long:    "Show the help of a verb, or explain a topic: " + strings.Join(topic.Names(), ", ") + ".",
		Example: `  tfrec help convert images
  tfrec help labels`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if t, ok := topic.Find(args[0]); ok {
					out := cmd.OutOrStdout()
					_, err := io.WriteString(out, cli.TopicText(t, cli.Width(out)))
					return err
				}
			}
			at := cmd.Root()
			for _, word := range args {
				next := cli.ChildNamed(at, word)
				if next == nil {
					return cli.UnknownHelp(at, args)
				}
				at = next
			}
			return at.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at := cmd.Root()
			for _, word := range args {
				if at = cli.ChildNamed(at, word); at == nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
			}
			words := cli.Verbs(at)
			if len(args) == 0 {
				words = append(words, topic.Names()...)
			}
			slices.Sort(words)
			return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
