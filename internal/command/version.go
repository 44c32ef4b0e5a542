package command

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/command/cli"
)

// versionResult is the output of `version --json`.
type versionResult struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // "" when the build does not know
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Decoder  string `json:"decoder"`
	Encoder  string `json:"encoder"`
	// NoTurbo is the reason why libjpeg-turbo is not in use, and how to get it; "" when it is.
	NoTurbo string `json:"no_turbo,omitempty"`
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: cli.GroupOther,
		Short:   "Show the version and the JPEG codecs in use",
		Long: `Show the version of tfrec, the JPEG decoder and encoder in use, and how to install
libjpeg-turbo if it is missing: it is faster on processors without AVX2, and reads
arithmetic coding where that is allowed.`,
		Args:              cli.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := version()
			if err != nil {
				return err
			}
			if cli.JSONFlag(cmd) {
				return cli.PrintJSON(cmd, v)
			}
			revision := ""
			if v.Revision != "" {
				revision = " (" + v.Revision + ")"
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "tfrec %s%s, %s, %s\n", v.Version, revision, v.Go, v.Platform)
			fmt.Fprintf(w, "JPEG decoder: %s\nJPEG encoder: %s\n", v.Decoder, v.Encoder)
			if v.NoTurbo != "" {
				fmt.Fprintf(w, "Without libjpeg-turbo: %s\n", v.NoTurbo)
			}
			return nil // resultWriter keeps errors
		},
	}
}

func version() (versionResult, error) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		return versionResult{}, err
	}
	v := versionResult{
		Version:  build.Version,
		Revision: build.Revision(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Decoder:  codec.Decoder(),
		Encoder:  codec.Encoder(),
	}
	switch turbo, err := augment.NewCodec(augment.CodecOptions{Decoder: "turbo"}); {
	case err != nil:
		v.NoTurbo = err.Error()
	case os.Getenv("TFREC_NO_TURBO") == "1":
		v.NoTurbo = turbo.Decoder() + " is installed, but not used since TFREC_NO_TURBO is 1"
	}
	return v, nil
}
