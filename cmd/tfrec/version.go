package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/build"
)

// versionResult is what `version --json` prints.
type versionResult struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // "" when the build does not know
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		GroupID:           groupOther,
		Short:             "Say which tfrec this is and which JPEG decoder it uses",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionResult{
				Version:  build.Version,
				Revision: build.Revision(),
				Go:       runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH,
			}
			if jsonFlag(cmd) {
				return printJSON(cmd, v)
			}
			revision := ""
			if v.Revision != "" {
				revision = " (" + v.Revision + ")"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "tfrec %s%s, %s, %s\n", v.Version, revision, v.Go, v.Platform)
			return err
		},
	}
}
