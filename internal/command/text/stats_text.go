package text

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// How many values, sizes and labels the text form shows.
const (
	shownTop   = 3
	shownSizes = 5
	shownText  = 24 // characters of a value
)

// PrintStats prints what was measured, as tables.
func PrintStats(w io.Writer, st *stats.Report) {
	fmt.Fprintf(w, "%s, %s, %s", plural.Of(len(st.Files), "file"), plural.Of(st.Records, "record"), size.Format(st.Bytes))
	if len(st.Compression) > 1 || st.Compression["none"] == 0 {
		fmt.Fprintf(w, " (%s)", ListCounts(st.Compression))
	}
	fmt.Fprintln(w)
	printFigures(w, &st.Figures)
	for i := range st.Groups {
		g := &st.Groups[i]
		fmt.Fprintf(w, "\n%s = %s", printable.String(st.By), printable.String(g.Value))
		if g.Name != "" {
			fmt.Fprintf(w, " (%s)", printable.String(g.Name))
		}
		fmt.Fprintf(w, ": %s\n", plural.Of(g.Records, "record"))
		printFigures(w, &g.Figures)
	}
	if st.By != "" && st.UngroupedRecords > 0 {
		fmt.Fprintf(w, "\n%s in no group of %s\n", plural.Of(st.UngroupedRecords, "record"), printable.String(st.By))
	}
	if !allExact(&st.Figures) {
		fmt.Fprintf(w, "\n~ estimates: quantiles within %g%% of the values, distinct values with a standard error of %.1f%%\n", 100*st.RankError, 100*st.DistinctError)
	}
}

// allExact reports whether no figure is an estimate.
func allExact(f *stats.Figures) bool {
	if o := f.Objects; o != nil && !(o.PerImage.Exact && o.Area.Exact && o.Aspect.Exact) {
		return false
	}
	for _, list := range [][]stats.Feature{f.Features, f.FeatureLists} {
		for i := range list {
			if n := list[i].Numbers(); n != nil && !n.Exact {
				return false
			}
			if t := list[i].Texts; t != nil && !t.Exact {
				return false
			}
		}
	}
	return true
}

func printFigures(w io.Writer, f *stats.Figures) {
	if f.Records > 0 {
		b := f.RecordBytes
		fmt.Fprintf(w, "record sizes: %s to %s bytes, mean %.1f, median %s\n", b.Min, b.Max, b.Mean, figure(quantileAt(b, 0.5)))
		fmt.Fprintf(w, "messages: %s\n", ListMessages(f.Messages))
	}
	printSpread(w, "features", f.Features)
	printSpread(w, "feature lists", f.FeatureLists)
	if f.FeaturesOmitted > 0 {
		fmt.Fprintf(w, "%s of further features not measured (--max-features)\n", plural.Of(f.FeaturesOmitted, "occurrence"))
	}
	for i := range f.Features {
		printImages(w, &f.Features[i])
	}
	for _, l := range f.Labels {
		printBalance(w, l)
	}
	PrintObjects(w, f.Objects, true)
}

// statsColumns is the number of columns in the table of the features.
const statsColumns = 14

// printRow prints a row of a tabwriter's table. Cells that are not given are
// empty: a row without them would end the columns.
func printRow(w io.Writer, columns int, cells ...string) {
	io.WriteString(w, "  "+strings.Join(cells, "\t")+strings.Repeat("\t", columns-len(cells))+"\n") // resultWriter keeps the error
}

// printSpread prints a line for each feature.
func printSpread(w io.Writer, title string, features []stats.Feature) {
	if len(features) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printRow(table, statsColumns, "KEY", "KIND", "VALUES", "MISSING", "MIN", "5%", "MEDIAN", "95%", "MAX", "MEAN", "STD", "DISTINCT", "HISTOGRAM", "MOST FREQUENT")
	for i := range features {
		f := &features[i]
		rows := []struct {
			kind    string
			numbers *stats.Numbers
		}{{"int64", f.Int64}, {"float", f.Float}, {"bytes", f.Lengths}}
		some := false
		for _, row := range rows {
			if row.numbers != nil {
				some = true
				printNumbers(table, f, row.kind, row.numbers)
			}
		}
		if !some {
			printRow(table, statsColumns, printable.String(f.Key), "none", shapeOf(f), missingOf(f))
		}
	}
	table.Flush() // resultWriter keeps the error
}

