package card

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/manifest"
)

// readme returns README.md.
func (c *Card) readme() ([]byte, error) {
	header, err := c.header()
	if err != nil {
		return nil, fmt.Errorf("the header of %s: %w", manifest.CardFile, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s---\n\n# %s\n\n%s\n", header, plain(c.title()), strings.TrimSpace(c.description()))
	for _, s := range []struct{ title, text string }{
		{"Samples", c.samplesText()},
		{"Splits", c.splitsText()},
		{"Features", c.featuresText()},
		{"Labels", c.labelsText()},
		{"Use", c.useText()},
		{"Origin", c.originText()},
		{"License", licenseText(c.Facts.License)},
		{"Citation", c.citationText()},
	} {
		if s.text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s", s.title, s.text)
		}
	}
	return []byte(b.String()), nil
}

func (c *Card) samplesText() string {
	if c.Samples == nil {
		return ""
	}
	return fmt.Sprintf("![Samples of the images](%s)\n", manifest.SamplesFile)
}

func (c *Card) splitsText() string {
	t := newTable("split", "records:", "shards:", "size:")
	for _, s := range c.Manifest.Splits {
		t.add(plain(s.Name), strconv.FormatInt(s.Records, 10), strconv.Itoa(len(s.Shards)), size.Format(splitBytes(s)))
	}
	return t.String()
}

func (c *Card) featuresText() string {
	if len(c.Manifest.Features) == 0 {
		return ""
	}
	t := newTable("feature", "values", "kind", "shape")
	for _, f := range c.Manifest.Features {
		values := plain(string(f.Class))
		if f.Encoding != "" {
			values += ", " + plain(f.Encoding)
		}
		if f.Optional {
			values += ", optional"
		}
		t.add(plain(f.Key), values, plain(f.Kind), shapeText(f.Shape))
	}
	return t.String()
}

// shapeText writes a shape such as "32 × 32 × 3". A dimension that varies is a question mark.
func shapeText(shape []int) string {
	sizes := make([]string, len(shape))
	for i, n := range shape {
		if sizes[i] = "?"; n >= 0 {
			sizes[i] = strconv.Itoa(n)
		}
	}
	return strings.Join(sizes, " × ")
}

func (c *Card) labelsText() string {
	labels := c.labels()
	if len(labels) == 0 {
		return ""
	}
	columns := []string{"label", "id:"}
	shown := 0 // splits
	if counted(labels) {
		shown = min(len(c.Manifest.Splits), 20)
	}
	for _, s := range c.Manifest.Splits[:shown] {
		columns = append(columns, plain(s.Name)+":")
	}
	t := newTable(columns...)
	for _, l := range labels {
		cells := []string{plain(l.name), ""}
		if l.id >= 0 {
			cells[1] = strconv.Itoa(l.id)
		}
		for i := range shown {
			n := int64(0)
			if l.counts != nil {
				n = l.counts[i]
			}
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		t.add(cells...)
	}
	return t.String()
}

// useText shows how to read the set from the directory that has the card.
func (c *Card) useText() string {
	m := c.Manifest
	about := "The shards are TFRecord files"
	if m.Compression != "none" && m.Compression != "" {
		about += ", compressed as " + plain(m.Compression)
	}
	if m.Records != "" {
		about += fmt.Sprintf(". Each record is a `%s`", manifest.RecordExample)
	}
	text := about + ".\n\n" + fenced("sh", "tfrec verify .             # check every record\ntfrec inspect . --emit tf  # a program that reads them")
	if files, err := manifest.EncodeTFDS(m); err == nil && files != nil {
		text += "\n" + fenced("python", "import tensorflow_datasets as tfds\n\nbuilder = tfds.builder_from_directory(\".\")")
	}
	return text
}

func (c *Card) originText() string {
	m := c.Manifest
	var b strings.Builder
	switch source := c.Facts.Source; {
	case isURL(source):
		fmt.Fprintf(&b, "Source: <%s>\n\n", address(source))
	case source != "":
		fmt.Fprintf(&b, "Source: %s\n\n", strings.TrimSpace(source))
	}
	if c.Command != "" {
		fmt.Fprintf(&b, "Made with %s by this command, where SRC is the source:\n\n%s\n", plain(m.Tool), fenced("sh", c.Command))
	} else if m.Tool != "" {
		fmt.Fprintf(&b, "Made with %s.\n\n", plain(m.Tool))
	}
	t := newTable("", "")
	for _, row := range [][2]string{
		{"seed", strconv.FormatUint(m.Seed, 10)}, {"fingerprint", m.Fingerprint},
		{"JPEG decoder", m.Decoder}, {"JPEG encoder", m.Encoder}, {"manifest.json, SHA-256", c.ManifestSHA256},
	} {
		if row[1] != "" {
			t.add(row[0], plain(row[1]))
		}
	}
	return b.String() + t.String()
}

func licenseText(license string) string {
	page := licensePage(license)
	switch {
	case license == "":
		return ""
	case page == license && isURL(page):
		return fmt.Sprintf("<%s>\n", address(page))
	case isURL(page):
		name, _ := knownLicense(license)
		return fmt.Sprintf("[%s](%s)\n", name, page)
	}
	return plain(license) + "\n"
}

func (c *Card) citationText() string {
	if c.Facts.Citation == "" {
		return ""
	}
	return fenced("", c.Facts.Citation)
}

// address returns a URL for a link in angle brackets.
func address(url string) string {
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "%0A", "\r", "%0D").Replace(url)
}
