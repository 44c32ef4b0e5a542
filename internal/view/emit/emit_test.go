package emit

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// hostile are names that would be code if they were pasted into a program.
var hostile = []string{
	`"`, `'`, `"""`, `'''`, "`", `\`, `\"`, "a\nimport os", "a\r\nb", "\u2028x", "\u2029x", "\u0085x", "nul\x00", "\x00",
	`"); import os; os.system("touch pwned"); ("`, "`+panic(1)+`", "*/ func init() {} /*", "// +build ignore", "//go:build ignore",
	"{x}", "{{.Dir}}", "%s", "%(a)s", "%05d", "${HOME}", "#", "# coding: utf-7", "class", "def", "func", "type", "None", "Rows", "rows", "ROWS",
	"a/b", "a.b", "a b", "A B", "a_b", "A_B_2", "aB", "", " ", "1", "1a", "é", "E\u0301", "日本", "\u202eevil", "\ufeffx", "\U0001f600", "ﬁ",
	strings.Repeat("long", 100),
}

// writeSet writes records to files of one directory, and returns it.
func writeSet(t *testing.T, files map[string][][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, records := range files {
		var data []byte
		for _, r := range records {
			data = tfrecord.AppendFrame(data, r)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func describe(t *testing.T, paths ...string) (*Dataset, error) {
	t.Helper()
	sum, err := stats.Inspect(context.Background(), paths, stats.InspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Describe(t.Context(), paths, sum)
}

// label is the i-th hostile name of a label, which are neither empty nor long.
func label(i int) string { return hostile[i][:min(len(hostile[i]), 100)] + "!" }

// hostileSet has every hostile name as a key, as a label and, if possible, in a file's name.
func hostileSet(t *testing.T) *Dataset {
	t.Helper()
	var records [][]byte
	for i := range hostile {
		var b tfrecord.Builder
		for k, key := range hostile {
			switch {
			case k == i:
			case k%3 == 0:
				b.Int64(key, int64(k))
			case k%3 == 1:
				b.Float(key, 1, 2)
			default:
				b.String(key, key)
			}
		}
		b.Int64("my/label", int64(i))
		b.String("my/text", label(i))
		records = append(records, b.Append(nil))
	}
	files := map[string][][]byte{}
	for _, name := range hostile {
		if name != "" && len(name) < 100 && !strings.ContainsAny(name, "/\x00") {
			files[name+".tfrecord"] = records
		}
	}
	d, err := describe(t, writeSet(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestHostileNamesInGo(t *testing.T) {
	d := hostileSet(t)
	program, err := Program(Go, d)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", program, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var keys, fields, functions []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			functions = append(functions, n.Name.Name)
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Key" {
				keys = append(keys, unquote(t, n.Value))
			}
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok && n.Name.Name == "Batch" {
				for _, f := range s.Fields.List {
					fields = append(fields, f.Names[0].Name)
				}
			}
		}
		return true
	})
	want := append(slices.Clone(hostile), "my/label", "my/text")
	slices.Sort(want)
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys of the schema: %s", diff)
	}
	if diff := cmp.Diff([]string{"newBatch", "open", "records", "batches", "show", "main"}, functions); diff != "" {
		t.Errorf("functions: %s", diff)
	}
	if len(fields) != len(want)+1 {
		t.Errorf("%d fields for %d features", len(fields), len(want))
	}
	slices.Sort(fields)
	for i, name := range fields {
		if i > 0 && name == fields[i-1] || !token.IsExported(name) || !token.IsIdentifier(name) {
			t.Errorf("field %q", name)
		}
	}
}

func unquote(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is no literal", e)
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// literals prints the names in a Python program, and what stands at its top.
const literals = `
import ast, json, sys
tree = ast.parse(sys.stdin.buffer.read())
keys, files, labels, top = [], [], [], []
for node in tree.body:
    top.append(getattr(node, "name", type(node).__name__))
    if isinstance(node, ast.Assign):
        name, value = node.targets[0].id, node.value
        if name == "FEATURES":
            keys = [ast.literal_eval(k) for k in (value if isinstance(value, ast.Dict) else value.args[0]).keys]
        if name == "SPLITS":
            files = sum(ast.literal_eval(value).values(), [])
        if name == "LABELS":
            labels = ast.literal_eval(value)["my/label"]
print(json.dumps({"keys": keys, "files": files, "labels": labels, "top": [x for x in top if x not in ("Expr", "Import", "ImportFrom", "Assign", "If")]}))
`

func TestHostileNamesInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to parse the programs")
	}
	d := hostileSet(t)
	var files []string
	for _, s := range d.Splits {
		files = append(files, s.Files...)
	}
	keys := append(slices.Clone(hostile), "my/label", "my/text")
	slices.Sort(keys)
	labels := make([]string, len(hostile))
	for i := range hostile {
		labels[i] = label(i)
	}
	if len(d.Features) != len(keys) || len(d.Features[0].Key) != 0 {
		t.Fatalf("%d features of %d", len(d.Features), len(keys))
	}
	for target, functions := range map[Target][]string{
		TF:   {"parse", "parse_batch", "dataset", "main"},
		TFDS: {"dataset", "main"},
		Torch: {
			"records", "varint", "fields", "int64s", "values", "parse", "shuffled", "Dataset", "collate", "loader", "main",
		},
	} {
		program, err := Program(target, d)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(python, "-c", literals)
		c.Stdin = strings.NewReader(string(program))
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		var got struct{ Keys, Files, Labels, Top []string }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		for name, pair := range map[string][2][]string{
			"keys": {keys, got.Keys}, "files": {files, got.Files}, "labels": {labels, got.Labels}, "definitions": {functions, got.Top},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s, %s: %s", target, name, diff)
			}
		}
	}
}

func TestPythonString(t *testing.T) {
	for s, want := range map[string]string{
		"":           `""`,
		"a\"\\\n":    `"a\"\\\n"`,
		"ü\u2028":    `"ü\u2028"`,
		"\x00\x7f":   `"\x00\x7f"`,
		"a\xffb":     `"a\udcffb"`,
		"\ufffd":     "\"\ufffd\"",
		"\U000e0001": `"\U000e0001"`,
	} {
		if got := pythonString(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	example := func(build func(b *tfrecord.Builder)) []byte {
		var b tfrecord.Builder
		build(&b)
		return b.Append(nil)
	}
	dir := writeSet(t, map[string][][]byte{
		"x-train.tfrecord-00000-of-00002": {example(func(b *tfrecord.Builder) {
			b.Int64("one", 3)
			b.Float("pair", 1, 2)
			b.Int64("some", 1, 2, 3)
			b.Int64("odd", -5)
			b.Int64("two kinds", 1)
			b.Int64("never")
			b.Float("rare", 1)
		})},
		"x-train.tfrecord-00001-of-00002": {example(func(b *tfrecord.Builder) {
			b.Int64("one", 4)
			b.Float("pair", 3, 4)
			b.Int64("some")
			b.Float("two kinds", 1)
		})},
		"x-val.tfrecord-00000-of-00001": {example(func(b *tfrecord.Builder) {
			b.Int64("one", 4)
			b.Float("pair", 3, 4)
			b.Int64("some", 1)
		})},
	})
	d, err := describe(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"one": "tf.io.FixedLenFeature([], tf.int64)", "pair": "tf.io.FixedLenFeature([2], tf.float32)",
		"never": "tf.io.RaggedFeature(tf.int64)",
		"some":  "tf.io.RaggedFeature(tf.int64)",
		"odd":   "tf.io.FixedLenFeature([], tf.int64, default_value=-(2**63))",
		"rare":  `tf.io.FixedLenFeature([], tf.float32, default_value=float("nan"))`,
	}
	got := map[string]string{}
	for _, f := range d.Features {
		got[f.Key] = f.TF()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(d.Left) != 1 || d.Left[0].Key != "two kinds" {
		t.Errorf("left out: %v", d.Left)
	}
	if len(d.Splits) != 2 || d.Splits[0].Records != 2 || d.Dir != dir || d.Whole || d.TFDS {
		t.Errorf("%+v", d)
	}
	if s := pythonFiles(&d.Splits[0]); s != `["x-train.tfrecord-%05d-of-00002" % i for i in range(2)]` {
		t.Error(s)
	}
}

func TestRefusals(t *testing.T) {
	one := Feature{Key: "a", Kind: "int64"}
	for _, test := range []struct {
		name    string
		d       Dataset
		targets []Target // that refuse
		says    string
	}{
		{"zstd", Dataset{Compression: "zstd", Features: []Feature{one}}, []Target{TF, TFDS, Torch}, "reshard"},
		{"mixed", Dataset{Compression: "mixed", Features: []Feature{one}}, []Target{TF, TFDS, Torch}, "reshard"},
		{"sequences", Dataset{Compression: "none", Sequences: true, Lists: []Feature{one}}, []Target{TFDS, Torch}, "SequenceExample"},
		{"lists left out", Dataset{Compression: "none", Sequences: true, Features: []Feature{one}, Left: []Left{{"l", "no values"}}}, []Target{TFDS, Torch, Go}, "SequenceExample"},
		{"twice", Dataset{Compression: "none", Sequences: true, Features: []Feature{one}, Lists: []Feature{one}}, []Target{TFDS, Torch, Go}, ""},
		{"nothing", Dataset{Compression: "none"}, []Target{TF, TFDS, Torch, Go}, "no features"},
		{"stray bytes", Dataset{Compression: "none", Features: []Feature{{Key: "\xff", Kind: "int64", Stray: true}}}, []Target{TF, TFDS, Torch}, "UTF-8"},
	} {
		for _, target := range []Target{TF, TFDS, Torch, Go} {
			_, err := Program(target, &test.d)
			if refused := slices.Contains(test.targets, target); refused != errors.Is(err, ErrCannot) || refused && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s for %s: %v", test.name, target, err)
			}
		}
	}
	dir := writeSet(t, map[string][][]byte{"a.tfrecord": {[]byte("text")}, "b.tfrecord": {}})
	if _, err := describe(t, dir); err == nil || !strings.Contains(err.Error(), "not a tf.train.Example") {
		t.Error(err)
	}
	if _, err := describe(t, filepath.Join(dir, "b.tfrecord")); err == nil || !strings.Contains(err.Error(), "no records") {
		t.Error(err)
	}
}
