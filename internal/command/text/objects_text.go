package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/shard/stats"
)

// PrintObjects prints the figures of objects, and their classes with shares, the most frequent
// first. Histograms are left out if histograms is false.
func PrintObjects(w io.Writer, o *stats.Objects, histograms bool) {
	if o == nil {
		return
	}
	fmt.Fprintf(w, "\n%s in %s, %d without", plural.Of(o.Objects, "object"), plural.Of(o.Images, "image"), o.Empty)
	for _, more := range []struct {
		n    int64
		says string
	}{
		{o.Masks, "with a mask"}, {o.Crowd, "crowds"}, {o.Difficult, "difficult"}, {o.Truncated, "truncated"},
		{o.BadBoxes, "with a bad box (tfrec verify --deep)"},
	} {
		if more.n > 0 {
			fmt.Fprintf(w, "; %d %s", more.n, more.says)
		}
	}
	fmt.Fprintln(w)
	if o.Malformed > 0 {
		fmt.Fprintf(w, "  lists of objects do not match in %s (tfrec verify --deep)\n", plural.Of(o.Malformed, "record"))
	}
	for _, row := range []struct {
		name string
		n    *stats.Numbers
	}{{"an image", o.PerImage}, {"share of the image", o.Area}, {"width / height", o.Aspect}} {
		if n := row.n; n.Count > 0 {
			fmt.Fprintf(w, "  %s: %s to %s, mean %s, median %s", row.name, n.Min, n.Max, figure(n.Mean), figure(quantileAt(n, 0.5)))
			if histograms {
				fmt.Fprintf(w, "  %s", bars(n.Histogram))
			}
			fmt.Fprintln(w)
		}
	}
	var sizes []string
	total := o.Sizes.Small + o.Sizes.Medium + o.Sizes.Large + o.Sizes.Unknown
	for _, s := range []struct {
		name string
		n    int64
	}{{"small (below 32x32 pixels)", o.Sizes.Small}, {"medium", o.Sizes.Medium}, {"large (from 96x96)", o.Sizes.Large}, {"unknown", o.Sizes.Unknown}} {
		if s.n > 0 {
			sizes = append(sizes, fmt.Sprintf("%s %d, %s", s.name, s.n, percent(s.n, total)))
		}
	}
	if len(sizes) > 0 {
		fmt.Fprintf(w, "  sizes: %s\n", strings.Join(sizes, "; "))
	}
	printClasses(w, o)
}

func printClasses(w io.Writer, o *stats.Objects) {
	classes := slices.Clone(o.Classes)
	slices.SortStableFunc(classes, func(a, b stats.ObjectClass) int { return cmp.Compare(b.Objects, a.Objects) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range classes {
		if i == ShownLabels {
			fmt.Fprintf(table, "  ... and %d more (--json lists them)\n", len(classes)-ShownLabels)
			break
		}
		fmt.Fprintf(table, "  %s\t%d\t%s\tin %s\n", labelName(c.ID, c.Name), c.Objects, percent(c.Objects, o.Objects), plural.Of(c.Images, "image"))
	}
	table.Flush() // resultWriter keeps the error
	if o.ClassesOmitted > 0 {
		fmt.Fprintf(w, "  %s of further classes\n", plural.Of(o.ClassesOmitted, "object"))
	}
}
