package conversion

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// dryRun is the output of --dry-run --json.
type dryRun struct {
	*convert.Summary
	Plan outputPlan `json:"plan"`
}

// outputPlan lists the files of a set, relative to it, by the action of a run.
type outputPlan struct {
	Write  []string `json:"write"`  // shards
	Keep   []string `json:"keep"`   // shards
	Remove []string `json:"remove"` // files of the set as it is
}

// printDryRun prints the plan of a run: a summary, and the action for each shard.
func printDryRun(cmd *cobra.Command, sum *convert.Summary, out string) error {
	f := outputPlan{[]string{}, []string{}, sum.Plan.Removed}
	for _, s := range sum.Plan.Shards {
		switch {
		case sum.Task != nil && s.Task != sum.Task.Index:
		case s.Kept:
			f.Keep = append(f.Keep, s.File)
		default:
			f.Write = append(f.Write, s.File)
		}
	}
	if cli.JSONFlag(cmd) {
		return cli.PrintJSON(cmd, dryRun{sum, f})
	}
	w := cmd.OutOrStdout()
	if err := printSummary(w, sum, out); err != nil {
		return err
	}
	for _, part := range []struct {
		decision string
		files    []string
	}{{"keep", f.Keep}, {"write", f.Write}, {"remove", f.Remove}} {
		for _, name := range part.files {
			if _, err := fmt.Fprintf(w, "  %-6s  %s\n", part.decision, storage.Join(out, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// printOutputs prints the paths of a set's files, one a line or, unquoted, each followed by a NUL.
func printOutputs(w io.Writer, out string, names []string, nul bool) error {
	var b []byte
	for _, name := range names {
		if path := storage.Join(out, name); nul {
			b = append(append(b, path...), 0)
		} else {
			b = append(append(b, printable.String(path)...), '\n')
		}
	}
	write := w.Write
	if raw, ok := w.(*cli.ResultWriter); ok && nul {
		write = raw.WriteRaw
	}
	_, err := write(b)
	return err
}

// writePlan writes a plan to a file, "-" being stdout, and a word about it.
func writePlan(cmd *cobra.Command, path string, p *convert.Plan) error {
	data, err := json.MarshalIndent(struct {
		SchemaVersion int `json:"schema_version"`
		*convert.Plan
	}{cli.SchemaVersion, p}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	data = append(data, '\n')
	if path == "-" {
		_, err := cmd.OutOrStdout().Write(data)
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	if cli.JSONFlag(cmd) {
		return cli.PrintJSON(cmd, p)
	}
	var samples int64
	kept := 0
	for _, s := range p.Shards {
		samples += s.Samples
		if s.Kept {
			kept++
		}
	}
	line := fmt.Sprintf("%s: %s in %s, %d of them finished", path, plural.Of(samples, "sample"), plural.Of(len(p.Shards), "shard"), kept)
	if e := p.Estimate; e != nil {
		line += fmt.Sprintf("; about %s in %.0f s with %s, by %s", size.Format(e.Bytes), e.Seconds, plural.Of(e.Workers, "worker"), plural.Of(e.Tried, "sample"))
	}
	_, err = fmt.Fprintln(cli.SummaryTo(cmd), line)
	return err
}
