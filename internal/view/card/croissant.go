package card

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

const (
	// maxFileObjects is the number of shards up to which each is a FileObject. The shards of larger
	// sets are FileSets only; their hashes are in manifest.json.
	maxFileObjects = 10_000
	// tfrecordFormat stands for a media type, which TFRecord files do not have.
	tfrecordFormat = "https://www.tensorflow.org/tutorials/load_data/tfrecord"
	// parquetFormat is the name by which mlcroissant recognises Parquet, before IANA had one.
	parquetFormat = "application/x-parquet"
)

// croissant returns croissant.json.
func (c *Card) croissant() ([]byte, error) {
	f := &c.Facts
	d := dataset{
		Context: jsonldContext, Type: "sc:Dataset", ConformsTo: conformsTo,
		Name: c.title(), Description: jsontext.Readable(c.description()),
		License: licensePage(f.License), URL: f.URL, DatePublished: f.Published,
		Version: cmp.Or(f.Version, "1.0.0"), CiteAs: f.Citation, IsBasedOn: f.Source,
		Distribution: c.distribution(), RecordSets: c.recordSets(),
	}
	if f.Creator != "" {
		d.Creator = &agent{"sc:Organization", f.Creator}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("%s: %w", manifest.CroissantFile, err)
	}
	return b.Bytes(), nil
}

// distribution returns the files: the manifest, the shards, the shards of each split as a set, and
// the exports.
func (c *Card) distribution() []resource {
	list := []resource{fileObject(manifest.File, "application/json", c.ManifestBytes, c.ManifestSHA256)}
	var names []string
	for _, s := range c.Manifest.Splits {
		for _, info := range s.Shards {
			names = append(names, info.File)
		}
	}
	if len(names) <= maxFileObjects {
		for _, s := range c.Manifest.Splits {
			for _, info := range s.Shards {
				list = append(list, fileObject(info.File, tfrecordFormat, info.Bytes, info.SHA256))
			}
		}
	}
	for _, s := range c.Manifest.Splits {
		if len(s.Shards) > 0 {
			list = append(list, splitFiles(s, names))
		}
	}
	for _, t := range c.Tables {
		list = append(list, fileObject(t.Name, parquetFormat, t.Bytes, t.SHA256))
	}
	return list
}

func fileObject(name, format string, size int64, sum string) resource {
	return resource{
		Type: "cr:FileObject", ID: idOf(name), Name: jsontext.Readable(name), ContentURL: idOf(name),
		ContentSize: fmt.Sprintf("%d B", size), EncodingFormat: format, SHA256: sum,
	}
}

// splitFiles returns the shards of a split as a FileSet. all are the names of all shards.
func splitFiles(s manifest.Split, all []string) resource {
	own := make([]string, len(s.Shards))
	for i, info := range s.Shards {
		own[i] = info.File
	}
	return resource{
		Type: "cr:FileSet", ID: "split/" + idOf(s.Name), Name: jsontext.Readable(s.Name),
		Description:    fmt.Sprintf("%s of the split %s", plural.Of(s.Records, "record"), jsontext.Readable(s.Name)),
		EncodingFormat: tfrecordFormat, Includes: patterns(own, all),
	}
}

// patterns returns glob patterns that match some names of a list and no others: one pattern if their
// common beginning and end distinguish them, otherwise each name.
func patterns(own, all []string) []string {
	if len(own) > 1 {
		begin := common(own, strings.HasPrefix, func(s string) string { return s[:len(s)-1] })
		end := common(cutAll(own, len(begin)), strings.HasSuffix, func(s string) string { return s[1:] })
		matched := 0
		for _, name := range all {
			if rest, ok := strings.CutPrefix(name, begin); ok && strings.HasSuffix(rest, end) {
				matched++
			}
		}
		if matched == len(own) {
			return []string{globOf(begin) + "*" + globOf(end)}
		}
	}
	list := make([]string, len(own))
	for i, name := range own {
		list[i] = globOf(name)
	}
	return list
}

// common shortens the first name until all names have it, as has reports.
func common(names []string, has func(name, part string) bool, shorten func(string) string) string {
	part := names[0]
	for _, name := range names[1:] {
		for !has(name, part) {
			part = shorten(part)
		}
	}
	return part
}

// cutAll removes the first n bytes of each name.
func cutAll(names []string, n int) []string {
	cut := make([]string, len(names))
	for i, name := range names {
		cut[i] = name[n:]
	}
	return cut
}

// globOf returns a pattern that matches only this text.
func globOf(s string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(jsontext.Readable(s))
}

// idOf returns a name as a relative IRI that no other name has, and which resolves to itself: bytes
// other than letters, digits and some punctuation are percent-encoded, as are the slashes and dots
// that would change the path.
func idOf(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.Trim(part, ".") == "" {
			parts[i] = strings.Repeat("%2E", len(part))
			continue
		}
		parts[i] = encoded(part)
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			separator := "/"
			if part == "" || parts[i-1] == "" {
				separator = "%2F"
			}
			b.WriteString(separator)
		}
		b.WriteString(part)
	}
	return b.String()
}

func encoded(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch x := s[i]; {
		case 'a' <= x && x <= 'z', 'A' <= x && x <= 'Z', '0' <= x && x <= '9', strings.IndexByte("-._~", x) >= 0:
			b.WriteByte(x)
		default:
			fmt.Fprintf(&b, "%%%02X", x)
		}
	}
	return b.String()
}
