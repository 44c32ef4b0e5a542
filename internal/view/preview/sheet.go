package preview

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
)

// sheet is the part of the page with the records that are shown.
type sheet struct {
	Note     string // how they were chosen
	Trouble  string // how many cannot be shown
	Families []familyView
	Singles  []sampleView
	// Rows are records of a set without images: a cell for each of Columns.
	Columns     []string
	ColumnsMore string
	Rows        []sampleView
	// Labels and Splits are the choices of the filters.
	Labels, Splits []choice
	// ClassChoices are the classes of objects to choose from, ClassChoicesMore notes the number of
	// further classes, and NoObjects is the number of records without objects.
	ClassChoices     []choice
	ClassChoicesMore string
	NoObjects        int
	Shown            int
	// Classes are the colours of boxes, and ClassesMore notes the number of further classes.
	Classes     []classColour
	ClassesMore string
	// Boxes and Masks report whether any are drawn.
	Boxes, Masks bool
}

// choice is a value of a filter; elements of the page have its place in the list.
type choice struct {
	Name  string
	Count int
}

// familyView is an original with its variants.
type familyView struct {
	Key, Label, More string
	LabelAt, SplitAt int
	Samples          []sampleView
}

// sampleView is a record that is shown.
type sampleView struct {
	Key, Label, Split, Where, Alt string
	LabelAt, SplitAt              int // places in Labels and Splits; -1 for none
	URI                           template.URL
	Objects                       *objectsView // nil if nothing is drawn
	Classes                       string       // places in ClassChoices, separated by spaces
	W, H                          int
	Tiny                          bool // to be enlarged without smoothing
	Stored                        string
	Err                           string
	Copy, Variant                 string // which variant it is, and what was done to it
	Member                        bool   // of a family, which says key and label
	Values                        []fact
	Cells                         []string
}

// sheetMaker makes the views of samples, which share a budget.
type sheetMaker struct {
	labels, splits choices
	classes        classChoices
	text           int // bytes of HTML for the texts of each record
	hasImages      bool
	columns        []string
}

// choices are the values of a filter and their places.
type choices struct {
	list []choice
	at   map[string]int
}

func newChoices(names []string) choices {
	slices.Sort(names)
	c := choices{at: map[string]int{}}
	for _, name := range names {
		if at, known := c.at[name]; known {
			c.list[at].Count++
			continue
		}
		c.at[name] = len(c.list)
		c.list = append(c.list, choice{plaintext.Shown(name, plaintext.MaxKeyText), 1})
	}
	return c
}

// position returns the position of a value in the list; -1 when it is not there.
func (c *choices) position(name string) int {
	if at, ok := c.at[name]; ok {
		return at
	}
	return -1
}

// sheet puts together the records that are shown.
func (s *measurement) sheet(chosen []shownFamily, o *Options) sheet {
	var labels, splits []string
	bad, total := 0, 0
	for _, f := range chosen {
		for _, x := range f.samples {
			if x.Label != "" {
				labels = append(labels, x.Label)
			}
			if x.Split != "" {
				splits = append(splits, x.Split)
			}
			if x.Err != nil {
				bad++
			}
			total++
		}
	}
	m := sheetMaker{labels: newChoices(labels), splits: newChoices(splits), text: textsBudget / max(total, 1), hasImages: s.ImageKey != ""}
	v := sheet{Labels: m.labels.list, Splits: m.splits.list, Shown: total, Note: s.howChosen(total, o)}
	if bad > 0 {
		v.Trouble = plaintext.Count(int64(bad), "record") + " of them cannot be shown: each says why."
	}
	if !m.hasImages {
		m.setColumns(chosen, &v)
	}
	v.Classes, v.ClassesMore = legend(&s.Classes)
	m.classes = newClassChoices(&s.Classes, chosen)
	v.ClassChoices, v.ClassChoicesMore, v.NoObjects = m.classes.list, m.classes.more, m.classes.none
	for _, f := range chosen {
		for i := range f.samples {
			if w := f.samples[i].Drawing; w != nil {
				v.Boxes, v.Masks = v.Boxes || len(w.Boxes) > 0, v.Masks || w.Uri != ""
			}
		}
	}
	for _, f := range chosen {
		switch {
		case !m.hasImages:
			for i := range f.samples {
				v.Rows = append(v.Rows, m.view(&f.samples[i]))
			}
		case len(f.samples) == 1 && f.more == 0:
			v.Singles = append(v.Singles, m.view(&f.samples[0]))
		default:
			v.Families = append(v.Families, m.family(&f))
		}
	}
	return v
}

