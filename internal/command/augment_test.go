package command

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

const augmentDocs = "../../docs/augment.md"

// TestDocsOfOperations compares the tables of docs/augment.md with what the
// operations say of themselves; with -update (make docs) it writes them.
func TestDocsOfOperations(t *testing.T) {
	const begin, end = "from the operations' own descriptions -->\n", "<!-- end of operations -->"
	data, err := os.ReadFile(augmentDocs)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, okEnd := strings.Cut(rest, end)
	if !ok || !okEnd {
		t.Fatalf("%s lacks the lines around the operations", augmentDocs)
	}
	want := head + begin + operationTables() + "\n" + end + tail
	if *update {
		if err := os.WriteFile(augmentDocs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(data) {
		t.Errorf("%s is not what the operations say (make docs writes it)", augmentDocs)
	}
}

func operationTables() string {
	var b strings.Builder
	kind := ""
	for _, o := range augment.Operations() {
		if o.Kind != kind {
			kind = o.Kind
			fmt.Fprintf(&b, "\n### %s\n", kindTitles[kind])
		}
		about := strings.ToUpper(o.About[:1]) + o.About[1:] + "."
		if o.Torchvision != "" {
			about += fmt.Sprintf(" torchvision: `%s`.", o.Torchvision)
		}
		fmt.Fprintf(&b, "\n#### %s\n\n%s\n\n| Parameter | Default | Meaning | Values |\n|---|---|---|---|\n", o.Name, about)
		for _, p := range o.Parameters {
			initial := "required"
			if p.Default != "" {
				initial = "`" + p.Default + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, initial, p.About, p.Allowed)
		}
	}
	return b.String()
}

// TestPoliciesOfDocsAreRight parses all that docs/augment.md shows.
func TestPoliciesOfDocsAreRight(t *testing.T) {
	data, err := os.ReadFile(augmentDocs)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(text|yaml)\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(blocks) < 4 {
		t.Fatalf("%d policies in %s", len(blocks), augmentDocs)
	}
	for _, block := range blocks {
		parse := func() (*augment.Policy, error) { return augment.ParsePolicy(block[2]) }
		if block[1] == "yaml" {
			parse = func() (*augment.Policy, error) { return augment.ParsePolicyYAML([]byte(block[2]), augmentDocs) }
		}
		if _, err := parse(); err != nil {
			t.Errorf("%s\n%v", block[2], err)
		}
	}
}
