package command

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// verifyCommand has the flags of `verify`.
type verifyCommand struct {
	o     verify.Options
	looks verify.DeepOptions
	deep  bool
	codec augment.CodecOptions
	list  string // file for the findings
}

func newVerifyCommand() *cobra.Command {
	c := new(verifyCommand)
	cmd := &cobra.Command{
		Use:     "verify PATH...",
		GroupID: cli.GroupCheck,
		Short:   "Check every record, and sets against their manifests",
		Long: `Check every record's checksums and list all faults, each with its file, record
number and offset. It works on any TFRecord file, event files included.

A set with a manifest is checked against it: record count and SHA-256 of each
shard, indexes, missing shards, extra files, whether records are Examples as the
manifest says, the record count of each label, and TFDS's files. --against checks
the directory of a copy against the manifest of the original.

--deep also checks the contents of records, in the same pass: every image decodes
and has the declared height, width, channels and format; labels are in the
vocabulary and match their texts; features have one kind and length and are never
missing; boxes are within the image and masks of its size; duplicate records and
images, and those in several splits (leaks), are listed. --near also finds images that look alike: resized, encoded again, or a
little brighter; not cropped, rotated or mirrored. Leaks are faults (exit code 3);
other duplicates are warnings, which do not change the exit code. docs/verify.md
lists all findings.

--sample checks some records of every shard, for a quick answer, and says what it
did not check. --limit-rate keeps a shared disk usable for others.`,
		Example: `  tfrec verify out/
  tfrec verify --deep --near out/
  tfrec verify --deep --sample 1% --limit-rate 50MB 'data/*.tfrecord'
  tfrec verify --against original/manifest.json copy/
  tfrec verify --json out/ | jq '.faults[]'`,
		Annotations: map[string]string{cli.ReadsStdin: "", cli.FaultsMean: "the data have faults"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd, args); err != nil {
				return err
			}
			return c.run(cmd, args)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.o.Examples, "examples", false, "parse every record as a tf.train.Example")
	cli.MaxRecordVar(fs, &c.o.MaxRecord)
	cli.WorkersVar(fs, &c.o.Workers, "read files and decode images, `N` at a time")
	fs.IntVar(&c.o.MaxFaults, "max-faults", 1000, "list at most `N` faults of each file, and count the others")
	fs.StringVar(&c.o.Against, "against", "", "PATH is the directory of a copy: compare it with `ORIGINAL`, a manifest or the directory that has it")
	cli.TextVar(fs, "limit-rate", "", "SIZE", "read at most this many bytes per second, such as 50MB, over all workers", func(s string) (err error) {
		if c.o.LimitRate, err = size.Parse(s); err == nil && c.o.LimitRate < 1 {
			err = fmt.Errorf("%q: want a size above 0", s)
		}
		return err
	})
	cli.TextVar(fs, "sample", "", "N|P", "check N records in total, or a share such as 1% or 0.01, evenly over the files", func(s string) error {
		return parseSample(s, &c.o.Sample)
	})
	cli.SeedVar(fs, &c.o.Sample.Seed, "seed of --sample")
	fs.BoolVar(&c.deep, "deep", false, "check the contents of records: images, labels, features, duplicates")
	fs.BoolVar(&c.looks.Near, "near", false, "--deep, and find images that look alike")
	fs.IntVar(&c.looks.NearDistance, "near-distance", 31, "images look alike if their 256-bit hashes differ in at most `N` bits; 47 at most")
	fs.IntVar(&c.looks.MaxFindings, "max-findings", 10_000, "list at most `N` duplicates, and as many leaks, and count the others")
	cli.TextVar(fs, "memory", "64MiB", "SIZE", "memory for hashes of records; beyond it, a temporary file is used", func(s string) (err error) {
		c.looks.Memory, err = size.Parse(s)
		return err
	})
	fs.Int64Var(&c.codec.MaxPixels, "max-pixels", augment.DefaultMaxPixels, "do not decode images of more than `N` pixels")
	cli.DecoderVar(fs, &c.codec.Decoder)
	fs.BoolVar(&c.codec.AllowArithmetic, "allow-arithmetic", false, "also decode arithmetic-coded JPEGs, with libjpeg-turbo; their damage goes unnoticed")
	fs.StringVar(&c.list, "report", "", "also list the findings of --deep in `FILE`: a JSON object per line")
	cli.PartialVar(cmd, &c.o.Partial)
	cli.Group(fs, option.Run, "max-faults", "max-findings", "near-distance", "allow-arithmetic")
	cli.Group(fs, option.Machine, "limit-rate", "memory", "max-pixels")
	return cmd
}

// parseSample reads a number of records, or a share of them.
func parseSample(s string, to *verify.Sampling) (err error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		to.Records, to.Share = n, 0
		return nil
	}
	if to.Share, err = shares.ParseShare(s); err == nil && to.Share <= 0 {
		err = fmt.Errorf("%q: want a number of records, or a share such as 1%% or 0.01", s)
	}
	to.Records = 0
	return err
}

// deepFlags are of use with --deep alone.
var deepFlags = []string{"near-distance", "max-findings", "memory", "max-pixels", "decoder", "allow-arithmetic", "report"}