// howChosen describes the selection of the records that are shown.
func (s *measurement) howChosen(n int, o *Options) string {
	switch {
	case int64(n) == s.Records:
		return "All " + plaintext.Count(s.Records, "record") + "."
	case s.Variants:
		return fmt.Sprintf("%s of %s: a random sample of the originals (seed %d), each with its variants.", plaintext.Grouped(int64(n)), plaintext.Count(s.Records, "record"), o.Seed)
	}
	return fmt.Sprintf("%s of %s: a random sample (seed %d), spread evenly over the shards of each split.", plaintext.Grouped(int64(n)), plaintext.Count(s.Records, "record"), o.Seed)
}

func (m *sheetMaker) family(f *shownFamily) familyView {
	v := familyView{SplitAt: -1, LabelAt: -1}
	for i := range f.samples {
		x := m.view(&f.samples[i])
		if i == 0 {
			v.Key, v.Label, v.LabelAt, v.SplitAt = x.Key, x.Label, x.LabelAt, x.SplitAt
		}
		x.Member = true
		v.Samples = append(v.Samples, x)
	}
	if f.more > 0 {
		v.More = "and " + plaintext.Count(int64(f.more), "more variant")
	}
	return v
}

func (m *sheetMaker) view(x *sample.Record) sampleView {
	keyText := max(40, min(240, m.text/10))
	v := sampleView{
		Key: plaintext.Shown(x.Key, keyText), Label: plaintext.Shown(x.Label, plaintext.MaxKeyText), Split: plaintext.Shown(x.Split, plaintext.MaxKeyText),
		LabelAt: m.labels.position(x.Label), SplitAt: m.splits.position(x.Split),
		Where: plaintext.Shown(fmt.Sprintf("%s, record %d, %s", x.Shard, x.Record, size.Format(int64(x.Size))), plaintext.MaxKeyText),
	}
	if x.Copy != 0 {
		v.Copy, v.Variant = fmt.Sprintf("variant %d", x.Copy), plaintext.Shown(opsText(x.Ops), max(60, min(plaintext.MaxLineText, m.text/6)))
	}
	if x.Err != nil {
		v.Err = plaintext.Shown(x.Err.Error(), min(plaintext.MaxLineText, keyText))
	}
	drawn := 0 // bytes
	if p := x.Image; p != nil {
		v.URI, v.W, v.H = template.URL(p.Uri), p.ShownWidth, p.ShownHeight
		v.Tiny = max(p.ShownWidth, p.ShownHeight) <= sample.Losslessly
		v.Stored = fmt.Sprintf("%d × %d %s, %s", p.Width, p.Height, plaintext.Shown(p.Format, 20), size.Format(int64(p.Bytes)))
		v.Alt = strings.TrimPrefix(v.Label+": "+v.Key, ": ")
		v.Objects, drawn = objectsOf(x.Drawing, p, m.text/2)
		v.Classes = m.classes.of(x.Drawing)
		if x.Copy != 0 {
			v.Alt += fmt.Sprintf(", variant %d", x.Copy)
		}
	}
	if m.columns != nil {
		v.Cells = m.cells(x)
		return v
	}
	left := m.text - drawn - 4*len(v.Key) - 2*len(v.Label) - 2*len(v.Variant) - len(v.Err)
	for _, f := range x.Values {
		one := fact{plaintext.Shown(f.Key, 80), plaintext.Shown(f.Text, 160)}
		if left -= len(one.Name) + len(one.Value) + 40; left < 0 {
			break
		}
		v.Values = append(v.Values, one)
	}
	return v
}

// setColumns finds the features that the table of records has.
func (m *sheetMaker) setColumns(chosen []shownFamily, v *sheet) {
	known := map[string]bool{}
	m.columns = []string{}
	more := 0
	add := func(x *sample.Record) {
		for _, f := range x.Values {
			switch {
			case known[f.Key]:
			case len(m.columns) == maxColumns:
				more++
			default:
				m.columns = append(m.columns, f.Key)
				v.Columns = append(v.Columns, plaintext.Shown(f.Key, plaintext.MaxKeyText))
			}
			known[f.Key] = true
		}
	}
	for _, f := range chosen {
		for i := range f.samples {
			add(&f.samples[i])
		}
	}
	if more > 0 {
		v.ColumnsMore = plaintext.Count(int64(more), "more feature") + " of these records: tfrec cat shows them."
	}
}

// cells are the values of a record, a cell for each column.
func (m *sheetMaker) cells(x *sample.Record) []string {
	text := max(16, min(plaintext.MaxKeyText, m.text/max(1, len(m.columns))-20))
	cells := make([]string, len(m.columns))
	for i, key := range m.columns {
		for _, f := range x.Values {
			if f.Key == key {
				cells[i] = plaintext.Shown(f.Text, text)
			}
		}
	}
	return cells
}
