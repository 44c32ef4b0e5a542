package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	page "github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/shard/stats"
)

// sheetVar adds --sheet to a command that inspects.
func sheetVar(cmd *cobra.Command, sheet *string) {
	cli.TextVar(cmd.Flags(), "sheet", "", "FILE.png", "also write a contact sheet of a sample of the images", func(s string) error {
		if !strings.EqualFold(filepath.Ext(s), ".png") {
			return fmt.Errorf("%q: want a name that ends in .png", s)
		}
		*sheet = s
		return nil
	})
}

// writeSheet writes the contact sheet of the inspected records to the file that --sheet names.
func writeSheet(cmd *cobra.Command, sheet string, sum *stats.Summary, workers int) error {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		return err
	}
	r, err := page.WriteContacts(cmd.Context(), sum, sheet, page.Options{Codec: codec, Workers: workers})
	if err != nil {
		return fmt.Errorf("--sheet: %w", err)
	}
	if !cli.QuietFlag(cmd) {
		note := fmt.Sprintf("note: %s shows %s of %s", sheet, plural.Of(r.Images, "image"), plural.Of(r.Records, "record"))
		if r.Unreadable > 0 {
			note += fmt.Sprintf("; %d could not be shown", r.Unreadable)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	return nil
}
