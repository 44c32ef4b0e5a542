package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

// Card is a set with all that its card shows.
type Card struct {
	Manifest *manifest.Manifest
	// ManifestSHA256 and ManifestBytes describe the manifest's file.
	ManifestSHA256 string
	ManifestBytes  int64
	// Facts are properties that the manifest does not have, such as the license.
	Facts Facts
	// Command is the command that made the set. Default: none is shown.
	Command string
	// Samples is the contact sheet that the card shows, as PNG. Default: none.
	Samples []byte
	// Tables are exports of the set as Parquet. Default: none; Croissant then describes files, and
	// no records.
	Tables []Table
}

// File is a file of a card, by its name in the directory of the card.
type File struct {
	Name string
	Data []byte
}

// Files returns the files of the card.
func (c *Card) Files() ([]File, error) {
	readme, err := c.readme()
	if err != nil {
		return nil, err
	}
	croissant, err := c.croissant()
	if err != nil {
		return nil, err
	}
	files := []File{{manifest.CardFile, readme}, {manifest.CroissantFile, croissant}}
	if c.Samples != nil {
		files = append(files, File{manifest.SamplesFile, c.Samples})
	}
	return files, nil
}

// title returns the title of the card.
func (c *Card) title() string {
	return jsontext.Readable(cmp.Or(c.Facts.Title, c.Manifest.Name, "Dataset"))
}

// description returns the stated description, or one of the figures.
func (c *Card) description() string {
	if c.Facts.Description != "" {
		return c.Facts.Description
	}
	records, shards, _ := c.totals()
	return fmt.Sprintf("%s in %s of TFRecords.", plural.Of(records, "record"), plural.Of(shards, "shard"))
}

// recordsOf returns the number of records of a set.
func recordsOf(m *manifest.Manifest) (n int64) {
	for _, s := range m.Splits {
		n += s.Records
	}
	return n
}

// totals returns the number of records, shards and bytes of the set.
func (c *Card) totals() (records int64, shards int, bytes int64) {
	for _, s := range c.Manifest.Splits {
		records += s.Records
		shards += len(s.Shards)
		bytes += splitBytes(s)
	}
	return records, shards, bytes
}

// splitBytes returns the size of the shards of a split.
func splitBytes(s manifest.Split) (n int64) {
	for _, info := range s.Shards {
		n += info.Bytes
	}
	return n
}

// isURL reports whether a fact is the URL of a page.
func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}
