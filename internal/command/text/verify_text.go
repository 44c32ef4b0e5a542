package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
)

// shownFindings is the maximum number of findings of a kind in the text form.
const shownFindings = 20

// PrintReport prints a line for each file, the faults and findings, which have a
// writer of their own, and a summary.
func PrintReport(faults, w io.Writer, r *verify.Report) {
	var bad int
	var bytes int64
	for _, f := range r.Files {
		word := "ok "
		if !f.OK {
			word = "BAD"
			bad++
		}
		bytes += f.Bytes
		fmt.Fprintf(w, "%s  %s  %s, %s", word, printable.String(f.Path), plural.Of(f.Records, "record"), size.Format(f.Bytes))
		if f.Compression != "none" {
			fmt.Fprintf(w, ", %s", f.Compression)
		}
		fmt.Fprintln(w)
	}
	PrintFaults(faults, r.Faults)
	for _, f := range r.Files {
		if f.FaultsOmitted > 0 {
			fmt.Fprintf(faults, "%s: %s more, not listed\n", printable.String(f.Path), plural.Of(f.FaultsOmitted, "fault"))
		}
	}
	if r.Deep != nil {
		printDeep(faults, w, r.Deep)
	}
	if r.Sample != nil {
		fmt.Fprintf(w, "a sample of %d of %s; not checked: %s\n", r.Sample.Records, plural.Of(r.Sample.Of, "record"), strings.Join(r.Sample.NotChecked, "; "))
	}
	fmt.Fprintf(w, "%s, %s, %s: ", plural.Of(len(r.Files), "file"), plural.Of(r.Records, "record"), size.Format(bytes))
	switch {
	case r.OK:
		fmt.Fprint(w, "no faults")
		if n := findings(r.Deep); n > 0 {
			fmt.Fprintf(w, ", %s", plural.Of(n, "warning"))
		}
		fmt.Fprintln(w)
	case len(r.Faults) == 0 && r.Deep != nil && len(r.Errors) == 0:
		fmt.Fprintln(w, "faults in the records")
	case bad == 0:
		fmt.Fprintln(w, plural.Of(len(r.Faults), "fault"))
	default:
		fmt.Fprintf(w, "%s, %s bad\n", plural.Of(len(r.Faults), "fault"), plural.Of(bad, "file"))
	}
}

// findings returns the number of findings, listed or not.
func findings(r *verify.DeepReport) (n int64) {
	if r != nil {
		for _, of := range r.Counts {
			n += of
		}
	}
	return n
}

func PrintFaults(w io.Writer, faults []shard.Fault) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s: ", printable.String(f.Path))
		if f.Record >= 0 {
			fmt.Fprintf(w, "record %d at byte %d: ", f.Record, f.Offset)
		}
		fmt.Fprintf(w, "%s: %s\n", f.Part, printable.String(f.Message))
	}
	cli.PrintAdvice(w, faults)
}

// printDeep prints what was found in the records: the first findings of each
// kind, and how many more there are, which have a writer of their own; then a summary.
func printDeep(faults, w io.Writer, r *verify.DeepReport) {
	byKind := map[verify.FindingKind][]*verify.Finding{}
	for i := range r.Findings {
		f := &r.Findings[i]
		byKind[f.Kind] = append(byKind[f.Kind], f)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		for _, f := range byKind[kind][:min(len(byKind[kind]), shownFindings)] {
			printFinding(faults, f)
		}
		if more := r.Counts[kind] - int64(min(len(byKind[kind]), shownFindings)); more > 0 {
			fmt.Fprintf(faults, "%s: %d more, not shown (--json, --report)\n", kind, more)
		}
		if len(byKind[kind]) > 0 {
			fmt.Fprintf(faults, "  %s: %s\n", kind, byKind[kind][0].Advice)
		}
	}
	fmt.Fprintf(w, "checked the contents of %s: %s, %d decoded; %s, %d in several splits",
		plural.Of(r.Records, "record"), plural.Of(r.Images, "image"), r.Decoded, plural.Of(r.Duplicates.Records, "duplicate"), r.Duplicates.Leaks)
	if r.Objects+r.Masks > 0 {
		fmt.Fprintf(w, "; %s, %s", plural.Of(r.Objects, "box"), plural.Of(r.Masks, "mask"))
	}
	if r.Near != nil {
		fmt.Fprintf(w, "; %s that look alike, %d in several splits", plural.Of(r.Near.Records, "image"), r.Near.Leaks)
		if r.Near.Flat > 0 {
			fmt.Fprintf(w, " (%d too plain to compare)", r.Near.Flat)
		}
		if r.Near.Cut > 0 {
			fmt.Fprintf(w, " (%d resemble too many to compare all)", r.Near.Cut)
		}
	}
	fmt.Fprintln(w)
	for _, text := range r.NotChecked {
		fmt.Fprintf(w, "not checked: %s\n", printable.String(text))
	}
}

func printFinding(w io.Writer, f *verify.Finding) {
	fmt.Fprintf(w, "%s: ", printable.String(f.Path))
	if f.Record >= 0 {
		fmt.Fprintf(w, "record %d at byte %d", f.Record, f.Offset)
		if f.Key != "" {
			fmt.Fprintf(w, " (%s)", printable.String(f.Key))
		}
		fmt.Fprint(w, ": ")
	}
	fmt.Fprintf(w, "%s: ", f.Kind)
	if f.Severity == verify.SeverityWarning {
		fmt.Fprint(w, "warning: ")
	}
	if f.Feature != "" {
		fmt.Fprintf(w, "%s: ", printable.String(f.Feature))
	}
	fmt.Fprint(w, printable.String(f.Message))
	if o := f.Other; o != nil {
		fmt.Fprintf(w, ": %s record %d", printable.String(o.Path), o.Record)
		if o.Key != "" {
			fmt.Fprintf(w, " (%s)", printable.String(o.Key))
		}
	}
	if f.Records > 1 {
		fmt.Fprintf(w, " (%s)", plural.Of(f.Records, "record"))
	}
	fmt.Fprintln(w)
}
