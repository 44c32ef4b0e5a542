package card

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/plural"
)

// Facts are what people state about a set. An empty fact is left out of the card.
type Facts struct {
	// Title of the card. Default: the name of the set.
	Title string
	// Description is Markdown. Default: a sentence with the number of records and shards.
	Description string
	// License is an SPDX identifier, a URL or a name.
	License string
	// Source is where the raw data come from, a URL or text.
	Source string
	// Citation is text, such as an entry of BibTeX.
	Citation string
	// Creator is the name of the organization that made the set.
	Creator string
	// URL is the page of the set.
	URL string
	// Published is a date, YYYY-MM-DD.
	Published string
	// Version of the set. Default: 1.0.0, as in dataset_info.json.
	Version string
}

// ParseFacts reads facts in YAML, a mapping with the lower-case names of the fields of Facts.
func ParseFacts(data []byte) (Facts, error) {
	var f Facts
	var document yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&document); err != nil {
		if err == io.EOF { // an empty file
			return f, nil
		}
		return f, err
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return f, errors.New("want one document")
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return f, fmt.Errorf("line %d: want names of facts with their text, such as license: MIT", root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := f.set(root.Content[i], root.Content[i+1]); err != nil {
			return Facts{}, err
		}
	}
	return f, f.Check()
}

// set sets one fact of a file.
func (f *Facts) set(name, value *yaml.Node) error {
	all := f.fields()
	at := slices.IndexFunc(all, func(known fact) bool { return known.name == name.Value })
	switch {
	case at < 0:
		names := make([]string, len(all))
		for i, known := range all {
			names[i] = known.name
		}
		return fmt.Errorf("line %d: %q is not a fact: want %s", name.Line, name.Value, plural.OneOf(names))
	case value.Kind != yaml.ScalarNode:
		return fmt.Errorf("line %d: %s: want text", value.Line, name.Value)
	case *all[at].value != "":
		return fmt.Errorf("line %d: %s was already given", name.Line, name.Value)
	case value.Tag != "!!null":
		*all[at].value = value.Value
	}
	return nil
}

// Check returns an error if a fact is not in the form that the files need.
func (f *Facts) Check() error {
	if u, err := url.Parse(f.URL); f.URL != "" && (err != nil || !isURL(f.URL) || u.Host == "") {
		return fmt.Errorf("url: %q: want the address of a page, such as https://example.org/flowers", f.URL)
	}
	if _, err := time.Parse(time.DateOnly, f.Published); f.Published != "" && err != nil {
		return fmt.Errorf("published: %q: want a date such as 2026-01-31", f.Published)
	}
	return nil
}

// Or returns the facts with those of others where they are empty.
func (f Facts) Or(others Facts) Facts {
	from := others.fields()
	for i, fact := range f.fields() {
		if *fact.value == "" {
			*fact.value = *from[i].value
		}
	}
	return f
}

type fact struct {
	name  string
	value *string
}

func (f *Facts) fields() []fact {
	return []fact{
		{"title", &f.Title}, {"description", &f.Description}, {"license", &f.License},
		{"source", &f.Source}, {"citation", &f.Citation}, {"creator", &f.Creator},
		{"url", &f.URL}, {"published", &f.Published}, {"version", &f.Version},
	}
}

// Missing returns the names of the empty facts that Croissant wants in every description.
func (f Facts) Missing() []string {
	missing := []string{}
	for _, fact := range f.fields() {
		wanted := slices.Contains([]string{"license", "url", "creator", "published", "citation"}, fact.name)
		if wanted && *fact.value == "" {
			missing = append(missing, fact.name)
		}
	}
	return missing
}