func (c *verifyCommand) check(cmd *cobra.Command, args []string) error {
	changed := cmd.Flags().Changed
	c.deep = c.deep || c.looks.Near
	switch {
	case c.o.Workers < 1:
		return cli.UsageError("--workers %d: want 1 or more", c.o.Workers)
	case c.o.MaxFaults < 1:
		return cli.UsageError("--max-faults %d: want 1 or more", c.o.MaxFaults)
	case c.looks.MaxFindings < 1:
		return cli.UsageError("--max-findings %d: want 1 or more", c.looks.MaxFindings)
	case c.looks.NearDistance < 1 || c.looks.NearDistance > verify.MaxNearDistance:
		return cli.UsageError("--near-distance %d: want 1 to %d", c.looks.NearDistance, verify.MaxNearDistance)
	case changed("memory") && c.looks.Memory < 1e6:
		return cli.UsageError("--memory: %d bytes are too few: want 1MB or more", c.looks.Memory)
	case c.codec.MaxPixels < 1:
		return cli.UsageError("--max-pixels %d: want 1 or more", c.codec.MaxPixels)
	case changed("against") && len(args) != 1:
		return cli.UsageError("--against: want one PATH, the directory of the copy")
	case changed("seed") && !changed("sample"):
		return cli.UsageError("--seed: give --sample, too")
	case changed("near-distance") && !c.looks.Near:
		return cli.UsageError("--near-distance: give --near, too")
	}
	for _, name := range deepFlags {
		if changed(name) && !c.deep {
			return cli.UsageError("--%s: give --deep, too", name)
		}
	}
	return nil
}

func (c *verifyCommand) run(cmd *cobra.Command, args []string) error {
	if c.deep {
		codec, err := augment.NewCodec(c.codec)
		if err != nil {
			return err
		}
		c.looks.Decode = imageDecoder(codec)
		c.o.Deep = &c.looks
	}
	var list *cli.LinesFile
	if c.list != "" {
		if err := cli.CheckReport(cmd.Context(), c.list, args); err != nil {
			return err
		}
		var err error
		if list, err = cli.NewLinesFile(c.list); err != nil { // now, not after hours of reading
			return fmt.Errorf("--report: %w", err)
		}
		defer list.Discard()
	}
	c.o.Progress, c.o.Note = new(shard.ReadProgress), cli.PartialWarning(cmd)
	stop := func() {}
	if !cmd.Flags().Changed("sample") { // of which nothing is planned
		stop = cli.ShowProgress(cmd, cli.ReadGauge(c.o.Progress))
	}
	report, err := verify.Files(cmd.Context(), args, c.o)
	stop()
	if cmd.Context().Err() != nil || err != nil && len(report.Files) == 0 {
		return err
	}
	readableReport(report)
	if list != nil {
		err = errors.Join(err, writeFindings(list, report.Deep))
	}
	if cli.JSONFlag(cmd) {
		report.Faults = append(report.Faults, recordFaults(report.Deep)...)
		err = errors.Join(err, cli.PrintJSON(cmd, report))
	} else {
		text.PrintReport(cmd.OutOrStdout(), cli.SummaryTo(cmd), report)
		if remedy := remedyOf(report.Faults); remedy != "" && !cli.QuietFlag(cmd) {
			cli.NotesTo(cmd.ErrOrStderr())(remedy)
		}
	}
	if err == nil && !report.OK {
		err = cli.FaultError(errors.New("")) // all of it was printed
	}
	return err
}

// remedyOf names the verb that mends the faults of files; "" if none does.
func remedyOf(faults []shard.Fault) string {
	index := false
	for _, f := range faults {
		if f.Kind != "" {
			continue // it has no records
		}
		switch f.Part {
		case tfrecord.PartLength, tfrecord.PartLengthCRC, tfrecord.PartData, tfrecord.PartDataCRC, tfrecord.PartCompression:
			return "tfrec repair PATH OUT saves the intact records"
		case tfrecord.PartIndex:
			index = true
		}
	}
	if index {
		return "tfrec index --force PATH writes new indexes"
	}
	return ""
}

// recordFaults returns the findings that are faults of one record by itself, so that scripts find
// all such faults in one list.
func recordFaults(r *verify.DeepReport) (faults []shard.Fault) {
	if r == nil {
		return nil
	}
	for _, f := range r.Findings {
		if f.Severity != verify.SeverityFault || f.Record < 0 || f.Other != nil {
			continue
		}
		message := f.Message
		if f.Feature != "" {
			message = f.Feature + ": " + message
		}
		faults = append(faults, shard.Fault{Path: f.Path, Record: f.Record, Offset: f.Offset, Part: tfrecord.PartParse, Message: message})
	}
	return faults
}

// writeFindings lists all findings in a file.
func writeFindings(w *cli.LinesFile, r *verify.DeepReport) error {
	if r != nil {
		for i := range r.Findings {
			if err := w.Add(&r.Findings[i]); err != nil {
				return err
			}
		}
	}
	return w.Place()
}

// readableReport makes paths fit for JSON.
func readableReport(r *verify.Report) {
	for i := range r.Files {
		r.Files[i].Path = jsontext.Readable(r.Files[i].Path)
	}
	text.ReadableFaults(r.Faults)
	if r.Deep == nil {
		return
	}
	for i := range r.Deep.Findings {
		f := &r.Deep.Findings[i]
		f.Path = jsontext.Readable(f.Path)
		if f.Other != nil {
			f.Other.Path = jsontext.Readable(f.Other.Path)
		}
	}
	for i := range r.Deep.Labels {
		r.Deep.Labels[i].Path = jsontext.Readable(r.Deep.Labels[i].Path)
	}
}
