package card

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/manifest"
)

// header returns the YAML between the lines of --- that begin a dataset card.
func (c *Card) header() ([]byte, error) {
	records, _, _ := c.totals()
	h := new(mapping)
	c.addLicense(h)
	h.add("pretty_name", quoted(c.title()))
	h.add("size_categories", sequence(scalar(sizeCategory(records))))
	if info := c.datasetInfo(); len(info.Content) > 0 {
		h.add("dataset_info", info.node())
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(h.node()); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// addLicense adds the license by its identifier, or as another one with its name or page.
func (c *Card) addLicense(h *mapping) {
	license := c.Facts.License
	name, known := knownLicense(license)
	switch {
	case license == "":
	case known:
		h.add("license", quoted(strings.ToLower(name)))
	case isURL(license):
		h.add("license", scalar("other"))
		h.add("license_link", quoted(license))
	default:
		h.add("license", scalar("other"))
		h.add("license_name", quoted(license))
	}
}

// sizeCategory returns the name that Hugging Face has for a number of records.
func sizeCategory(n int64) string {
	names := []string{"1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"}
	limit := int64(1000)
	for i, name := range names {
		switch {
		case n >= limit:
		case i == 0:
			return "n<" + name
		default:
			return names[i-1] + "<n<" + name
		}
		limit *= 10
	}
	return "n>1T"
}

// datasetInfo describes features and splits, each unless there are too many to list all of them.
func (c *Card) datasetInfo() *mapping {
	m, info := c.Manifest, new(mapping)
	if n := len(m.Features); n > 0 && n <= maxRows {
		list := sequence()
		names := c.classNames(maxRows)
		for _, f := range m.Features {
			list.Content = append(list.Content, hubFeature(f, names).node())
		}
		info.add("features", list)
	}
	if n := len(m.Splits); n > 0 && n <= maxRows {
		list := sequence()
		for _, s := range m.Splits {
			split := new(mapping)
			split.add("name", quoted(s.Name))
			split.add("num_bytes", number(splitBytes(s)))
			split.add("num_examples", number(s.Records))
			list.Content = append(list.Content, split.node())
		}
		info.add("splits", list)
	}
	if len(info.Content) > 0 {
		_, _, size := c.totals()
		info.add("dataset_size", number(size))
	}
	return info
}

// hubFeature describes a feature as Hugging Face's library for datasets does in YAML.
func hubFeature(f manifest.Feature, classes []string) *mapping {
	m := new(mapping)
	m.add("name", quoted(f.Key))
	element := hubType(f, classes)
	if (f.Class != manifest.ClassVector && f.Class != manifest.ClassLabel && f.Class != manifest.ClassText) || len(f.Shape) == 0 {
		m.add("dtype", element)
		return m
	}
	for i := len(f.Shape) - 1; i >= 0; i-- { // a sequence for each dimension, the last one inside
		level := m
		if i > 0 {
			level = new(mapping)
		}
		level.add("sequence", element)
		if n := f.Shape[i]; n > 0 {
			level.add("length", number(int64(n)))
		}
		element = level.node()
	}
	return m
}

// hubType returns the type of the values of a feature.
func hubType(f manifest.Feature, classes []string) *yaml.Node {
	switch {
	case f.Class == manifest.ClassImage:
		return scalar("image")
	case f.Class == manifest.ClassLabel && f.Kind == "int64" && classes != nil:
		names := new(mapping)
		for id, name := range classes {
			names.Content = append(names.Content, quoted(strconv.Itoa(id)), quoted(name))
		}
		class, label := new(mapping), new(mapping)
		class.add("names", names.node())
		label.add("class_label", class.node())
		return label.node()
	case f.Kind == "int64":
		return scalar("int64")
	case f.Kind == "float":
		return scalar("float32")
	case f.Class == manifest.ClassText:
		return scalar("string")
	}
	return scalar("binary")
}

// mapping is a mapping of YAML whose keys keep their order.
type mapping struct{ Content []*yaml.Node }

func (m *mapping) add(key string, value *yaml.Node) {
	m.Content = append(m.Content, scalar(key), value)
}

func (m *mapping) node() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Content: m.Content} }

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// scalar is a word of this package.
func scalar(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func number(n int64) *yaml.Node { return scalar(strconv.FormatInt(n, 10)) }

// quoted is text from elsewhere: a string of YAML on one line, whatever is in it.
func quoted(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: jsontext.Readable(s)}
}
