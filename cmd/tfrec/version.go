package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/build"
)

// versionResult is what `version --json` prints.
type versionResult struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // "" when the build does not know
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Decoder  string `json:"decoder"`
	Encoder  string `json:"encoder"`
	// Faster says how to get libjpeg-turbo; "" when it is in use.
	Faster string `json:"faster,omitempty"`
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupOther,
		Short:   "Say which tfrec this is and which JPEG decoder it uses",
		Long: `Say which tfrec this is, which JPEG decoder and encoder it uses, and how to get
the fast ones when they are not in use.`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := version()
			if err != nil {
				return err
			}
			if jsonFlag(cmd) {
				return printJSON(cmd, v)
			}
			revision := ""
			if v.Revision != "" {
				revision = " (" + v.Revision + ")"
			}
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "tfrec %s%s, %s, %s\n", v.Version, revision, v.Go, v.Platform)
			fmt.Fprintf(w, "JPEG decoder: %s\nJPEG encoder: %s\n", v.Decoder, v.Encoder)
			if v.Faster != "" {
				fmt.Fprintf(w, "There is a faster one: %s\n", v.Faster)
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
	switch fast, err := augment.NewCodec(augment.CodecOptions{Decoder: "turbo"}); {
	case err != nil:
		v.Faster = err.Error()
	case fast.Encoder() != v.Encoder:
		v.Faster = fast.Encoder() + " is at hand, but not used since TFREC_NO_TURBO is 1"
	}
	return v, nil
}
