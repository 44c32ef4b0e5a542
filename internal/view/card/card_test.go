package card

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/manifest"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// imageSet, tableSet and boxSet are cards of small sets.
func imageSet() *Card {
	return &Card{
		Manifest: &manifest.Manifest{
			Name: "flowers", Tool: "tfrec 0.1.0", Seed: 7, Fingerprint: "bb88", Decoder: "tfrec 1", Encoder: "tfrec 1", Compression: "none", Records: manifest.RecordExample,
			Features: []manifest.Feature{
				{Key: "image/class/label", Kind: "int64", Class: manifest.ClassLabel},
				{Key: "image/encoded", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{32, 32, 3}, DType: "uint8", Encoding: "jpeg"},
				{Key: "image/filename", Kind: "bytes", Class: manifest.ClassText},
			},
			Labels: []string{"daisy", "roses"},
			Splits: []manifest.Split{
				{Name: "train", Records: 5, Shards: []manifest.Shard{
					{File: "flowers-train.tfrecord-00000-of-00002", Records: 2, Bytes: 2000, SHA256: "aa", Labels: map[string]int64{"daisy": 2}},
					{File: "flowers-train.tfrecord-00001-of-00002", Records: 3, Bytes: 3000, SHA256: "bb", Labels: map[string]int64{"daisy": 1, "roses": 2}},
				}},
				{Name: "val", Records: 1, Shards: []manifest.Shard{
					{File: "flowers-val.tfrecord-00000-of-00001", Records: 1, Bytes: 1000, SHA256: "cc", Labels: map[string]int64{"roses": 1}},
				}},
			},
		},
		ManifestSHA256: "dd", ManifestBytes: 4000, Samples: []byte("png"),
		Command: "tfrec convert images SRC OUT --resize 32x32",
		Facts: Facts{
			Title: "Flowers", Description: "Two kinds of flowers.", License: "cc-by-4.0", Source: "https://example.org/raw",
			Citation: "@misc{flowers}", Creator: "Example Lab", URL: "https://example.org/flowers", Published: "2026-01-31", Version: "1.2.0",
		},
		Tables: []Table{{Name: "flowers.parquet", Bytes: 5000, SHA256: "ee", Rows: 6, Columns: []table.Column{
			{Name: "image/class/label", Kind: table.Int64, Length: 1}, {Name: "image/encoded", Kind: table.Bytes, Length: 1}, {Name: "image/filename", Kind: table.Bytes, Length: 1},
		}}},
	}
}

func tableSet() *Card {
	return &Card{Manifest: &manifest.Manifest{
		Name: "penguins", Tool: "tfrec 0.1.0", Compression: "gzip",
		Features: []manifest.Feature{
			{Key: "matrix", Kind: "float", Class: manifest.ClassVector, Shape: []int{-1, 3}},
			{Key: "species", Kind: "bytes", Class: manifest.ClassText},
			{Key: "year", Kind: "int64", Class: manifest.ClassScalar, Optional: true},
		},
		Splits: []manifest.Split{{Name: "train", Records: 1500, Shards: []manifest.Shard{{File: "penguins-train.tfrecord-00000-of-00001.gz", Records: 1500, Bytes: 9, SHA256: "aa"}}}},
	}}
}

func boxSet() *Card {
	c := &Card{Manifest: &manifest.Manifest{
		Name: "boxes", Compression: "none", LabelMap: true, Labels: []string{"", "cat", "", "dog"},
		Features: []manifest.Feature{
			{Key: "image/encoded", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{-1, -1, 3}},
			{Key: "image/object/bbox/xmin", Kind: "float", Class: manifest.ClassVector, Shape: []int{-1}},
			{Key: "image/object/class/label", Kind: "int64", Class: manifest.ClassLabel, Shape: []int{-1}},
		},
		Splits: []manifest.Split{{Name: "all", Records: 2, Shards: []manifest.Shard{{File: "b.tfrecord", Records: 2, Bytes: 9, SHA256: "aa"}}}},
	}}
	for _, part := range []string{"a", "b"} {
		c.Tables = append(c.Tables, Table{Name: "export/" + part + ".parquet", Rows: 1, Columns: []table.Column{
			{Name: "image/encoded", Kind: table.Bytes, Length: 1}, {Name: "image/object/bbox/xmin", Kind: table.Float, List: true}, {Name: "image/object/class/label", Kind: table.Int64, List: true},
		}})
	}
	return c
}