func printNumbers(w io.Writer, f *stats.Feature, kind string, n *stats.Numbers) {
	distinct, exact, top := n.Distinct, n.Exact, mostFrequent(n.Top, n.Count)
	if kind == "bytes" {
		distinct, exact, top = f.Texts.Distinct, f.Texts.Exact, mostFrequent(f.Texts.Top, n.Count)
		kind = "length"
	}
	if odd := oddFloats(f); kind == "float" && odd != "" {
		top = strings.TrimPrefix(top+"; "+odd, "; ")
	}
	different := strconv.FormatInt(distinct, 10)
	if !exact {
		different = "~" + different
	}
	printRow(w, statsColumns, printable.String(f.Key), kind, shapeOf(f), missingOf(f),
		n.Min.String(), figure(quantileAt(n, 0.05)), figure(quantileAt(n, 0.5)), figure(quantileAt(n, 0.95)), n.Max.String(),
		figure(n.Mean), figure(n.Std), different, bars(n.Histogram), top)
}

func oddFloats(f *stats.Feature) string {
	var says []string
	if f.NaNs > 0 {
		says = append(says, plural.Of(f.NaNs, "NaN"))
	}
	if f.Infinities > 0 {
		says = append(says, fmt.Sprintf("%d infinite", f.Infinities))
	}
	return strings.Join(says, ", ")
}

// shapeOf describes the number of values at a time, and the number of steps.
func shapeOf(f *stats.Feature) string {
	values := Between(strconv.FormatInt(f.Values.Min, 10), strconv.FormatInt(f.Values.Max, 10))
	if f.Steps != nil {
		return Between(strconv.FormatInt(f.Steps.Min, 10), strconv.FormatInt(f.Steps.Max, 10)) + "x" + values
	}
	return values
}

func missingOf(f *stats.Feature) string {
	if f.Missing == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", f.Missing, percent(f.Missing, f.Records+f.Missing))
}

// percent formats n of total.
func percent(n, total int64) string {
	if total == 0 {
		return "0%"
	}
	return figure(100*float64(n)/float64(total)) + "%"
}

