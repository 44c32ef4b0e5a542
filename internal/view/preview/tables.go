package preview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/shard/stats"
)

// featureRow is a line of the table of features.
type featureRow struct {
	Key, Kind, Values, Missing string
	Min, Median, Max, Mean     string
	Distinct, Top              string
	Plot                       *histogram
}

// setFeatures fills the table of features.
func (p *page) setFeatures(s *measurement) {
	all := append(slices.Clone(s.stats.Features), s.stats.FeatureLists...)
	for i := range all[:min(len(all), maxRows)] {
		p.Features = append(p.Features, newFeatureRow(&all[i]))
	}
	if more := int64(len(all) - len(p.Features)); more > 0 {
		p.FeaturesMore = plaintext.Count(more, "more feature") + ": tfrec stats lists them. "
	}
	if n := s.stats.FeaturesOmitted; n > 0 {
		p.FeaturesMore += "Left out: " + plaintext.Count(n, "value") + " of features whose names are too long, or that come after too many others."
	}
}

func newFeatureRow(f *stats.Feature) featureRow {
	row := featureRow{Key: plaintext.Shown(f.Key, plaintext.MaxKeyText), Kind: kindsText(f), Values: rangeText(f.Values)}
	if f.Steps != nil {
		row.Values = rangeText(*f.Steps) + " × " + row.Values
	}
	if f.Missing > 0 {
		row.Missing = plaintext.Grouped(f.Missing) + " (" + plaintext.Percent(f.Missing, f.Missing+f.Records) + ")"
	}
	n := f.Numbers()
	if n == nil {
		return row
	}
	row.Min, row.Max = plaintext.Decimal(n.Min.String()), plaintext.Decimal(n.Max.String())
	row.Median, row.Mean = plaintext.Figure(quantileAt(n, 0.5)), plaintext.Figure(n.Mean)+" ± "+plaintext.Figure(n.Std)
	row.Plot = newHistogram("", "", n)
	if row.Plot != nil && row.Plot.Single != "" {
		row.Plot = nil
	}
	distinct, exact := n.Distinct, n.Exact
	if f.Texts != nil && f.Float == nil && f.Int64 == nil {
		distinct, exact = f.Texts.Distinct, f.Texts.Exact
		if !onlyImages(f) {
			row.Top = topText(f.Texts.Top, n.Count)
		}
		row.Min, row.Max, row.Median, row.Mean = row.Min+" B", row.Max+" B", row.Median+" B", plaintext.Figure(n.Mean)+" B"
	} else {
		row.Top = topText(n.Top, n.Count)
	}
	row.Distinct = plaintext.Grouped(distinct)
	if !exact {
		row.Distinct = "~" + row.Distinct
	}
	for _, odd := range []struct {
		n    int64
		what string
	}{{f.NaNs, "NaN"}, {f.Infinities, "infinite"}} {
		if odd.n > 0 {
			row.Top = strings.TrimPrefix(row.Top+"; "+plaintext.Grouped(odd.n)+" "+odd.what, "; ")
		}
	}
	return row
}