// made returns the files of a card by name.
func made(t *testing.T, c *Card) map[string]string {
	t.Helper()
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, f := range files {
		byName[f.Name] = string(f.Data)
	}
	return byName
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]*Card{"images": imageSet(), "table": tableSet(), "boxes": boxSet()} {
		files := made(t, c)
		delete(files, manifest.SamplesFile)
		for file, got := range files {
			path := filepath.Join("testdata", name+"."+file)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != got {
				t.Errorf("%s differs (go test ./internal/view/card -update writes it): %v\n%s", path, err, got)
			}
		}
	}
}

// A card states nothing that its caller did not: above all no license.
func TestNoFacts(t *testing.T) {
	c := imageSet()
	c.Facts = Facts{}
	files := made(t, c)
	for _, word := range []string{"license", "License", "spdx", "creator", "Citation", "citeAs\": \"@", "isBasedOn", "datePublished"} {
		if strings.Contains(files[manifest.CardFile], word) || strings.Contains(strings.ReplaceAll(files[manifest.CroissantFile], `"citeAs": "cr:citeAs"`, ""), word) {
			t.Errorf("without facts, the card has %q", word)
		}
	}
	if missing := c.Facts.Missing(); len(missing) != 5 {
		t.Errorf("missing facts: %q", missing)
	}
}

// hostile are names that would be markup, or break a header or a table.
var hostile = []string{
	"a|b", `a\|b`, `\`, "`x`", "<script>alert(1)</script>", "[x](http://evil.example)", "![x](y)", "www.evil.example", "a@evil.example", "https://evil.example",
	"---", "\n---\n# x", "yes", "null", "0x1f", "1:20", "# x", "- x", "&amp;", "* x", "$x$", "é日本𝄞", "\u2028", "\u0085", "\xff\xfe", "\x00\x1b[2J", "\u202ex", "~", "", " ", "{a: b}", "'", `"`, "!!int 1", "%x", "\ufeff", strings.Repeat("long", 1000),
}

func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		c := imageSet()
		m := c.Manifest
		m.Name, c.Facts.Title = name, name
		m.Labels = []string{"daisy", name}
		m.Splits[0].Name = name
		m.Splits[0].Shards[0].Labels = map[string]int64{name: 2}
		m.Features[2].Key = name
		c.Tables[0].Columns[2].Name = name
		files := made(t, c)
		checkReadme(t, name, files[manifest.CardFile])
		var d map[string]any
		if err := json.Unmarshal([]byte(files[manifest.CroissantFile]), &d); err != nil {
			t.Errorf("%.60q: %v", name, err)
		}
		for _, id := range regexp.MustCompile(`"@id": "([^"]*)"`).FindAllStringSubmatch(files[manifest.CroissantFile], -1) {
			if !regexp.MustCompile(`^(cr:\w+|[A-Za-z0-9._~%/-]+)$`).MatchString(id[1]) {
				t.Errorf("%.60q: @id %q", name, id[1])
			}
		}
	}
}

// checkReadme wants the header to be YAML with the name as text, and the rest to be free of markup
// that the name would be.
func checkReadme(t *testing.T, name, readme string) {
	t.Helper()
	parts := regexp.MustCompile(`(?s)\A---\n(.*?)\n---\n(.*)\z`).FindStringSubmatch(readme)
	if parts == nil {
		t.Fatalf("%q: no header:\n%s", name, readme)
	}
	var h struct {
		Info struct {
			Features []struct{ Name any }
			Splits   []struct{ Name any }
		} `yaml:"dataset_info"`
	}
	if err := yaml.Unmarshal([]byte(parts[1]), &h); err != nil {
		t.Fatalf("%q: %v", name, err)
	}
	readable := map[string]string{"\xff\xfe": `\xff\xfe`}[name]
	if readable == "" {
		readable = name
	}
	if got := h.Info.Features[2].Name; got != readable || h.Info.Splits[0].Name != readable {
		t.Errorf("%.60q: the header has %q", name, got)
	}
	for line := range strings.Lines(parts[2]) {
		bars := strings.Count(line, "|")
		if strings.HasPrefix(line, "|") && !slices.Contains([]int{3, 5}, bars) {
			t.Errorf("%.60q: a row with %d bars: %s", name, bars, line)
		}
	}
	for _, markup := range []string{"<script", "](http://evil", "![x]", "a@evil", " www.", " https://evil", "\x00", "\x1b", "\u202e"} {
		if strings.Contains(parts[2], markup) {
			t.Errorf("%.60q: the card has %q", name, markup)
		}
	}
}