// figure formats a number: whole from 10,000 on, otherwise with up to four significant digits.
func figure(x float64) string {
	if size := math.Abs(x); size >= 1e4 && size < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func quantileAt(n *stats.Numbers, share float64) float64 {
	i := slices.IndexFunc(n.Quantiles, func(q stats.Quantile) bool { return q.Share == share })
	if i < 0 {
		return 0
	}
	return n.Quantiles[i].Value
}

// bars draws a histogram on one line.
func bars(list []stats.Bucket) string {
	const levels = "▁▂▃▄▅▆▇█"
	steps := []rune(levels)
	var most int64
	for _, b := range list {
		most = max(most, b.Count)
	}
	var line strings.Builder
	for _, b := range list {
		switch {
		case b.Count == 0:
			line.WriteByte('_')
		default:
			line.WriteRune(steps[int((b.Count*int64(len(steps))-1)/most)])
		}
	}
	return line.String()
}

// mostFrequent lists the first values and their shares; nothing where all come
// but once.
func mostFrequent[V json.Number | string](list []stats.Top[V], of int64) string {
	var says []string
	for _, t := range list[:min(shownTop, len(list))] {
		if t.Count == 1 && of > 1 {
			break
		}
		says = append(says, fmt.Sprintf("%s %s", shorten(printable.String(string(t.Value))), percent(t.Count, of)))
	}
	return strings.Join(says, ", ")
}

// shorten cuts long values.
func shorten(s string) string {
	if r := []rune(s); len(r) > shownText {
		return string(r[:shownText]) + "..."
	}
	return s
}

func printImages(w io.Writer, f *stats.Feature) {
	p := f.Images
	if p == nil {
		return
	}
	fmt.Fprintf(w, "\nimages in %s: %d (%s)", printable.String(f.Key), p.Count, ListCounts(p.Formats))
	if p.Unreadable > 0 {
		fmt.Fprintf(w, ", %d with a header that cannot be read", p.Unreadable)
	}
	fmt.Fprintln(w)
	for _, side := range []struct {
		name string
		n    *stats.Numbers
	}{{"width", p.Width}, {"height", p.Height}} {
		if n := side.n; n != nil {
			fmt.Fprintf(w, "  %s: %s to %s, median %s, mean %s  %s\n", side.name, n.Min, n.Max, figure(quantileAt(n, 0.5)), figure(n.Mean), bars(n.Histogram))
		}
	}
	var sizes []string
	for _, s := range p.Sizes[:min(shownSizes, len(p.Sizes))] {
		sizes = append(sizes, fmt.Sprintf("%s %s", s.Value, percent(s.Count, p.Count)))
	}
	if len(sizes) > 0 {
		fmt.Fprintf(w, "  sizes: %s\n", strings.Join(sizes, ", "))
	}
	if len(p.Channels) > 0 {
		fmt.Fprintf(w, "  channels: %s\n", ListCounts(p.Channels))
	}
	printPixels(w, p.Pixels)
}

// printPixels prints the pixels' mean and standard deviation as the flags of
// convert.
func printPixels(w io.Writer, p *stats.Pixels) {
	if p == nil {
		return
	}
	of := "all " + plural.Of(p.Images, "image")
	if p.Sampled {
		of = "a sample of " + plural.Of(p.Images, "image")
	}
	if p.Damaged > 0 {
		of += fmt.Sprintf(", of which %d cannot be decoded", p.Damaged)
	}
	fmt.Fprintf(w, "  pixels, from %s: %s\n", of, pixelFlags(p))
}

// pixelFlags are the flags with which convert makes the mean 0 and the standard
// deviation 1.
func pixelFlags(p *stats.Pixels) string {
	triple := func(v [3]float64) string { return fmt.Sprintf("%.4f,%.4f,%.4f", v[0], v[1], v[2]) }
	return fmt.Sprintf("--mean %s --std %s", triple(p.Mean), triple(p.Std))
}

// printBalance prints the labels with their shares, the most frequent first.
func printBalance(w io.Writer, l stats.LabelCounts) {
	total := l.Omitted
	for _, c := range l.Counts {
		total += c.Records
	}
	counts := slices.Clone(l.Counts)
	slices.SortStableFunc(counts, func(a, b stats.Label) int { return cmp.Compare(b.Records, a.Records) })
	fmt.Fprintf(w, "\n%s, by %s:\n", plural.Of(len(counts), "label"), printable.String(l.Key))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range counts {
		if i == ShownLabels {
			fmt.Fprintf(table, "  ... and %d more (--json lists them)\n", len(counts)-ShownLabels)
			break
		}
		fmt.Fprintf(table, "  %s\t%d\t%s\n", labelName(c.ID, c.Name), c.Records, percent(c.Records, total))
	}
	table.Flush() // resultWriter keeps the error
	if l.Omitted > 0 {
		fmt.Fprintf(w, "  %s of further labels\n", plural.Of(l.Omitted, "record"))
	}
}

// labelName is a label's id and name, as far as there are any.
func labelName(id *int64, name string) string {
	if id == nil {
		return printable.String(name)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", *id, printable.String(name)))
}

func Between(least, most string) string {
	if least == most {
		return least
	}
	return least + ".." + most
}

func ListCounts(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}

func ListMessages(counts map[string]int64) string {
	s := ListCounts(counts)
	if counts[manifest.RecordExample] == 0 && counts[string(message.SequenceExample)] == 0 {
		s += " (not tf.train.Example)"
	}
	return s
}

// ShownLabels is the maximum number of labels of a feature in the text form.
const ShownLabels = 20
