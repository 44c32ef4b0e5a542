//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goJudge is a test of the emitted program's package: what its functions read.
const goJudge = `package main

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
)

type reading struct {
	Records int
	Sums    map[string]float64
}

func TestRead(t *testing.T) {
	all := map[string]reading{}
	for _, name := range names() {
		set, err := open(t.Context(), %q, name, reader.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := reading{Sums: map[string]float64{}}
		for batch, err := range batches(records(set, true), 7).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			r.Records += batch.Rows
			for i, f := range schema {
				r.Sums[f.Key] += sum(reflect.ValueOf(batch).Field(i + 1).Interface())
			}
		}
		pixels(t, set, r)
		all[name] = r
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(%q, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func sum(v any) (n float64) {
	switch v := v.(type) {
	case []int64:
		for _, x := range v {
			n += float64(x)
		}
	case []float32:
		for _, x := range v {
			if x == x {
				n += float64(x)
			}
		}
	case *columns.Column:
		n = sum(v.Int64s) + sum(v.Floats)
		for _, x := range v.Bytes {
			n += float64(x)
		}
	}
	return n
}
`

// runEmittedGo vets, runs and asks the programs, in a module of their own.
func runEmittedGo(t *testing.T, sets map[string]emittedSet, names []string) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := func(args ...string) {
		c := exec.Command("go", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		output(t, c)
	}
	_, requires, _ := strings.Cut(text(filepath.Join(root, "go.mod")), "\n")
	write("go.mod", fmt.Sprintf("module load\n%s\nrequire github.com/tfrec/tfrec v0.0.0\n\nreplace github.com/tfrec/tfrec => %s\n", requires, root))
	write("go.sum", text(filepath.Join(root, "go.sum")))

	var asked []string
	programs := map[string]string{}
	for _, name := range names {
		set := sets[name]
		if !slices.Contains(set.targets, "go") {
			continue
		}
		asked = append(asked, name)
		at := strings.ReplaceAll(name, " ", "_")
		if err := os.Mkdir(filepath.Join(dir, at), 0o755); err != nil {
			t.Fatal(err)
		}
		programs[name] = string(emit(t, "go", set.dir, filepath.Join(dir, at, "main.go")))
		test := fmt.Sprintf(goJudge, set.directory(), filepath.Join(dir, at+".json"))
		if strings.Contains(programs[name], "var splits = []string{") {
			test += goNames
		} else {
			test += goFiles
		}
		if strings.Contains(programs[name], "\nfunc images(") {
			test += goPixels
		} else {
			test += goNoPixels
		}
		write(filepath.Join(at, "read_test.go"), test)
	}
	tool("test", "-count=1", "./...") // and vets some
	tool("vet", "./...")
	tool("build", "-o", dir+"/bin/", "./...")
	for _, name := range asked {
		set, at := sets[name], strings.ReplaceAll(name, " ", "_")
		says := output(t, exec.Command(filepath.Join(dir, "bin", at), "-data", set.directory()))
		if bytes.Count(says, []byte(" records\n")) != len(set.splits) {
			t.Errorf("%s: it shows %s", name, says)
		}
		var got map[string]reading
		if err := json.Unmarshal([]byte(text(filepath.Join(dir, at+".json"))), &got); err != nil {
			t.Fatal(err)
		}
		if set.sizes { // brought to one size: their sums say nothing
			for split, files := range set.splits {
				got[split].Sums["image/encoded"] = ours(t, files, nil).Sums["image/encoded"]
			}
		}
		sameSums(t, name+" by go", set, got, true)
	}
}

const (
	goNames = `
func names() []string { return splits }
`
	goFiles = `
func names() (list []string) {
	for _, s := range splits {
		list = append(list, s.name)
	}
	return list
}
`
	goNoPixels = `
func pixels(*testing.T, *reader.Set, reading) {}
`
)

// goPixels puts the pixels instead of the bytes of the images, and wants the labels to be those of
// the records.
const goPixels = `
func pixels(t *testing.T, set *reader.Set, r reading) {
	n, labels := 0.0, 0.0
	for batch, err := range images(records(set, false), 7).All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range batch.Bytes {
			n += float64(x)
		}
		for _, l := range batch.Labels {
			labels += float64(l)
		}
	}
	if labels != r.Sums["image/class/label"] {
		t.Errorf("labels sum up to %v, not %v", labels, r.Sums["image/class/label"])
	}
	r.Sums["image/encoded"] = n
}
`
