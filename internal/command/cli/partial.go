package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/shard"
)

const PartialFlag = "partial"

// PartialVar adds --partial, for verbs that take sets. Their JSON then has "partial": true (see
// PrintJSON).
func PartialVar(cmd *cobra.Command, partial *bool) {
	cmd.Flags().BoolVar(partial, PartialFlag, false, "read the existing shards of a set that lacks some, or whose run has not completed, instead of refusing it")
	Group(cmd.Flags(), option.Run, PartialFlag)
}

// PartialWarning returns a function that prints which sets --partial takes in part, also with
// --quiet, because only some of their records are then read or written.
func PartialWarning(cmd *cobra.Command) func(sentence string) {
	return func(sentence string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", sentence) }
}

// WithoutRemedy takes the reader's words for Go programs off the error of a set that is
// not whole: incompleteRemedy has those for the command line.
func WithoutRemedy(err error) error {
	var part *shard.IncompleteError
	if errors.As(err, &part) {
		return part
	}
	return err
}

// incompleteRemedy returns the advice for an incomplete set; empty for other errors.
func incompleteRemedy(cmd *cobra.Command, err error) string {
	var part *shard.IncompleteError
	if !errors.As(err, &part) || part.Evidence == shard.ByRenames { // the error has the advice
		return ""
	}
	var then []string
	command := part.Command()
	switch {
	case part.Tasks:
		then = append(then, fmt.Sprintf("run the remaining tasks (tfrec convert ... --task I --tasks N), then: tfrec finalize %s", shell.Quote(part.Dir)))
	case command != "" && part.Evidence == shard.ByState:
		then = append(then, "complete it with: "+command)
	case command != "":
		then = append(then, "fetch what is missing, or complete it with: "+command)
	case part.Evidence == shard.ByState:
		then = append(then, "complete it with the tfrec convert command, or that of the verb, that wrote it: finished shards are kept")
	default:
		then = append(then, "fetch what is missing, or make the set again with the tfrec convert command that wrote it")
	}
	if cmd.Flags().Lookup(PartialFlag) != nil && !appendsTo(cmd, part.Dir) {
		then = append(then, "--partial reads the existing shards")
	}
	return strings.Join(then, "; ")
}

// appendsTo reports whether cmd is append and dir its DIR, which --partial is not for.
func appendsTo(cmd *cobra.Command, dir string) bool {
	args := cmd.Flags().Args()
	return cmd.Name() == "append" && len(args) > 0 && filepath.Clean(args[0]) == filepath.Clean(dir)
}

// CommandArgs returns the arguments of the command that runs, to be recorded in the state
// of its run; nil where one is not UTF-8, which JSON cannot hold.
func CommandArgs(cmd *cobra.Command) []string {
	args, _ := cmd.Context().Value(ArgsKey{}).([]string)
	if slices.ContainsFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }) {
		return nil
	}
	return args
}

// ArgsKey is the key of the arguments in a command's context.
type ArgsKey struct{}
