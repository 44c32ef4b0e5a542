package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/shard"
)

const partialFlag = "partial"

// partialVar adds --partial, for verbs that take sets. Their JSON then says
// "partial": true (see printJSON).
func partialVar(cmd *cobra.Command, partial *bool) {
	cmd.Flags().BoolVar(partial, partialFlag, false, "take what is there of a set that lacks shards, or whose run has not completed, instead of refusing it")
}

// partialNote prints what is taken in part.
func partialNote(cmd *cobra.Command) func(sentence string) {
	if quietFlag(cmd) {
		return nil
	}
	return func(sentence string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", sentence) }
}

// incompleteRemedy says what to do about a set that is not whole; empty for other
// errors.
func incompleteRemedy(cmd *cobra.Command, err error) string {
	var part *shard.IncompleteError
	if !errors.As(err, &part) || part.Evidence == shard.ByRenames { // which says it itself
		return ""
	}
	var then []string
	command := part.Command()
	switch {
	case part.Tasks:
		then = append(then, fmt.Sprintf("run the tasks that are left (tfrec convert ... --task I --tasks N), then: tfrec finalize %s", shell.Quote(part.Dir)))
	case command != "" && part.Evidence == shard.ByState:
		then = append(then, "complete it with: "+command)
	case command != "":
		then = append(then, "fetch what is missing, or make it whole with: "+command)
	case part.Evidence == shard.ByState:
		then = append(then, "complete it with the same tfrec convert command, or that of the verb that wrote it: what is finished is kept")
	default:
		then = append(then, "fetch what is missing, or make the set again with the tfrec convert command that wrote it")
	}
	if cmd.Flags().Lookup(partialFlag) != nil {
		then = append(then, "--partial takes what is there")
	}
	return strings.Join(then, "; ")
}

// commandArgs returns the arguments of the command that runs, to be recorded in the state
// of its run; nil where one is not UTF-8, which JSON cannot hold.
func commandArgs(cmd *cobra.Command) []string {
	args, _ := cmd.Context().Value(argsKey{}).([]string)
	if slices.ContainsFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }) {
		return nil
	}
	return args
}

// argsKey is the key of the arguments in a command's context.
type argsKey struct{}
