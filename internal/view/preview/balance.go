package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/shard/stats"
)

// maxLabels bounds the labels in the balance.
const maxLabels = 50

// balance is the number of records of each label, or of objects of each class.
type balance struct {
	Key    string
	Of     string        // the counted things: "Records" or "Objects"
	Splits []legendEntry // as segments of the bars; none when they are not known
	Rows   []balanceRow
	// More counts the omitted labels; About summarizes all.
	More, About string
}

type balanceRow struct {
	Name, Count, Share string
	Segments           []segment
}

// legendEntry is a split and the class of its colour.
type legendEntry struct{ Name, Class string }

// segment is a part of a bar of 100 units.
type segment struct{ X, W, Class, About string }

// labelled is a label and its records.
type labelled struct {
	name    string
	records int64
	bySplit []int64 // nil when it is not known
}

// balanceOf counts the labels; nil when there are none.
func (s *measurement) balanceOf() *balance {
	labels, omitted := s.labels()
	if len(labels) == 0 {
		return nil
	}
	return newBalance(s.Label, labels, s.splitLabels(labels), omitted, "label", "record")
}

// objectBalance counts the objects of each class; nil when there are none.
func (s *measurement) objectBalance() *balance {
	o := s.stats.Objects
	if o == nil || len(o.Classes) == 0 {
		return nil
	}
	var list []labelled
	for _, c := range o.Classes {
		list = append(list, labelled{name: contents.ClassName(c), records: c.Objects})
	}
	key := objects.KeyLabel
	if o.Classes[0].ID == nil {
		key = objects.KeyText
	}
	return newBalance(key, list, nil, o.ClassesOmitted, "class", "object")
}

// newBalance makes the balance of labels. label and record are the nouns for a label and for the
// counted things.
func newBalance(key string, labels []labelled, splits []string, omitted int64, label, record string) *balance {
	slices.SortStableFunc(labels, func(a, b labelled) int { return cmp.Compare(b.records, a.records) })
	total := omitted
	for _, l := range labels {
		total += l.records
	}
	b := &balance{Key: plaintext.Shown(key, plaintext.MaxKeyText), Of: strings.ToUpper(record[:1]) + plural.Noun(2, record)[1:]}
	for i, split := range splits {
		b.Splits = append(b.Splits, legendEntry{plaintext.Shown(split, plaintext.MaxKeyText), splitClass(i)})
	}
	most := labels[0].records
	for _, l := range labels[:min(len(labels), maxLabels)] {
		b.Rows = append(b.Rows, newBalanceRow(l, splits, most, total))
	}
	b.About = plaintext.Count(int64(len(labels)), label)
	if least := labels[len(labels)-1].records; len(labels) > 1 && omitted == 0 && least > 0 && most != least {
		b.About += fmt.Sprintf("; the most frequent has %s times the %s of the least", plaintext.Figure(float64(most)/float64(least)), plural.Noun(2, record))
	} else if len(labels) > 1 && omitted == 0 && most == least {
		b.About += ", all with the same number of " + plural.Noun(2, record)
	}
	if rest := labels[len(b.Rows):]; len(rest) > 0 || omitted > 0 {
		records := omitted
		for _, l := range rest {
			records += l.records
		}
		b.More = fmt.Sprintf("%s (%s) are of other %s: tfrec stats --json lists up to 10,000", plaintext.Count(records, record), plaintext.Percent(records, total), plural.Noun(2, label))
	}
	return b
}

func newBalanceRow(l labelled, splits []string, most, total int64) balanceRow {
	row := balanceRow{Name: plaintext.Shown(l.name, plaintext.MaxKeyText), Count: plaintext.Grouped(l.records), Share: plaintext.Percent(l.records, total)}
	if l.name == "" {
		row.Name = "(empty)"
	}
	parts, names := []int64{l.records}, []string{""}
	if l.bySplit != nil {
		parts, names = l.bySplit, splits
	}
	x := 0.0
	for i, n := range parts {
		if n == 0 {
			continue
		}
		w := 100 * float64(n) / float64(max(most, 1))
		about := plaintext.Grouped(n)
		if names[i] != "" {
			about = plaintext.Shown(names[i], plaintext.MaxKeyText) + ": " + about
		}
		row.Segments = append(row.Segments, segment{unitsText(x), strconv.FormatFloat(w, 'f', 2, 64), splitClass(i), about})
		x += w
	}
	return row
}

// splitClass is the class of the colour of a split.
func splitClass(i int) string { return "s" + strconv.Itoa(i%6) }

// labels returns the labels, from the best source on the feature that has them, and the number of
// records with other labels.
func (s *measurement) labels() (list []labelled, omitted int64) {
	key := s.Label
	counts := func(key string) *stats.LabelCounts {
		for i := range s.stats.Labels {
			if s.stats.Labels[i].Key == key {
				return &s.stats.Labels[i]
			}
		}
		return nil
	}
	l := counts(key)
	if l == nil && key == imagekey.Text {
		l = counts(imagekey.Label) // which the text only names
	}
	if l != nil {
		for _, c := range l.Counts {
			name := c.Name
			if name == "" && c.ID != nil {
				name = strconv.FormatInt(*c.ID, 10)
			}
			list = append(list, labelled{name: name, records: c.Records})
		}
		return list, l.Omitted
	}
	f := s.stats.Feature(key)
	if f == nil {
		return nil, 0
	}
	if f.Texts != nil {
		for _, t := range f.Texts.Top {
			list = append(list, labelled{name: t.Value, records: t.Count})
			omitted -= t.Count
		}
	} else if f.Int64 != nil {
		for _, t := range f.Int64.Top {
			list = append(list, labelled{name: t.Value.String(), records: t.Count})
			omitted -= t.Count
		}
	}
	return list, max(0, omitted+f.Records)
}

// splitLabels sets the number of records of each label in each split, if the manifest has it, and
// returns the splits.
func (s *measurement) splitLabels(labels []labelled) []string {
	bySplit := map[string]map[string]int64{}
	var splits []string
	for _, f := range s.Files {
		if f.Set == nil || f.Set.Labels == nil || f.Records != f.Set.Records {
			return nil
		}
		if bySplit[f.Split] == nil {
			bySplit[f.Split] = map[string]int64{}
			splits = append(splits, f.Split)
		}
		for name, n := range f.Set.Labels {
			bySplit[f.Split][name] += n
		}
	}
	if len(splits) < 2 {
		return nil
	}
	parts := make([][]int64, len(labels))
	for i, l := range labels {
		sum := int64(0)
		parts[i] = make([]int64, len(splits))
		for j, split := range splits {
			parts[i][j] = bySplit[split][l.name]
			sum += parts[i][j]
		}
		if sum != l.records {
			return nil // the manifest counts something else
		}
	}
	for i := range labels {
		labels[i].bySplit = parts[i]
	}
	return splits
}