func TestManyLabels(t *testing.T) {
	c := imageSet()
	for i := range 20_000 {
		c.Manifest.Labels = append(c.Manifest.Labels, fmt.Sprint("label", i))
	}
	files := made(t, c)
	readme := files[manifest.CardFile]
	if !strings.Contains(readme, "\nand 19002 more\n") || strings.Contains(readme, "class_label") || strings.Contains(files[manifest.CroissantFile], "sc:Enumeration") {
		t.Error("20,002 labels are not cut to 1,000 rows, or listed elsewhere")
	}
	if len(readme) > 100_000 {
		t.Errorf("the card has %d bytes", len(readme))
	}
}

func TestPatterns(t *testing.T) {
	all := []string{"v-a-0", "v-a-1", "v-ab-0", "[x]*-0", "[x]*-1"}
	for _, c := range []struct{ own, want []string }{
		{all[:2], []string{"v-a-*"}}, {all[:1], []string{"v-a-0"}}, {[]string{"v-a-0", "v-ab-0"}, []string{"v-a*-0"}},
		{[]string{"v-a-0", "[x]*-1"}, []string{"v-a-0", "[[]x][*]-1"}}, {all[3:], []string{"[[]x][*]-*"}},
	} {
		if got := patterns(c.own, all); !slices.Equal(got, c.want) {
			t.Errorf("%.60q: %q, want %q", c.own, got, c.want)
		}
	}
}

func TestIDs(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "a", "a/b", "a//b", "/a", "a/", ".", "..", "a/../b", "a%2Fb", "a b", "a:b", "%", "é"} {
		id := idOf(name)
		if other, taken := seen[id]; taken {
			t.Errorf("%q and %q have the id %s", name, other, id)
		}
		seen[id] = name
	}
	if got := idOf("image/encoded"); got != "image/encoded" {
		t.Errorf("image/encoded has the id %s", got)
	}
}

func TestLicenses(t *testing.T) {
	for license, want := range map[string][2]string{
		"":                      {"", ""},
		"mit":                   {"license: \"mit\"\n", "https://spdx.org/licenses/MIT.html"},
		"GPL-3.0-only":          {"license: \"gpl-3.0\"\n", "https://spdx.org/licenses/GPL-3.0-only.html"},
		"https://example.org/l": {"license: other\nlicense_link: \"https://example.org/l\"\n", "https://example.org/l"},
		"My: own\n---":          {"license: other\nlicense_name: \"My: own\\n---\"\n", "My: own\n---"},
	} {
		header, err := (&Card{Manifest: &manifest.Manifest{}, Facts: Facts{License: license}}).header()
		if err != nil || !bytes.HasPrefix(header, []byte(want[0]+"pretty_name:")) || licensePage(license) != want[1] {
			t.Errorf("%.60q: %v, %s%s", license, err, header, licensePage(license))
		}
	}
}

func TestSizeCategory(t *testing.T) {
	for n, want := range map[int64]string{0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 5e6: "1M<n<10M", 999_999_999_999: "100B<n<1T", 1e12: "n>1T"} {
		if got := sizeCategory(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	f, err := ParseFacts([]byte("license: MIT\npublished: 2026-01-31\nversion: 1.10\n"))
	if err != nil || f.License != "MIT" || f.Published != "2026-01-31" || f.Version != "1.10" {
		t.Errorf("%+v, %v", f, err)
	}
	if got := (Facts{License: "ISC"}).Or(f); got.License != "ISC" || got.Version != "1.10" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"licence: MIT", "url: x", "published: soon", "a\n---\nb", "[1]", "license: MIT\n---\nlicense: ISC\n", "license: [a]", "license: a\nlicense: b"} {
		if f, err := ParseFacts([]byte(bad)); err == nil {
			t.Errorf("%.60q: %+v", bad, f)
		}
	}
}
