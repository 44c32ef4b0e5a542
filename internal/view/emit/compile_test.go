package emit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// programCase is a set, and text that the program in Go for it contains.
type programCase struct {
	set      Dataset
	contains []string
}

// programs are sets that take every branch of the template of the program in Go.
func programs(t *testing.T) map[string]programCase {
	label := Feature{Key: "image/class/label", Kind: "int64", Names: []string{"daisy", "rose"}}
	image := Feature{Key: "image/encoded", Kind: "bytes", Image: "jpeg", Size: []int{-1, -1, 3}}
	gray := Feature{Key: "image/encoded", Kind: "bytes", Image: "png", Size: []int{28, 28, 1}}
	number := Feature{Key: "n", Kind: "int64"}
	files := func(names ...string) []Split { return []Split{{Name: "train", Files: names}} }
	numbered := files("a-00000-of-00002", "a-00001-of-00002")
	return map[string]programCase{
		"whole": {
			Dataset{Dir: "set", Splits: numbered, Whole: true, Features: []Feature{number}},
			[]string{"o.Split = split", "splits = []string{"},
		},
		"numbered": {
			Dataset{Dir: "set", Splits: numbered, Features: []Feature{number}},
			[]string{"func numbered("},
		},
		"files": {
			Dataset{Dir: "set", Splits: append(files("a", "dir/b"), Split{Name: "val", Files: []string{"c"}}), Features: []Feature{number}},
			[]string{`"dir/b",`},
		},
		"kinds": {
			Dataset{Dir: "set", Splits: files("a"), Features: []Feature{
				{Key: "bytes", Kind: "bytes"},
				{Key: "float", Kind: "float"},
				{Key: "int64", Kind: "int64"},
				{Key: "shape", Kind: "float", Shape: []int{2, 3}},
				{Key: "ragged", Kind: "int64", Ragged: true},
			}, Left: []Left{{Key: "both", Why: "some records have float values, others int64"}}},
			[]string{"Ragged: true", "Shape: []int{2, 3}", "// Left out"},
		},
		"defaults": {
			Dataset{Dir: "set", Splits: files("a"), Features: []Feature{
				{Key: "bytes", Kind: "bytes", Missing: 1},
				{Key: "float", Kind: "float", Missing: 1},
				{Key: "int64", Kind: "int64", Missing: 1, Int: -1},
				{Key: "negative", Kind: "int64", Missing: 2, Int: -2},
			}},
			[]string{`"math"`, `Default: ""`, "math.NaN()", "int64(-1)", "math.MinInt64"},
		},
		"default without math": {
			Dataset{Dir: "set", Splits: files("a"), Features: []Feature{{Key: "n", Kind: "int64", Missing: 1, Int: -1}}},
			[]string{"int64(-1)"},
		},
		"sequences": {
			Dataset{Dir: "set", Splits: files("a"), Sequences: true, Features: []Feature{number}, Lists: []Feature{
				{Key: "l", Kind: "int64"},
				{Key: "shape", Kind: "float", Shape: []int{7}, Missing: 1},
				{Key: "ragged", Kind: "bytes", Ragged: true},
				{Key: "missing", Kind: "float", Missing: 1},
				{Key: "image/encoded", Kind: "bytes", Image: "jpeg", Size: []int{-1, -1, 3}},
			}},
			[]string{"Steps: columns.ListSteps}", "Shape: []int{7}, Steps: columns.ListSteps, AllowMissing: true}", "Ragged: true, Steps", "L *columns.Column"},
		},
		"labelled images": {
			Dataset{Dir: "set", Splits: numbered, Whole: true, Features: []Feature{label, image}},
			[]string{`LabelKey: "image/class/label"`, "Channels: 3", "Width: 224", "var labels"},
		},
		"gray images without labels": {
			Dataset{Dir: "set", Splits: files("a"), Features: []Feature{gray}},
			[]string{"NoLabels: true", "Channels: 1", "Width: 28"},
		},
		"objects": {
			Dataset{Dir: "set", Splits: files("a"), Classes: []Class{{3, "a\"b"}, {90, "cat"}}, Features: []Feature{image, {Key: "image/object/bbox/xmin", Kind: "float", Ragged: true}}},
			[]string{"var classes", `90: "cat"`, "NoLabels: true"},
		},
		"hostile names": {*hostileSet(t), nil},
	}
}

// TestGoProgramsCompile compiles the programs against this module, without linking them, as
// packages that exist only in an overlay.
func TestGoProgramsCompile(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	args := []string{"list", "-export", "-overlay", filepath.Join(dir, "overlay.json")}
	for name, program := range programs(t) {
		text, err := Program(Go, &program.set)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range program.contains {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "_")+".go")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		pkg := fmt.Sprintf("testdata/programs/%s", strings.ReplaceAll(name, " ", "_"))
		at, err := filepath.Abs(filepath.Join(filepath.FromSlash(pkg), "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][at] = file
		args = append(args, "./"+pkg)
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Errorf("go list -export: %v\n%s", err, out)
	}
}
