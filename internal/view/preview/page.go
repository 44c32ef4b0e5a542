package preview

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/shard/stats"
)

// Limits on texts, in bytes of HTML, and on rows of tables.
const (
	maxShards   = 200
	maxFaults   = 50
	maxRows     = 120 // of features
	maxCards    = 48
	maxOptions  = 60
	maxShownTop = 4
	maxColumns  = 12 // of the table of records
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// pageTemplate is parsed when it is used: every command would wait for it at its start.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageHTML))
})

// page is the data for the template. All texts are fit to be shown.
type page struct {
	Policy string // content security policy
	CSS    template.CSS
	JS     template.JS

	Title, Tool      string
	Facts            []fact
	Verdict, Checked string
	OK               bool

	Command string
	Origin  []fact
	Options []fact

	sheet
	// Balance counts records by label, and Objects objects by class.
	Balance  *balance
	Objects  *balance
	Plots    []*histogram
	Pixels   string
	Cards    []card
	Features []featureRow
	// Notes on omitted features and cards.
	FeaturesMore, CardsMore string

	Shards     []shardRow
	ShardsMore string
	Faults     []string
	FaultsMore string
}

// fact is a name and a value.
type fact struct{ Name, Value string }

// page puts together all that is shown.
func (s *measurement) page(chosen []shownFamily, o *Options) *page {
	p := &page{
		Policy: policy(), CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Title: plaintext.Shown(s.origin.name, plaintext.MaxKeyText), Tool: o.Tool,
		sheet:   s.sheet(chosen, o),
		Balance: s.balanceOf(),
		Objects: s.objectBalance(),
		Command: plaintext.Shown(o.Command, MaxCommand+len(plaintext.Ellipsis)),
	}
	p.Facts = s.facts()
	p.setVerdict(s)
	p.setOrigin(&s.origin)
	p.setPlots(s)
	p.setFeatures(s)
	if len(p.Families)+len(p.Singles) == 0 {
		p.setCards(s)
	}
	p.setShards(s)
	return p
}

// policy lets the page's own script and style run, and data: images load.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageCSS) + "; script-src " + hash(pageJS) +
		"; base-uri 'none'; form-action 'none'"
}

func (p *page) render() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, p); err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	if b.Len() >= MaxPage {
		return nil, fmt.Errorf("the page takes %s, more than %s: show fewer records (--samples)", size.Format(int64(b.Len())), size.Format(MaxPage))
	}
	return b.Bytes(), nil
}

// facts summarises the set.
func (s *measurement) facts() []fact {
	st := s.stats
	list := []fact{
		{"Records", plaintext.Grouped(st.Records)},
		{"Files", plaintext.Grouped(int64(len(st.Files)))},
		{"Size", size.Format(st.Bytes)},
	}
	for _, sentence := range s.partial {
		list = append(list, fact{"Only a part", plaintext.Shown(sentence, plaintext.MaxLineText)})
	}
	records := map[string]int64{}
	var splits []string
	for _, f := range s.Files {
		if _, known := records[f.Split]; !known {
			splits = append(splits, f.Split)
		}
		records[f.Split] += f.Records
	}
	if len(splits) > 1 || splits[0] != "" {
		var says []string
		for _, split := range splits[:min(len(splits), plaintext.MaxCounts)] {
			name := split
			if name == "" {
				name = "no split"
			}
			says = append(says, plaintext.Shown(name, plaintext.MaxKeyText)+" "+plaintext.Grouped(records[split]))
		}
		list = append(list, fact{"Splits", plaintext.AndMore(says, len(splits))})
	}
	if st.Compression["none"] != int64(len(st.Files)) {
		list = append(list, fact{"Compression", countsText(st.Compression)})
	}
	if st.Records > 0 && st.Messages["tf.train.Example"] != st.Records {
		list = append(list, fact{"Messages", countsText(st.Messages)})
	}
	if f := s.imageStats(); f != nil {
		list = append(list, fact{"Images", plaintext.Grouped(f.Count) + " (" + countsText(f.Formats) + ")"})
	}
	if o := st.Objects; o != nil {
		says := plaintext.Grouped(o.Objects)
		if o.Empty > 0 {
			says += " (" + plaintext.Count(o.Empty, "image") + " without)"
		}
		list = append(list, fact{"Objects", says})
	}
	return list
}

// countsText lists counts by name: a name alone when there is but one.
func countsText(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 1 {
		return plaintext.Shown(names[0], plaintext.MaxKeyText)
	}
	for i, name := range names {
		names[i] = plaintext.Shown(name, plaintext.MaxKeyText) + " " + plaintext.Grouped(counts[name])
	}
	return plaintext.AndMore(names[:min(len(names), plaintext.MaxCounts)], len(names))
}

// imageStats returns what was measured of the images that are shown.
func (s *measurement) imageStats() *stats.Images {
	for _, list := range [][]stats.Feature{s.stats.Features, s.stats.FeatureLists} {
		for i := range list {
			if list[i].Key == s.ImageKey && list[i].Images != nil {
				return list[i].Images
			}
		}
	}
	return nil
}

func (p *page) setOrigin(o *origin) {
	for _, f := range []fact{{"Written by", o.tool}, {"Decoder", o.decoder}, {"Encoder", o.encoder}, {"Fingerprint", o.fingerprint}} {
		if f.Value != "" {
			p.Origin = append(p.Origin, fact{f.Name, plaintext.Shown(f.Value, plaintext.MaxKeyText)})
		}
	}
	if o.errors > 0 {
		p.Origin = append(p.Origin, fact{"Left out", plaintext.Count(o.errors, "sample") + " that could not be used: errors.jsonl lists them"})
	}
	for _, x := range o.options[:min(len(o.options), maxOptions)] {
		p.Options = append(p.Options, fact{plaintext.Shown(x.name, plaintext.MaxKeyText), plaintext.Shown(x.value, plaintext.MaxLineText)})
	}
}

// setPlots draws the sizes of records and images.
func (p *page) setPlots(s *measurement) {
	add := func(h *histogram) {
		if h != nil {
			p.Plots = append(p.Plots, h)
		}
	}
	if f := s.imageStats(); f != nil {
		add(newHistogram("Image width", "px", f.Width))
		add(newHistogram("Image height", "px", f.Height))
		if x := f.Pixels; x != nil && x.Images > x.Damaged {
			of := "all images"
			if x.Sampled {
				of = "a sample of " + plaintext.Count(x.Images, "image")
			}
			p.Pixels = fmt.Sprintf("Pixels of %s: --mean %.4f,%.4f,%.4f --std %.4f,%.4f,%.4f", of,
				x.Mean[0], x.Mean[1], x.Mean[2], x.Std[0], x.Std[1], x.Std[2])
		}
	}
	if o := s.stats.Objects; o != nil {
		add(newHistogram("Objects of an image", "", o.PerImage))
		add(newHistogram("Area of a box", "share of the image", o.Area))
		add(newHistogram("Width of a box", "heights", o.Aspect))
	}
	add(newHistogram("Record size", "bytes", s.stats.RecordBytes))
}
