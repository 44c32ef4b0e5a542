package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// VerifyOptions says how much Verify does. The zero value checks every
// record's checksums, and sets against their manifests and indexes.
type VerifyOptions struct {
	// Partial takes what is there of sets that are not whole, whose missing files are faults
	// otherwise, and Note is told of each (see [ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Workers is how many files are read at a time. Default: GOMAXPROCS.
	Workers int
	// Examples parses every record as a tf.train.Example. Records of sets whose
	// manifest says that they are Examples are parsed in any case.
	Examples bool
	// MaxFaults is how many faults of one file are listed; the others are
	// counted in FileReport.FaultsOmitted. Default: 1000.
	MaxFaults int
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64
	// Deep looks into the records as well: see DeepOptions. Default: nil, not.
	Deep *DeepOptions
	// Against is the path of a manifest, or of the directory that has it: the one
	// path that Verify is given is then the directory of a copy, all of which is held
	// to that manifest. Default: none.
	Against string
	// LimitRate is how many bytes a second are read, over all workers. Default:
	// 0, no limit.
	LimitRate int64
	// Sample has only some records looked at. Default: the zero Sample, all.
	Sample Sampling
	// Progress is counted up while the run goes on, if it is not nil. With Sample
	// it is left alone.
	Progress *shard.ReadProgress
}

// Report is what Verify found. Its JSON form is `tfrec verify --json`.
type Report struct {
	// OK says that everything was read and nothing is wrong.
	OK bool `json:"ok"`
	// Files that were checked, in name order; those missing from a set too.
	Files []FileReport `json:"files"`
	// Records in all files, those with a wrong data CRC included.
	Records int64 `json:"records"`
	// Faults of the files in their order, then those of whole sets.
	Faults []shard.Fault `json:"faults"`
	// Deep is what was found in the records; nil when that was not asked for.
	Deep *DeepReport `json:"deep,omitempty"`
	// Sample says what was looked at, and what was not, where that is not all.
	Sample *SampleReport `json:"sample,omitempty"`
	// Errors say what could not be checked, and why. They are no faults of the
	// data: Verify returns them, too.
	Errors []string `json:"errors,omitempty"`
}

// FileReport is what Verify found of one file.
type FileReport struct {
	Path    string `json:"path"`
	Records int64  `json:"records"`
	// Bytes is the size of the file, as it lies there.
	Bytes int64 `json:"bytes"`
	// Compression as detected: "none", "gzip", "zlib" or "zstd".
	Compression string `json:"compression"`
	// OK says that nothing is wrong with it, and that no Finding that is a fault
	// names a record of it.
	OK bool `json:"ok"`
	// FaultsOmitted counts faults past VerifyOptions.MaxFaults.
	FaultsOmitted int64 `json:"faults_omitted,omitempty"`
}

// Verify reads all files that paths stand for (see Expand) and lists what is
// wrong with them:
//
//   - every record's framing and checksums; behind a record whose data are
//     wrong it goes on, behind broken framing it cannot,
//   - the index beside a file, line by line,
//   - for files that a manifest names: number of records, SHA-256, compression,
//     an index that should be there, and that Examples parse,
//   - for shards whose manifest counts labels: those numbers, and that every
//     label has a name,
//   - for whole sets: shards that are missing, files that do not belong to it,
//     the manifest's own sums, and TFDS's files,
//   - with VerifyOptions.Deep what is in the records: images, labels, schema,
//     duplicates. It is done in the same pass, by all workers even in one file.
//
// Faults in the data are not an error; they are in the Report, which is the
// same for any number of workers. An error says that something could not be
// checked: the Report then tells the rest, and its OK is false.
func Verify(ctx context.Context, paths []string, o VerifyOptions) (*Report, error) {
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
			continue // TFDS's files are of the whole set
		}
		faults, err = checkTFDS(ctx, set)
		report.Faults = append(report.Faults, faults...)
		if err != nil {
			errs = append(errs, err)
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

// verification is what the checks of all files have in common.
type verification struct {
	o      *VerifyOptions
	rate   *recordscan.RateLimit // nil without a limit
	deep   *deepRun              // nil when records are not looked into
	sample *recordSample         // nil when all are read
}