// kindsText names the kinds of a feature's values: what bytes are where all are.
func kindsText(f *stats.Feature) string {
	kinds := make([]string, 0, len(f.Kinds))
	for kind := range f.Kinds {
		if kind == "bytes" && f.Lengths != nil {
			switch {
			case onlyImages(f):
				kind = "image"
			case f.Text:
				kind = "text"
			}
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " | ")
}

// onlyImages reports whether all values of a feature of bytes are images.
func onlyImages(f *stats.Feature) bool {
	return f.Images != nil && f.Images.Count == f.Lengths.Count
}

func rangeText(s stats.Sizes) string {
	if s.Min == s.Max {
		return plaintext.Grouped(s.Min)
	}
	return plaintext.Grouped(s.Min) + " to " + plaintext.Grouped(s.Max)
}

// topText lists the most frequent values; nothing where all come but once.
func topText[V json.Number | string](top []stats.Top[V], of int64) string {
	var says []string
	for _, t := range top[:min(len(top), maxShownTop)] {
		if t.Count == 1 && of > 1 {
			break
		}
		says = append(says, plaintext.Shown(string(t.Value), 60)+" "+plaintext.Percent(t.Count, of))
	}
	return strings.Join(says, ", ")
}

// card shows the distribution of the values of one feature, large.
type card struct {
	Key, Kind, Note string
	Plot            *histogram
	Top             []topRow
}

// topRow is a frequent value with a bar of 100 units.
type topRow struct{ Value, Share, W string }

// setCards shows features of sets without images.
func (p *page) setCards(s *measurement) {
	all := s.stats.Features
	for i := range all[:min(len(all), maxCards)] {
		p.Cards = append(p.Cards, newCard(&all[i]))
	}
	if more := len(all) - len(p.Cards); more > 0 {
		p.CardsMore = plaintext.Count(int64(more), "more feature") + " in the table below, or in tfrec stats."
	}
}

func newCard(f *stats.Feature) card {
	c := card{Key: plaintext.Shown(f.Key, plaintext.MaxKeyText), Kind: kindsText(f)}
	if f.Missing > 0 {
		c.Note = "missing in " + plaintext.Percent(f.Missing, f.Missing+f.Records)
	}
	switch {
	case f.Float != nil:
		c.Plot = newHistogram(c.Key, "", f.Float)
	case f.Int64 != nil:
		c.Plot = newHistogram(c.Key, "", f.Int64)
	case f.Texts != nil && f.Lengths != nil:
		most := int64(1)
		for _, t := range f.Texts.Top[:min(len(f.Texts.Top), 5)] {
			most = max(most, t.Count)
			if t.Count == 1 && f.Lengths.Count > 1 {
				break
			}
			c.Top = append(c.Top, topRow{
				Value: plaintext.Shown(t.Value, plaintext.MaxKeyText), Share: plaintext.Percent(t.Count, f.Lengths.Count),
				W: fmt.Sprintf("%.1f", 100*float64(t.Count)/float64(most)),
			})
		}
		distinct := plaintext.Count(f.Texts.Distinct, "distinct value")
		if !f.Texts.Exact {
			distinct = "about " + distinct
		}
		c.Note = strings.TrimPrefix(c.Note+"; "+distinct, "; ")
		if len(c.Top) == 0 {
			c.Plot = newHistogram("length of "+c.Key, "bytes", f.Lengths)
			c.Note += "; lengths in bytes:"
		}
	}
	return c
}

// shardRow is a line of the table of shards.
type shardRow struct {
	File, Split, Records, Size, Compression, SHA256, State string
	Bad                                                    bool
}

// setShards fills the table of shards, those with faults first.
func (p *page) setShards(s *measurement) {
	faults := map[string]int64{}
	for _, f := range s.faults {
		faults[f.Path]++
	}
	read := map[string]stats.FileSummary{}
	for _, f := range s.stats.Files {
		read[f.Path] = f
	}
	var rows []shardRow
	add := func(row shardRow, path string) {
		row.State = "ok"
		if n := faults[path]; n > 0 {
			row.State, row.Bad = plaintext.Count(n, "fault"), true
		}
		rows = append(rows, row)
	}
	for _, f := range s.Files {
		row := shardRow{
			File: plaintext.Shown(filepath.Base(f.Path), plaintext.MaxLineText), Split: plaintext.Shown(f.Split, plaintext.MaxKeyText), Records: plaintext.Grouped(f.Records),
			Size: size.Format(read[f.Path].Bytes), Compression: read[f.Path].Compression,
		}
		if f.Set != nil {
			row.SHA256 = plaintext.Shown(f.Set.SHA256, plaintext.MaxKeyText)
		}
		add(row, f.Path)
	}
	for _, source := range s.Sources {
		if _, ok := read[source.Path]; !ok {
			add(shardRow{File: plaintext.Shown(filepath.Base(source.Path), plaintext.MaxLineText), Split: plaintext.Shown(source.Split, plaintext.MaxKeyText)}, source.Path)
		}
	}
	slices.SortStableFunc(rows, func(a, b shardRow) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Bad], rank[b.Bad])
	})
	p.Shards = rows[:min(len(rows), maxShards)]
	if more := len(rows) - len(p.Shards); more > 0 {
		p.ShardsMore = plaintext.Count(int64(more), "more shard") + ": tfrec inspect --json lists them."
	}
}

// setVerdict sets the verdict on the set and the list of checks.
func (p *page) setVerdict(s *measurement) {
	n := int64(len(s.faults)) + s.stats.FaultsOmitted
	p.OK = n == 0
	p.Verdict = "no faults"
	if !p.OK {
		p.Verdict = plaintext.Count(n, "fault")
	}
	p.Checked = "The checksums of every record were checked."
	held := slices.ContainsFunc(s.Files, func(f contents.File) bool { return f.Set != nil })
	if held {
		p.Checked += " Numbers of records and bytes were compared with the manifest; its SHA-256 were not: tfrec verify does that."
	} else {
		p.Checked += " There is no manifest to compare with."
	}
	for _, f := range s.faults[:min(len(s.faults), maxFaults)] {
		at := filepath.Base(f.Path)
		if f.Record >= 0 {
			at += fmt.Sprintf(", record %d at byte %d", f.Record, f.Offset)
		}
		p.Faults = append(p.Faults, plaintext.Shown(fmt.Sprintf("%s: %s: %s", at, f.Part, f.Message), plaintext.MaxLineText))
	}
	if more := n - int64(len(p.Faults)); more > 0 {
		p.FaultsMore = plaintext.Count(more, "more fault") + ": tfrec verify lists them."
	}
}
