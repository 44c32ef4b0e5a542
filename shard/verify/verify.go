package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options configures Files. The zero value checks the checksums of every record, and
// compares sets with their manifests and indexes.
type Options struct {
	// Partial accepts the existing shards of incomplete sets, whose missing files are faults
	// otherwise, and Note is called for each such set (see [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Workers is the number of files to read concurrently. Default: GOMAXPROCS.
	Workers int
	// Examples parses every record as a tf.train.Example. Records that are Examples according to
	// their manifest are always parsed.
	Examples bool
	// MaxFaults is the maximum number of faults to list per file; the rest are counted in
	// FileReport.FaultsOmitted. Default: 1000.
	MaxFaults int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Deep enables checks of the content of records: see DeepOptions. Default: nil, disabled.
	Deep *DeepOptions
	// Against is the path of a manifest, or of its directory: the single path given to Files is
	// then the directory of a copy, which is compared with that manifest. Default: none.
	Against string
	// LimitRate is the maximum read rate in bytes per second, over all workers. Default: 0, no
	// limit.
	LimitRate int64
	// Sample restricts the checks to some of the records. Default: the zero Sampling, all.
	Sample Sampling
	// Progress, if not nil, is updated during the run. It is not updated with Sample.
	Progress *shard.ReadProgress
}

// Report is the result of Files. Its JSON form is `tfrec verify --json`.
type Report struct {
	// OK is true if everything was read and no fault was found.
	OK bool `json:"ok"`
	// Files that were checked, in name order, including those missing from a set.
	Files []FileReport `json:"files"`
	// Records in all files, including those with a wrong data CRC.
	Records int64 `json:"records"`
	// Faults of the files in order, then of whole sets.
	Faults []shard.Fault `json:"faults"`
	// Deep has the findings in the content of records; nil if not requested.
	Deep *DeepReport `json:"deep,omitempty"`
	// Sample describes the sample; nil if everything was checked.
	Sample *SampleReport `json:"sample,omitempty"`
	// Errors describes the checks that failed to run, and why. They are not faults of the data:
	// Files also returns them.
	Errors []string `json:"errors,omitempty"`
}

// FileReport is the result for one file.
type FileReport struct {
	Path    string `json:"path"`
	Records int64  `json:"records"`
	// Bytes is the size of the file as stored.
	Bytes int64 `json:"bytes"`
	// Compression as detected: "none", "gzip", "zlib" or "zstd".
	Compression string `json:"compression"`
	// OK is true if the file has no fault, and no Finding that is a fault names one of its records.
	OK bool `json:"ok"`
	// FaultsOmitted counts faults beyond Options.MaxFaults.
	FaultsOmitted int64 `json:"faults_omitted,omitempty"`
}

// Files reads all files that paths resolve to (see [shard.Expand]) and checks:
//
//   - every record's framing and checksums; it continues after a record with wrong
//     data, but not after broken framing,
//   - the index of a file, line by line,
//   - for files in a manifest: number of records, SHA-256, compression, the index if
//     there should be one, and that Examples parse,
//   - for shards whose manifest has label counts: these counts, and that every label
//     has a name,
//   - for whole sets: missing shards, files that do not belong to the set, the
//     manifest's own sums, and TFDS's files,
//   - with Options.Deep the content of records: images, labels, schema,
//     duplicates. This is done in the same pass, by all workers even for one file.
//
// Faults in the data are not an error; they are in the Report, which is the same for any number of
// workers. An error means that a check could not be made: the Report then has the rest, and its OK
// is false.
func Files(ctx context.Context, paths []string, o Options) (*Report, error) {
	if o.MaxFaults <= 0 {
		o.MaxFaults = recordscan.MaxFaults
	}
	report := &Report{Files: []FileReport{}, Faults: []shard.Fault{}}
	found, original, err := o.expand(ctx, paths, shard.ExpandOptions{
		Partial: o.Partial, Note: o.Note,
		BadManifest: func(path string, err error) {
			report.Faults = append(report.Faults, shard.FileFault(path, tfrecord.PartParse, "%v", err))
		},
		Incomplete: func(missing *shard.IncompleteError) { report.Faults = append(report.Faults, missing.Faults()...) },
	})
	if err != nil {
		return report, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	sources := found.Sources
	v := &verification{o: &o, rate: recordscan.NewRateLimit(o.LimitRate)}
	if o.Deep != nil {
		v.deep = newDeepRun(ctx, o.Deep, sources, o.Workers, o.MaxFaults)
		defer v.deep.close()
	}
	if o.Sample.some() {
		if v.sample, err = newRecordSample(ctx, sources, &o, v.rate); err != nil {
			return report, err
		}
	} else {
		for _, source := range sources {
			o.Progress.Plan(ctx, source.Path)
		}
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	checks := make([]*fileCheck, len(sources))
	par.ForEach(running, len(sources), o.Workers, func(next func() (int, bool)) {
		r := tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: o.MaxRecord})
		defer r.Close()
		for i, ok := next(); ok; i, ok = next() {
			checks[i] = v.checkFile(running, i, sources[i], r)
			if checks[i].broke != nil {
				stop(checks[i].broke)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if err := context.Cause(running); err != nil {
		return report, err
	}
	var errs []error
	var findings []deepFindings
	for _, c := range checks {
		report.Files = append(report.Files, c.report)
		report.Records += c.report.Records
		report.Faults = append(report.Faults, c.faults...)
		findings = append(findings, c.found)
		if c.err != nil {
			errs = append(errs, c.err)
		}
	}
	if v.deep != nil {
		if report.Deep, err = v.deep.report(ctx, findings); err != nil {
			return report, err
		}
		for i := range report.Files {
			f := &report.Files[i]
			f.OK = f.OK && !report.Deep.badFiles[f.Path]
		}
	}
	if v.sample != nil {
		report.Sample = v.sample.report(report)
	}
	for _, set := range found.Sets {
		faults, err := set.Check(ctx)
		report.Faults = append(report.Faults, faults...)
		if err != nil {
			errs = append(errs, err)
		}
		if original != "" {
			faults, err = checkCopy(ctx, set, original)
			report.Faults = append(report.Faults, faults...)
			if err != nil {
				errs = append(errs, err)
			}
		}
		if set.Partial {
			continue // the other files describe the whole set
		}
		for _, check := range []func(context.Context, *shard.Set) ([]shard.Fault, error){checkTFDS, checkLabelMap} {
			faults, err := check(ctx, set)
			report.Faults = append(report.Faults, faults...)
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(report.Faults) > 0 && original == "" {
		for _, set := range found.Sets {
			replaced, err := set.Replaced(ctx)
			if err != nil {
				errs = append(errs, err)
			}
			if replaced {
				errs = append(errs, fmt.Errorf("%s was replaced while it was verified, so its faults may not be real: verify it again", set.Dir))
			}
		}
	}
	for _, err := range errs {
		report.Errors = append(report.Errors, jsontext.Readable(err.Error()))
	}
	report.OK = len(report.Faults) == 0 && len(errs) == 0 && (report.Deep == nil || !report.Deep.bad)
	return report, errors.Join(errs...)
}

// verification is the state shared by the checks of all files.
type verification struct {
	o      *Options
	rate   *recordscan.RateLimit // nil without a limit
	deep   *deepRun              // nil without deep checks
	sample *recordSample         // nil if all records are read
}
