package preview

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
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
		From: plaintext.Decimal(n.Min.String()), To: plaintext.Decimal(n.Max.String()),
	}
	if n.Min == n.Max {
		h.Single = h.From
		return h
	}
	h.About = fmt.Sprintf("median %s, mean %s, std %s", plaintext.Figure(quantileAt(n, 0.5)), plaintext.Figure(n.Mean), plaintext.Figure(n.Std))
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
			About: fmt.Sprintf("%s to %s: %s", plaintext.Figure(b.From), plaintext.Figure(b.To), plaintext.Grouped(b.Count)),
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
