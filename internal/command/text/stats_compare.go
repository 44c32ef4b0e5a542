package text

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/shard/stats"
)

// shownShares is the maximum number of labels of a feature in the text form of a comparison.
const shownShares = 10

// ReadableDrift makes keys fit for JSON.
func ReadableDrift(d *stats.Drift) *stats.Drift {
	for _, list := range [][]stats.FeatureDrift{d.Features, d.FeatureLists} {
		for i := range list {
			list[i].Key = jsontext.Readable(list[i].Key)
		}
	}
	for i := range d.Labels {
		d.Labels[i].Key = jsontext.Readable(d.Labels[i].Key)
	}
	return d
}

// PrintDrift prints what differs, most first.
func PrintDrift(w io.Writer, d *stats.Drift) {
	fmt.Fprintf(w, "A: %s\nB: %s\n", plural.Of(d.Records[0], "record"), plural.Of(d.Records[1], "record"))
	printFeatureDrifts(w, "features", d.Features)
	printFeatureDrifts(w, "feature lists", d.FeatureLists)
	for _, l := range d.Labels {
		fmt.Fprintf(w, "\nlabels, by %s: %s%% of the records would have to change theirs\n", printable.String(l.Key), figure(100*l.Distance))
		printShares(w, l.Shares)
	}
	printObjectsDrift(w, d.Objects)
	fmt.Fprintln(w, "\nDRIFT is 0 for no difference and 1 for the largest; a PSI below 0.1 means that little has changed, above 0.25 that much has.")
}

func printFeatureDrifts(w io.Writer, title string, list []stats.FeatureDrift) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printRow(table, driftColumns, "KEY", "DRIFT", "WHAT", "MISSING", "MEAN", "STD", "MEDIAN", "KS", "PSI")
	for i := range list {
		printFeatureDrift(table, &list[i])
	}
	table.Flush() // resultWriter keeps the error
}

// driftColumns is the number of columns in the table of a comparison.
const driftColumns = 9

// printFeatureDrift prints the rows of one feature.
func printFeatureDrift(w io.Writer, f *stats.FeatureDrift) {
	rows := 0
	row := func(what string, cells ...string) {
		rows++
		printRow(w, driftColumns, append([]string{printable.String(f.Key), figure(f.Score), what}, cells...)...)
	}
	gone := change(100*f.Missing[0], 100*f.Missing[1]) + "%"
	switch {
	case f.In == "a":
		row("only in A ("+f.Kinds[0]+")", gone)
		return
	case f.In == "b":
		row("only in B ("+f.Kinds[1]+")", gone)
		return
	case f.Kinds[0] != f.Kinds[1]:
		row(f.Kinds[0]+" in A, "+f.Kinds[1]+" in B", gone)
	}
	for _, side := range []struct {
		what string
		n    *stats.NumbersDrift
	}{{"int64", f.Int64}, {"float", f.Float}, {"length", f.Lengths}, {"width", f.Width}, {"height", f.Height}} {
		if n := side.n; n != nil {
			row(side.what, gone, change(n.Mean[0], n.Mean[1]), change(n.Std[0], n.Std[1]), change(n.Median[0], n.Median[1]), figure(n.KS), figure(n.PSI))
		}
	}
	if f.NaNs != [2]float64{} {
		row("not finite: "+change(100*f.NaNs[0], 100*f.NaNs[1])+"%", gone)
	}
	if f.Values != nil && *f.Values > 0 {
		row("values: "+figure(100**f.Values)+"% differ", gone)
	}
	if f.Pixels != nil {
		for c, channel := range []string{"red", "green", "blue"} {
			row(channel, gone, change(f.Pixels.Mean[0][c], f.Pixels.Mean[1][c]), change(f.Pixels.Std[0][c], f.Pixels.Std[1][c]))
		}
	}
	if rows == 0 {
		row(f.Kinds[0], gone)
	}
}

// change is a figure before and after, once when it is the same.
func change(a, b float64) string {
	if before, after := figure(a), figure(b); before != after {
		return before + " -> " + after
	}
	return figure(a)
}

// printShares prints the shares of labels, those that differ most first.
func printShares(w io.Writer, shares []stats.LabelShares) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, s := range shares {
		if i == shownShares {
			fmt.Fprintf(table, "  ... and %d more (--json lists them)\n", len(shares)-shownShares)
			break
		}
		fmt.Fprintf(table, "  %s\t%s%%\n", labelName(s.ID, s.Name), change(100*s.Shares[0], 100*s.Shares[1]))
	}
	table.Flush() // resultWriter keeps the error
}
