package classfile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct{ text, labels, names, synsets string }{
		{"b\na\n", "a,b", "b,a", ""},
		{"\ufeffb\r\nnot there\r\na", "a,b", "b,not there,a", ""},
		{"n1 kit fox\nn2\tred fox, Vulpes\n", "n1,n2", "kit fox;red fox, Vulpes", "n1,n2"},
		{"n1 kit fox\nn2 red fox\nwolf\n", "n1", "kit fox,red fox,wolf", "n1,n2,wolf"}, // n2 does not occur
		{"dog house\nn1 kit fox\n", "dog house,n1", "dog house,kit fox", "dog house,n1"},
		{"dog house\ndog\n", "dog house,dog", "dog house,dog", ""}, // a label as a whole is no pair
		{"dog house\tA house\ncat\tA cat\n", "dog house,cat", "A house,A cat", "dog house,cat"},
		{"n1 crane\nn2 crane\n", "n1,n2", "crane n1,crane n2", "n1,n2"},
		{"n1  \nn2 x\n", "n2", "n1  ,x", "n1  ,n2"},
		{"0\n1\n", "", "0,1", ""},
		{"0 zero\n1 one\n", "0,1", "zero,one", "0,1"},            // labels and their names
		{"0 zero\n1 one\n", "one", "zero,one", ""},               // ids and names
		{"3:roses\n1:daisy  \n", "daisy", "0,daisy,2,roses", ""}, // with gaps
		{"5 dollars\n10 dollars\n", "5 dollars", "5 dollars,10 dollars", ""},
		{"item { id: 1 name: 'cat' }\n# c\nitem { id: 3 name: 'dog' }", "dog,cat", "0,cat,2,dog", ""},
		{" # classes\n#\nitem {\n id: 1\n name: '0' }", "0", "#0,0", ""}, // a name that is a number
	} {
		got, err := numberFile(t, c.text, strings.Split(c.labels, ",")[:strings.Count(c.labels, ",")+min(1, len(c.labels))])
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		sep := ","
		if strings.Contains(c.names, ";") {
			sep = ";"
		}
		if strings.Join(got.Names, sep) != c.names || strings.Join(got.Synsets, ",") != c.synsets {
			t.Errorf("%q: %q, %q", c.text, got.Names, got.Synsets)
		}
	}
	for text, want := range map[string]string{
		"a\n":          `classes.txt has no line for "b", "c"`,
		"a\nb\nc\nb\n": `classes.txt: line 4: the class "b" is on line 2 already`,
		"a x\na y\n":   `line 2: the class "a" is on line 1 already`,
		"a\n\nb\nc\n":  "line 2 is empty",
		"":             "line 1 is empty",
		"\n\n":         "line 1 is empty",
		"item {\n id: 1\n name: 'a' }\nitem { id: 2 name: 'a' }": `the class "a" has the ids 1 and 2`,
		"item { id: 1 name: 'a' }":                               `has no line for "b", "c"`,
		"item { id: -1 name: 'a' }":                              `the id of "a" is -1: want 0 to 1000000`,
		"item {\n id: 1\n name: }":                               "line 3: ",
	} {
		if _, err := numberFile(t, text, []string{"c", "a", "b", "c", "b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Read(t.Context(), filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// numberFile reads a file and numbers labels by it.
func numberFile(t *testing.T, text string, of []string) (*Classes, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "classes.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Read(t.Context(), path)
	if err != nil {
		return nil, err
	}
	return l.Number(of, false)
}

// TestClassesOfAnyLabels writes random labels, as names and as pairs, and reads them back.
func TestClassesOfAnyLabels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var labels, names, lines []string
		pairs := rnd.IntN(2) == 0
		for i := range 1 + rnd.IntN(40) {
			label := fmt.Sprintf("n%d%s", i, []string{"", "é", "-x"}[rnd.IntN(3)])
			name := fmt.Sprintf("%s %d", []string{"kit fox", "x,y", "日本"}[rnd.IntN(3)], i)
			line := label
			if pairs {
				line += []string{" ", "\t"}[rnd.IntN(2)] + name
			} else {
				name = label
			}
			labels, names, lines = append(labels, label), append(names, name), append(lines, line)
		}
		end := []string{"\n", "\r\n"}[rnd.IntN(2)]
		some := slices.Clone(labels)
		rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:1+rnd.IntN(len(some))]
		c, err := numberFile(t, strings.Join(lines, end)+end[:rnd.IntN(2)*len(end)], some)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Names, names) || pairs != slices.Equal(c.Synsets, labels) {
			t.Fatalf("%q: %q %q", lines, c.Names, c.Synsets)
		}
		for i, label := range some {
			if want := int64(slices.Index(labels, label)); c.IDs[i] != want {
				t.Fatalf("%q is %d, want %d", label, c.IDs[i], want)
			}
		}
	}
}
