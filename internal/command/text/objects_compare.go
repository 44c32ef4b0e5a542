package text

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tfrec/tfrec/shard/stats"
)

// objectsDriftColumns is the number of columns in the table of objects of a comparison.
const objectsDriftColumns = 6

// printObjectsDrift prints how objects in images differ.
func printObjectsDrift(w io.Writer, d *stats.ObjectsDrift) {
	if d == nil {
		return
	}
	fmt.Fprintf(w, "\nobjects: %s in %s images, %s%% without", counts(d.Objects), counts(d.Images), change(100*d.Empty[0], 100*d.Empty[1]))
	if d.In == "both" {
		fmt.Fprintf(w, ", drift %s\n", figure(d.Score))
	} else {
		fmt.Fprintf(w, ", only in %s\n", map[string]string{"a": "A", "b": "B"}[d.In])
	}
	printObjectNumbers(w, d)
	if s := d.Sizes; s != nil {
		fmt.Fprintf(w, "  sizes: small %s%%, medium %s%%, large %s%%; drift %s\n", change(100*s.Small[0], 100*s.Small[1]),
			change(100*s.Medium[0], 100*s.Medium[1]), change(100*s.Large[0], 100*s.Large[1]), figure(s.Distance))
	}
	if c := d.Classes; c != nil {
		fmt.Fprintf(w, "  classes: %s%% of the objects would have to change theirs\n", figure(100*c.Distance))
		printShares(w, c.Shares)
	}
}

// printObjectNumbers prints a row for the figures that are numbers, if any.
func printObjectNumbers(w io.Writer, d *stats.ObjectsDrift) {
	if d.PerImage == nil && d.Area == nil && d.Aspect == nil {
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printRow(table, objectsDriftColumns, "WHAT", "DRIFT", "MEAN", "STD", "MEDIAN", "PSI")
	for _, r := range []struct {
		what string
		n    *stats.NumbersDrift
	}{{"objects of an image", d.PerImage}, {"share of the image", d.Area}, {"width / height", d.Aspect}} {
		if n := r.n; n != nil {
			printRow(table, objectsDriftColumns, r.what, figure(n.KS), change(n.Mean[0], n.Mean[1]), change(n.Std[0], n.Std[1]), change(n.Median[0], n.Median[1]), figure(n.PSI))
		}
	}
	table.Flush() // resultWriter keeps the error
}

// counts is a count before and after, once when it is the same.
func counts(n [2]int64) string {
	if n[0] == n[1] {
		return fmt.Sprint(n[0])
	}
	return fmt.Sprintf("%d -> %d", n[0], n[1])
}
