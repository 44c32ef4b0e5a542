package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/view/emit"
	"github.com/tfrec/tfrec/shard/stats"
)

// emitted is the output of `inspect --emit --json`.
type emitted struct {
	Emit    emit.Target `json:"emit"`
	Program string      `json:"program"`
	// Left are the features that the program leaves out.
	Left []leftOut `json:"left_out"`
}

type leftOut struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// addEmitFlag adds --emit, whose value becomes target.
func addEmitFlag(cmd *cobra.Command, target *emit.Target) {
	cli.TextVar(cmd.Flags(), "emit", "", "tf|tfds|torch|go", "print a program that reads these records instead: with TensorFlow's tf.data, TensorFlow Datasets, PyTorch, or package reader", func(s string) (err error) {
		*target, err = emit.ParseTarget(s)
		return err
	}, string(emit.TF), string(emit.TFDS), string(emit.Torch), string(emit.Go))
}

// printProgram prints the program for the files of paths, which sum describes.
func printProgram(cmd *cobra.Command, target emit.Target, paths []string, sum *stats.Summary) error {
	d, err := emit.Describe(cmd.Context(), paths, sum)
	if err != nil {
		return err
	}
	program, err := emit.Program(target, d)
	if err != nil {
		return err
	}
	left := []leftOut{}
	for _, l := range d.Left {
		left = append(left, leftOut{jsontext.Readable(l.Key), l.Why})
		if !cli.QuietFlag(cmd) {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: the program leaves out %s: %s\n", printable.String(l.Key), l.Why)
		}
	}
	if cli.JSONFlag(cmd) {
		return cli.PrintJSON(cmd, emitted{target, string(program), left})
	}
	_, err = cmd.OutOrStdout().Write(program)
	return err
}
