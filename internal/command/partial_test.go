package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// TestPartialWarns holds every verb with --partial to a warning on stderr for each set
// that it takes in part, also with --quiet: once, and never as a note.
func TestPartialWarns(t *testing.T) {
	dir := t.TempDir()
	set, whole := filepath.Join(dir, "set"), filepath.Join(dir, "whole")
	for _, out := range []string{set, whole} {
		runs(t, 0, "convert", "csv", filepath.Join(demo(), "penguins.csv"), out, "--name", "birds", "--shards", "3", "-q")
	}
	lost, err := filepath.Glob(filepath.Join(set, "*-00001-of-*"))
	if err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	if err := os.Remove(lost[0]); err != nil {
		t.Fatal(err)
	}
	rest := map[string][]string{ // what stands after the verb, where it is not PATH alone
		"append":          {whole, set},
		"bench":           {set, "--seconds", "0.01"},
		"dedupe":          {set, "OUT"},
		"diff":            {set, whole},
		"doctor":          {set, "--duration", "10ms", "--shuffle", "100"},
		"export":          {set, "OUT", "--format", "jsonl"},
		"features drop":   {set, "OUT", "--keys", "island"},
		"features rename": {set, "OUT", "--keys", "island=isle"},
		"features select": {set, "OUT", "--keys", "island"},
		"filter":          {set, "OUT", "--where", "exists(island)"},
		"index":           {set},
		"merge":           {set, "OUT"},
		"preview":         {set, "OUT.html"},
		"repair":          {set, "OUT"},
		"reshard":         {set, "OUT"},
		"sample":          {set, "OUT", "--count", "5"},
		"split":           {set, "OUT", "--splits", "a=0.5,b=0.5"},
		"take":            {set, "OUT", "--count", "5"},
	}
	var verbs []string
	everyFlag(func(cmd *cobra.Command, f *pflag.Flag) {
		if f.Name == cli.PartialFlag {
			verbs = append(verbs, strings.TrimPrefix(cmd.CommandPath(), "tfrec "))
		}
	})
	if len(verbs) < 10 {
		t.Fatalf("verbs with --partial: %q", verbs)
	}
	for _, verb := range verbs {
		for _, flags := range [][]string{{"--partial"}, {"--partial", "--quiet"}} {
			t.Run(verb+" "+strings.Join(flags, " "), func(t *testing.T) {
				args := slices.Concat(strings.Fields(verb), rest[verb], flags)
				if rest[verb] == nil {
					args = slices.Concat(strings.Fields(verb), []string{set}, flags)
				}
				for at, arg := range args {
					if name, ok := strings.CutPrefix(arg, "OUT"); ok {
						args[at] = filepath.Join(t.TempDir(), "out"+name)
					}
				}
				var stdout, stderr bytes.Buffer
				run(t.Context(), args, &stdout, &stderr) // index has written some, repair loses some: their codes differ
				want := "warning: " + set + ": the set is incomplete: of the 3 shards that the manifest names, 1 is missing: " + filepath.Base(lost[0]) + "; reading the shards that exist\n"
				if n := strings.Count(stderr.String(), want); n != 1 || strings.Count(stderr.String(), "reading the shards that exist") != 1 {
					t.Errorf("%q: stderr holds the warning %d times:\n%s", args, n, stderr.String())
				}
			})
		}
	}
}

// runs runs a command and wants an exit code.
func runs(t *testing.T, code int, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), args, &stdout, &stderr); got != code {
		t.Fatalf("%q: exit code %d, want %d: %s", args, got, code, stderr.String())
	}
}
