package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// shells that cobra writes completions for.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: cli.GroupOther,
		Short:   "Write a completion script for a shell",
		Long: `Write a script to stdout that completes verbs, flags and values.

  bash        source <(tfrec completion bash), permanently in ~/.bashrc
  zsh         tfrec completion zsh > "${fpath[1]}/_tfrec"
  fish        tfrec completion fish > ~/.config/fish/completions/tfrec.fish
  powershell  tfrec completion powershell | Out-String | Invoke-Expression

bash needs its package bash-completion to be installed and loaded.`,
		Example:   "  source <(tfrec completion bash)",
		Args:      cli.ExactArgs("SHELL"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := shells[args[0]]
			if !ok {
				return cli.UsageError("no completion for shell %q: want bash, zsh, fish or powershell", args[0])
			}
			return write(cmd.Root(), cmd.OutOrStdout())
		},
	}
}
