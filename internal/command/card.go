package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/card"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// cardOptions are the flags of tfrec card.
type cardOptions struct {
	facts   card.Facts
	config  string
	out     string
	samples int
	tables  []string
	write   card.WriteOptions
}

// carded is the output of `tfrec card --json`.
type carded struct {
	OK    bool          `json:"ok"`
	Files []card.Result `json:"files"`
	// Missing are the facts that nobody stated.
	Missing []string `json:"missing_facts"`
}

func newCardCommand() *cobra.Command {
	var o cardOptions
	cmd := &cobra.Command{
		Use:     "card SET",
		GroupID: cli.GroupUse,
		Short:   "Write a dataset card and Croissant metadata",
		Long: `Write README.md, the dataset card of Hugging Face, croissant.json, the metadata of
MLCommons Croissant 1.1, and samples.png, a contact sheet, into the directory of a set.
An existing file with other content is kept, and is an error without --overwrite.
--check compares and writes nothing.

The card shows splits, features, labels, samples and the command that made the set, as
far as its manifest has them. License, source, description, citation, creator and URL
come from flags, or from a file of YAML (--config) with a line for each, such as
license: CC-BY-4.0. It may also have title, published (a date) and version. The same set
with the same facts has the same card.

croissant.json lists the manifest and the shards (up to 10,000) with their SHA-256. No
reader of Croissant knows TFRecords, so it describes records only if --parquet names an
export of the set in the directory of the card: programs can then load them with
mlcroissant.`,
		Example: `  tfrec card out/ --license CC-BY-4.0 --source https://example.org/photos --creator 'Example Lab'
  tfrec card out/ --config card.yaml --overwrite
  tfrec export out/ out/flowers.parquet && tfrec card out/ --parquet out/flowers.parquet
  tfrec card out/ --config card.yaml --check`,
		Annotations: map[string]string{cli.FaultsMean: "--check found a file that is missing or differs"},
		Args:        cli.ExactArgs("SET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkCard(&o); err != nil {
				return err
			}
			return runCard(cmd, args[0], o)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.facts.License, "license", "", "license: an SPDX `ID` such as CC-BY-4.0, a URL, or a name")
	fs.StringVar(&o.facts.Source, "source", "", "where the raw data come from: a URL or `TEXT`")
	fs.StringVar(&o.facts.Description, "description", "", "what the set is, as Markdown `TEXT` (default: the number of records and shards)")
	fs.StringVar(&o.facts.Citation, "citation", "", "how to cite the set: `TEXT`, such as an entry of BibTeX")
	fs.StringVar(&o.facts.Creator, "creator", "", "`NAME` of the organization that made the set")
	fs.StringVar(&o.facts.URL, "url", "", "`URL` of the page of the set")
	fs.StringVar(&o.config, "config", "", "read facts from a `FILE` of YAML; flags take precedence")
	fs.StringVar(&o.out, "out", "", "write into `DIR`, which must exist (default: the directory of the set)")
	fs.IntVar(&o.samples, "samples", 40, "show `N` images on the contact sheet; 0 for none")
	fs.StringArrayVar(&o.tables, "parquet", nil, "describe the records of an exported `FILE`; repeat it for several")
	fs.BoolVar(&o.write.Overwrite, "overwrite", false, "replace files that differ")
	fs.BoolVar(&o.write.Check, "check", false, "compare the files, and write nothing")
	return cmd
}

// checkCard checks the flags that need no files.
func checkCard(o *cardOptions) error {
	switch err := o.facts.Check(); {
	case err != nil:
		return cli.UsageError("--%v", err)
	case o.samples < 0 || o.samples > maxCardSamples:
		return cli.UsageError("--samples %d: want 0 to %d", o.samples, maxCardSamples)
	case o.write.Overwrite && o.write.Check:
		return cli.UsageError("--overwrite writes and --check does not: give one of them")
	}
	return nil
}

func runCard(cmd *cobra.Command, path string, o cardOptions) error {
	ctx := cmd.Context()
	c, dir, err := readCard(ctx, path, o)
	if err != nil {
		return err
	}
	files, err := c.Files()
	if err != nil {
		return err
	}
	results, err := card.Write(ctx, dir, files, o.write)
	if err != nil {
		return err
	}
	r := carded{OK: true, Files: results, Missing: c.Facts.Missing()}
	for _, f := range results {
		r.OK = r.OK && f.Status != card.Differs && f.Status != card.Missing
	}
	if cli.JSONFlag(cmd) {
		err = cli.PrintJSON(cmd, r)
	} else {
		err = printCard(cmd.OutOrStdout(), cli.SummaryTo(cmd), r)
	}
	if len(r.Missing) > 0 && !cli.QuietFlag(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: the card states no %s: give what is known by flags or --config\n", strings.Join(r.Missing, ", "))
	}
	if err == nil && !r.OK {
		err = cli.FaultError(errors.New("")) // all of it was printed
	}
	return err
}

// readCard reads all that the card of a set shows. It also returns the directory of the card.
func readCard(ctx context.Context, path string, o cardOptions) (c *card.Card, dir string, err error) {
	set, err := cardSet(ctx, path)
	if err != nil {
		return nil, "", err
	}
	if dir = o.out; dir == "" {
		dir = set.Dir
	}
	c = &card.Card{Manifest: set.Manifest, Facts: o.facts}
	if o.config != "" {
		if c.Facts, err = configuredFacts(ctx, o); err != nil {
			return nil, "", err
		}
	}
	if c.ManifestSHA256, c.ManifestBytes, err = card.Sum(ctx, set.Path(manifest.File)); err != nil {
		return nil, "", err
	}
	if c.Command, err = conversion.CommandOf(ctx, []string{set.Dir}); err != nil {
		return nil, "", err
	}
	for _, path := range o.tables {
		t, err := card.ReadTable(ctx, dir, path, set.Manifest)
		if err != nil {
			return nil, "", fmt.Errorf("--parquet: %w", err)
		}
		c.Tables = append(c.Tables, t)
	}
	c.Samples, err = cardSamples(ctx, set, o.samples)
	return c, dir, err
}

// cardSet returns the set at a path: a directory with a manifest, or the manifest.
func cardSet(ctx context.Context, path string) (*shard.Set, error) {
	found, err := shard.ExpandSets(ctx, []string{path}, shard.ExpandOptions{})
	if err != nil {
		return nil, err
	}
	if len(found.Sets) != 1 {
		return nil, fmt.Errorf("%s: want one set with a manifest: tfrec adopt writes one for the shards of other tools", path)
	}
	return found.Sets[0], nil
}

// maxConfiguredFacts is the longest file of facts, in bytes.
const maxConfiguredFacts = 1 << 20

// configuredFacts returns the facts of flags and of the file that --config names.
func configuredFacts(ctx context.Context, o cardOptions) (card.Facts, error) {
	data, err := storage.ReadFile(ctx, o.config, maxConfiguredFacts)
	if err != nil {
		return card.Facts{}, err
	}
	facts, err := card.ParseFacts(data)
	if err != nil {
		return card.Facts{}, fmt.Errorf("%s: %w", o.config, err)
	}
	return o.facts.Or(facts), nil
}

// printCard prints a line for each file. Those that a check found wrong are results.
func printCard(out, summary io.Writer, r carded) error {
	for _, f := range r.Files {
		w := summary
		if f.Status == card.Differs || f.Status == card.Missing {
			w = out
		}
		status := strings.ReplaceAll(string(f.Status), "_", " ")
		if _, err := fmt.Fprintf(w, "%-10s  %s\n", status, printable.String(f.Path)); err != nil {
			return err
		}
	}
	return nil
}
