package preview

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/shard/stats"
)

// Size of a histogram's drawing, in its own units.
const (
	plotWidth  = 240
	plotHeight = 60
)

// histogram is a distribution of numbers, as bars.
type histogram struct {
	// Title is the quantity, and Unit its unit.
	Title, Unit string
	Bars        []bar
	// Path is all bars as one shape.
	Path string
	// From and To are the ends of the axis; About describes the rest in words.
	From, To, About string
	// Single is the value shared by all numbers, empty when they differ.
	Single string
	W, H   int
}

// bar is one bar of a histogram.
type bar struct{ X, Y, W, H, About string }

// newHistogram draws numbers; nil of none.
func newHistogram(title, unit string, n *stats.Numbers) *histogram {
	if n == nil || n.Count == 0 {
		return nil
	}
	h := &histogram{
		Title: title, Unit: unit, W: plotWidth, H: plotHeight,
		From: decimal(n.Min.String()), To: decimal(n.Max.String()),
	}
	if n.Min == n.Max {
		h.Single = h.From
		return h
	}
	h.About = fmt.Sprintf("median %s, mean %s, std %s", figure(quantileAt(n, 0.5)), figure(n.Mean), figure(n.Std))
	var most int64
	for _, b := range n.Histogram {
		most = max(most, b.Count)
	}
	var path strings.Builder
	width := float64(plotWidth) / float64(len(n.Histogram))
	for i, b := range n.Histogram {
		if b.Count == 0 {
			continue
		}
		tall := max(1, plotHeight*float64(b.Count)/float64(most))
		x, w := float64(i)*width, max(1, width-1)
		h.Bars = append(h.Bars, bar{
			X: unitsText(x), Y: unitsText(plotHeight - tall), W: unitsText(w), H: unitsText(tall),
			About: fmt.Sprintf("%s to %s: %s", figure(b.From), figure(b.To), grouped(b.Count)),
		})
		fmt.Fprintf(&path, "M%s %dv-%sh%sv%sz", unitsText(x), plotHeight, unitsText(tall), unitsText(w), unitsText(tall))
	}
	h.Path = path.String()
	return h
}

// unitsText is a length in a drawing.
func unitsText(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func quantileAt(n *stats.Numbers, share float64) float64 {
	for _, q := range n.Quantiles {
		if q.Share == share {
			return q.Value
		}
	}
	return math.NaN()
}

// figure formats a number: whole from 10,000 on, otherwise with up to four significant digits.
func figure(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return ""
	case size >= 1e4 && size < 1e15:
		return grouped(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// decimal is figure of a number that is written already, which stays exact when
// it is whole and not too long.
func decimal(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) < 16 {
		if n > -1e4 && n < 1e4 {
			return s
		}
		return grouped(n)
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return figure(x)
}
