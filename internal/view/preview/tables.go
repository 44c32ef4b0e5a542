package preview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/size"
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
		p.FeaturesMore = count(more, "more feature") + ": tfrec stats lists them. "
	}
	if n := s.stats.FeaturesOmitted; n > 0 {
		p.FeaturesMore += "Left out: " + count(n, "value") + " of features whose names are too long, or that come after too many others."
	}
}

func newFeatureRow(f *stats.Feature) featureRow {
	row := featureRow{Key: shown(f.Key, maxKeyText), Kind: kindsText(f), Values: rangeText(f.Values)}
	if f.Steps != nil {
		row.Values = rangeText(*f.Steps) + " × " + row.Values
	}
	if f.Missing > 0 {
		row.Missing = grouped(f.Missing) + " (" + percent(f.Missing, f.Missing+f.Records) + ")"
	}
	n := f.Numbers()
	if n == nil {
		return row
	}
	row.Min, row.Max = decimal(n.Min.String()), decimal(n.Max.String())
	row.Median, row.Mean = figure(quantileAt(n, 0.5)), figure(n.Mean)+" ± "+figure(n.Std)
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
		row.Min, row.Max, row.Median, row.Mean = row.Min+" B", row.Max+" B", row.Median+" B", figure(n.Mean)+" B"
	} else {
		row.Top = topText(n.Top, n.Count)
	}
	row.Distinct = grouped(distinct)
	if !exact {
		row.Distinct = "~" + row.Distinct
	}
	for _, odd := range []struct {
		n    int64
		what string
	}{{f.NaNs, "NaN"}, {f.Infinities, "infinite"}} {
		if odd.n > 0 {
			row.Top = strings.TrimPrefix(row.Top+"; "+grouped(odd.n)+" "+odd.what, "; ")
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
		return grouped(s.Min)
	}
	return grouped(s.Min) + " to " + grouped(s.Max)
}

// topText lists the most frequent values; nothing where all come but once.
func topText[V json.Number | string](top []stats.Top[V], of int64) string {
	var says []string
	for _, t := range top[:min(len(top), maxShownTop)] {
		if t.Count == 1 && of > 1 {
			break
		}
		says = append(says, shown(string(t.Value), 60)+" "+percent(t.Count, of))
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
		p.CardsMore = count(int64(more), "more feature") + " in the table below, or in tfrec stats."
	}
}

func newCard(f *stats.Feature) card {
	c := card{Key: shown(f.Key, maxKeyText), Kind: kindsText(f)}
	if f.Missing > 0 {
		c.Note = "missing in " + percent(f.Missing, f.Missing+f.Records)
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
				Value: shown(t.Value, maxKeyText), Share: percent(t.Count, f.Lengths.Count),
				W: fmt.Sprintf("%.1f", 100*float64(t.Count)/float64(most)),
			})
		}
		distinct := count(f.Texts.Distinct, "distinct value")
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
			row.State, row.Bad = count(n, "fault"), true
		}
		rows = append(rows, row)
	}
	for _, f := range s.files {
		row := shardRow{
			File: shown(filepath.Base(f.path), maxLineText), Split: shown(f.split, maxKeyText), Records: grouped(f.records),
			Size: size.Format(read[f.path].Bytes), Compression: read[f.path].Compression,
		}
		if f.set != nil {
			row.SHA256 = shown(f.set.SHA256, maxKeyText)
		}
		add(row, f.path)
	}
	for _, source := range s.sources {
		if _, ok := read[source.Path]; !ok {
			add(shardRow{File: shown(filepath.Base(source.Path), maxLineText), Split: shown(source.Split, maxKeyText)}, source.Path)
		}
	}
	slices.SortStableFunc(rows, func(a, b shardRow) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Bad], rank[b.Bad])
	})
	p.Shards = rows[:min(len(rows), maxShards)]
	if more := len(rows) - len(p.Shards); more > 0 {
		p.ShardsMore = count(int64(more), "more shard") + ": tfrec inspect --json lists them."
	}
}

// setVerdict sets the verdict on the set and the list of checks.
func (p *page) setVerdict(s *measurement) {
	n := int64(len(s.faults)) + s.stats.FaultsOmitted
	p.OK = n == 0
	p.Verdict = "no faults"
	if !p.OK {
		p.Verdict = count(n, "fault")
	}
	p.Checked = "The checksums of every record were checked."
	held := slices.ContainsFunc(s.files, func(f file) bool { return f.set != nil })
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
		p.Faults = append(p.Faults, shown(fmt.Sprintf("%s: %s: %s", at, f.Part, f.Message), maxLineText))
	}
	if more := n - int64(len(p.Faults)); more > 0 {
		p.FaultsMore = count(more, "more fault") + ": tfrec verify lists them."
	}
}
