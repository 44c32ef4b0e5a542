package convert

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

func mustTable(t testing.TB, srcs []string, out string, o TableOptions) *Summary {
	t.Helper()
	s, err := Table(t.Context(), srcs, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTableRows(t *testing.T) {
	csv := func(o CSVOptions) TableOptions { return TableOptions{CSVOptions: o} }
	anyErrors := Options{MaxErrors: Tolerance{Count: 9}}
	for _, test := range []struct {
		name, text string
		o          TableOptions
		want       []string
		ledger     []string
	}{
		{"types", `{"i":1,"f":1.5,"s":"NA","b":true}` + "\n" + `{"i":-2,"f":3,"s":"","b":false}`, TableOptions{}, []string{
			`b=[1] f=[1.5] i=[1] s=["NA"]`, `b=[0] f=[3] i=[-2] s=[""]`}, nil},
		{"nested", `{"p":{"q":1,"r":{"s":"x"}},"l":[1,2]}` + "\n\n" + `{"p":null,"l":[]}` + "\n" + `{"l":3}`, TableOptions{}, []string{
			`l=[1 2] p/q=[1] p/r/s=["x"]`, `l=[]`, `l=[3]`}, nil},
		{"types given", `{"a":1,"b":"007","c":2}` + "\n" + `{"a":2,"b":"x","c":3.5}`, csv(CSVOptions{Options: anyErrors, Types: map[string]ColumnType{"a": TypeFloat, "b": TypeInt64, "c": TypeBytes}}), []string{
			`a=[1] b=[7] c=["2"]`}, []string{`t:000000002 2 parse column "b": "x" is not of type int64`}},
		{"missing dropped", `{"i":1,"s":null,"l":[1]}` + "\n" + `{"i":null,"s":"x","l":null}`, TableOptions{}, []string{`i=[1] l=[1]`, `s=["x"]`}, nil},
		{"missing by default", `{"i":1,"s":null,"l":[1]}` + "\n" + `{"f":0.5}`, csv(CSVOptions{Missing: MissingDefault}), []string{`f=[0] i=[1] l=[1] s=[""]`, `f=[0.5] i=[0] l=[0] s=[""]`}, nil},
		{"missing is an error", `{"i":1,"l":[]}` + "\n" + `{"l":[]}` + "\n" + `{"i":1,"l":null}`, csv(CSVOptions{Missing: MissingError, Options: anyErrors}), []string{`i=[1] l=[]`}, []string{
			`t:000000002 2 parse column "i": the value is missing`, `t:000000003 3 parse column "l": the value is missing`}},
		{"lists of one length by default", `{"i":[1,2],"f":[1.5,2.5],"s":["a","b"]}` + "\n" + `{}`, csv(CSVOptions{Missing: MissingDefault}), []string{`f=[1.5 2.5] i=[1 2] s=["a" "b"]`, `f=[0 0] i=[0 0] s=["" ""]`}, nil},
		{"vectors", `{"a":1,"b":2.5,"c":3,"d":[4]}` + "\n" + `{"a":1,"c":3}`, csv(CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"a..c"}}}}), []string{`d=[4] v=[1 2.5 3]`, ``}, nil},
		{"vectors by default", `{"a":1,"b":2,"s":"x","u":"y"}` + "\n" + `{"b":2,"u":"z"}`, csv(CSVOptions{Missing: MissingDefault, Vectors: []Vector{{Name: "v", Columns: []string{"b", "a"}}, {Name: "w", Columns: []string{"s", "u"}}}}), []string{
			`v=[2 1] w=["x" "y"]`, `v=[2 0] w=["" "z"]`}, nil},
		{"labels", `{"l":"cat"}` + "\n" + `{"l":"ant"}` + "\n" + `{}` + "\n" + `{"l":""}` + "\n" + `{"l":"NA"}`, csv(CSVOptions{Options: anyErrors, Label: "l", Vocab: true}), []string{`l=[2]`, `l=[1]`, `l=[0]`}, []string{
			`t:000000003 3 parse column "l": the row has no label`, `t:000000004 4 parse column "l": the row has no label`}},
		{"text without a vocabulary", `{"l":"cat"}` + "\n" + `{"l":null}` + "\n" + `{"l":""}`, csv(CSVOptions{Options: anyErrors, Label: "l"}), []string{`l=["cat"]`}, []string{
			`t:000000002 2 parse column "l": the row has no label`, `t:000000003 3 parse column "l": the row has no label`}},
		{"no label by default", `{"l":"cat"}` + "\n" + `{}`, csv(CSVOptions{Label: "l", Vocab: true, Missing: MissingDefault}), []string{`l=[0]`, `l=[-1]`}, nil},
		{"numbers as labels", `{"l":30}` + "\n" + `{"l":4}`, csv(CSVOptions{Label: "l", Vocab: true, LabelOffset: 1}), []string{`l=[31]`, `l=[5]`}, nil},
		{"integers that are floats", `{"l":3.0}` + "\n" + `{"l":1}` + "\n" + `{"l":"NaN"}`, csv(CSVOptions{Options: anyErrors, Label: "l", Vocab: true}), []string{`l=[3]`, `l=[1]`}, []string{
			`t:000000003 3 parse column "l": the row has no label`}},
		{"floats without a vocabulary", `{"l":2.5}` + "\n" + `{"l":"NaN"}`, csv(CSVOptions{Options: anyErrors, Label: "l"}), []string{`l=[2.5]`}, []string{
			`t:000000002 2 parse column "l": the row has no label`}},
		{"a vocabulary", `{"l":"cat","k":7}` + "\n" + `{"l":"ant","k":1.5}`, csv(CSVOptions{Options: anyErrors, Key: "k", Label: "l", Vocab: true, Vocabulary: []string{"dog", "cat"}}), []string{`k=[7] l=[1]`}, []string{
			`1.5 2 parse column "l": "ant" is not in the vocabulary`}},
	} {
		src, out := writeTable(t, "t", test.text), t.TempDir()
		for _, shuffle := range []bool{false, true} {
			o := test.o
			o.Shuffle, o.Overwrite = shuffle, true
			if _, err := Table(t.Context(), []string{src}, out, o); err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			got := show(examples(t, out, "train"))
			want := slices.Clone(test.want)
			if shuffle {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if test.ledger != nil && !slices.Equal(ledger(t, out), test.ledger) {
				t.Errorf("%s: ledger\n%s", test.name, strings.Join(ledger(t, out), "\n"))
			}
			if report, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}}); err != nil || !report.OK {
				t.Errorf("%s: %+v, %v", test.name, report, err)
			}
		}
	}
}

// jsonRows returns rows of all kinds from number first on.
func jsonRows(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"x":%d.5,"s":"row %d","l":%s,"p":{"q":%d}}`+"\n", i, i%7, i, []string{"[]", "[1]", "[1,2]", "null"}[i%4], i)
	}
	return b.String()
}

func TestTableIsTheSameForAnyWorkersAndTasks(t *testing.T) {
	dir := t.TempDir()
	var srcs []string
	for i := range 3 {
		srcs = append(srcs, filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i)))
		rewrite(t, srcs[i], jsonRows(i*9000, 9000+i))
	}
	for _, shuffle := range []bool{false, true} {
		options := func(workers int) TableOptions {
			return TableOptions{CSVOptions: CSVOptions{Shuffle: shuffle, Memory: 16 << 20, Options: Options{
				Name: "n", Shards: 3, Seed: 5, Workers: workers, Limit: 20_000, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}},
			}}}
		}
		one, three, tasks := t.TempDir(), t.TempDir(), t.TempDir()
		mustTable(t, []string{filepath.Join(dir, "*.jsonl")}, one, options(1))
		mustTable(t, srcs, three, options(3))
		sameSet(t, contents(t, three), contents(t, one))
		for _, i := range []int{1, 0} {
			o := options(2)
			o.Task = &Task{Index: i, Count: 2}
			mustTable(t, srcs, tasks, o)
		}
		mustFinalize(t, tasks)
		sameSet(t, contents(t, tasks), contents(t, one))
		if s := mustTable(t, srcs, tasks, options(1)); s.Status != UpToDate {
			t.Errorf("shuffle %v: %s", shuffle, s.Status)
		}
		all := append(ids(examples(t, one, "train")), ids(examples(t, one, "val"))...)
		if slices.Sort(all); len(all) != 20_000 || len(slices.Compact(all)) != 20_000 {
			t.Errorf("shuffle %v: %d rows", shuffle, len(all))
		}
		begun := t.TempDir()
		job, err := BeginTable(t.Context(), srcs, begun, options(2))
		mustRun(t, mustBegin(t, job, err), 2)
		sameSet(t, contents(t, begun), contents(t, one))
	}
}

// One changed file redoes its shard, with what a fresh run makes; a run with nothing to do does not
// read the input.
func TestTableUpdates(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	o := TableOptions{CSVOptions: CSVOptions{Options: Options{Name: "n", Shards: 4, TrustTimes: true}}}
	part := func(i int) string { return filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i)) }
	for i := range 4 {
		rewrite(t, part(i), jsonRows(i*500, 500))
	}
	run := func(status Status, written int) {
		t.Helper()
		s := mustTable(t, []string{filepath.Join(dir, "part-*.jsonl")}, out, o)
		if s.Status != status || s.ShardsWritten != written {
			t.Errorf("%s, %d written", s.Status, s.ShardsWritten)
		}
		fresh := t.TempDir()
		mustTable(t, []string{filepath.Join(dir, "part-*.jsonl")}, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
	run(Written, 4)
	rewrite(t, part(2), strings.Replace(jsonRows(1000, 500), `"row 1200"`, `"changed"`, 1))
	run(Updated, 1)

	at, err := os.Stat(part(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(part(1), []byte(strings.Repeat(`{"`, int(at.Size()/2))+strings.Repeat("?", int(at.Size()%2))), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(part(1), at.ModTime(), at.ModTime()); err != nil {
		t.Fatal(err)
	}
	if s := mustTable(t, []string{filepath.Join(dir, "part-*.jsonl")}, out, o); s.Status != UpToDate {
		t.Errorf("%s: the input was read", s.Status)
	}
}

func TestTablesAreMerged(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.jsonl", []byte(`{"n":1,"l":2,"p":null,"only":"a"}`))
	put(t, dir, "b.jsonl", []byte(`{"p":{"q":1},"n":0.5,"l":[3,4]}`))
	put(t, dir, "c.jsonl", []byte(`{"n":9007199254740993,"l":null}`))
	paths := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
		return list
	}
	out := t.TempDir()
	var notes []string
	sum := mustTable(t, paths("*.jsonl"), out, TableOptions{CSVOptions: CSVOptions{Options: Options{Note: func(s string) { notes = append(notes, s) }}}})
	want := []string{`l=[2] n=[1] only=["a"]`, `l=[3 4] n=[0.5] p/q=[1]`, `n=[9.007199e+15]`}
	if got := show(examples(t, out, "train")); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(notes) > 0 || fmt.Sprint(sum.LeftOut) != "[1 column of 64-bit numbers, stored as 32-bit floats: n]" {
		t.Errorf("notes %q, left out: %+v", notes, sum.LeftOut)
	}
	schema, err := TableSchema(t.Context(), paths("a.jsonl", "b.jsonl"), TableOptions{})
	if want := (&Schema{Columns: []SchemaColumn{{Name: "n", Type: TypeFloat}, {Name: "l", Type: TypeInt64}, {Name: "only", Type: TypeBytes}, {Name: "p/q", Type: TypeInt64}}}); err != nil || !slices.Equal(schema.Columns, want.Columns) {
		t.Errorf("%+v, %v", schema, err)
	}

	put(t, dir, "d.jsonl", []byte(`{"n":"text"}`))
	put(t, dir, "e.csv", []byte("n\n1\n"))
	put(t, dir, "wide.jsonl", []byte("{\"n\":16777217.0}"))
	put(t, dir, "blank.jsonl", []byte("\n\n"))
	for _, test := range []struct {
		srcs []string
		o    TableOptions
		want string
	}{
		{paths("a.jsonl", "d.jsonl"), TableOptions{}, `column "n" is int64 in ` + paths("a.jsonl")[0] + " and bytes in " + paths("d.jsonl")[0] + ": CSVOptions.Types gives it one type"},
		{paths("e.csv", "a.jsonl"), TableOptions{}, paths("e.csv")[0] + " is csv and " + paths("a.jsonl")[0] + " is jsonl: all files of a table need the same format"},
		{paths("a.jsonl"), TableOptions{Format: "xml"}, `TableOptions.Format: "xml": want`},
		{paths("a.jsonl"), TableOptions{CSVOptions: CSVOptions{Delimiter: ';'}}, "CSVOptions.Delimiter: is for CSV, and the format is jsonl"},
		{paths("a.jsonl"), TableOptions{CSVOptions: CSVOptions{MissingValues: []string{"NA"}}}, "CSVOptions.MissingValues: is for CSV"},
		{paths("b.jsonl"), TableOptions{CSVOptions: CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"n", "l"}}}}}, `column "l" holds lists`},
		{paths("b.jsonl"), TableOptions{CSVOptions: CSVOptions{Label: "l"}}, `column "l" holds lists`},
		{paths("b.jsonl"), TableOptions{CSVOptions: CSVOptions{Label: "n", Vocab: true}}, `column "n": 0.5 is not an integer: labels are integers or text`},
		{paths("wide.jsonl"), TableOptions{CSVOptions: CSVOptions{Label: "n", Vocab: true}}, `column "n": 16777216 is a float of 32 bits, which are exact up to 16777215`},
		{paths("b.jsonl"), TableOptions{CSVOptions: CSVOptions{Types: map[string]ColumnType{"none": TypeFloat}}}, `there is no column "none"`},
		{paths("blank.jsonl"), TableOptions{Format: TableJSONL}, "no rows: nothing to convert"},
	} {
		if _, err := Table(t.Context(), test.srcs, t.TempDir(), test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.want, err)
		}
	}
}

// The table of a CSV file is what CSV makes of it; only the manifest says otherwise.
func TestTableOfCSV(t *testing.T) {
	src := writeTable(t, "t.csv", numberedRows(3000))
	a, b := t.TempDir(), t.TempDir()
	o := CSVOptions{Options: Options{Shards: 3, Limit: 2000, MaxErrors: Tolerance{Count: 9}}, Shuffle: true}
	mustCSV(t, []string{src}, a, o)
	mustTable(t, []string{src}, b, TableOptions{CSVOptions: o})
	want, got := contents(t, a), contents(t, b)
	delete(want, "manifest.json")
	delete(got, "manifest.json")
	sameSet(t, got, want)
}

// Records equal those that tfrecord.Builder makes of what encoding/json reads.
func TestTableAgainstBuilder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var want [][]byte
	for range 3000 {
		row := map[string]any{}
		var b tfrecord.Builder
		if rng.IntN(5) > 0 {
			v := rng.Int64() >> rng.IntN(64)
			row["i"] = v
			b.Int64("i", v)
		}
		if rng.IntN(5) > 0 {
			v := float32(rng.NormFloat64())
			row["f"] = v
			b.Float("f", v)
		}
		if rng.IntN(5) > 0 {
			ints, floats, texts := make([]int64, rng.IntN(40)), make([]float32, rng.IntN(40)), make([]string, rng.IntN(4))
			for i := range ints {
				ints[i] = rng.Int64N(1000) - 500
			}
			for i := range floats {
				floats[i] = rng.Float32()
			}
			for i := range texts {
				texts[i] = strings.Repeat("é", rng.IntN(200))
			}
			row["l"] = map[string]any{"i": ints, "f": floats, "t": texts}
			b.Int64("l/i", ints...)
			b.Float("l/f", floats...)
			b.String("l/t", texts...)
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
		want = append(want, b.Append(nil))
	}
	out := t.TempDir()
	mustTable(t, []string{writeTable(t, "t.jsonl", text.String())}, out, TableOptions{CSVOptions: CSVOptions{Options: Options{Shards: 1}}})
	f, err := os.Open(filepath.Join(out, "t-train.tfrecord-00000-of-00001"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for record, err := range tfrecord.NewReader(f, tfrecord.ReaderOptions{}).All() {
		if err != nil || string(record) != string(want[n]) {
			t.Fatalf("record %d: %x, %v, want %x", n, record, err, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d records of %d", n, len(want))
	}
}

// What does not fit a column of a typed file is in the ledger, with the column; integers and text
// in two files are an error that suggests what helps.
func TestTypedValuesThatDoNotFit(t *testing.T) {
	type numbers struct {
		A int64   `parquet:"a"`
		X float64 `parquet:"x"`
	}
	type texts struct {
		A string `parquet:"a"`
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeParquet(t, at("n.parquet"), []numbers{{1, 1.5}, {2, -1e39}, {3, math.Inf(-1)}})
	writeParquet(t, at("t.parquet"), []texts{{"x"}})
	out := t.TempDir()
	s, err := Table(t.Context(), []string{at("n.parquet")}, out, TableOptions{CSVOptions: CSVOptions{Options: Options{MaxErrors: Tolerance{Count: 1}}}})
	if err != nil || s.Records != 2 || s.Errors != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if ledger := contents(t, out)["errors.jsonl"]; !strings.Contains(ledger, `column \"x\": -1e+39 is outside of the range of a 32-bit float`) {
		t.Error(ledger)
	}
	_, err = Table(t.Context(), []string{at("n.parquet"), at("t.parquet")}, t.TempDir(), TableOptions{})
	if err == nil || !strings.Contains(err.Error(), "write it in one type, or convert the files by themselves") {
		t.Error(err)
	}
}

// TestArraysKeepTheirShape converts arrays of more than one dimension a row: the manifest has the
// shape that all files agree on.
func TestArraysKeepTheirShape(t *testing.T) {
	array := func(dir, name, shape string, values int) string {
		header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n", shape)
		path := filepath.Join(dir, name, "x.npy")
		data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
		put(t, dir, name+"/x.npy", append(append(data, header...), make([]byte, 4*values)...))
		return path
	}
	for _, c := range []struct {
		shapes []string
		want   []int
	}{
		{[]string{"(2, 3, 5)"}, []int{3, 5}},
		{[]string{"(2, 3, 5)", "(2, 3, 5)"}, []int{3, 5}},
		{[]string{"(2, 3, 5)", "(2, 5, 3)"}, []int{15}},
		{[]string{"(2, 3, 5)", "(2, 15)"}, []int{15}},
		{[]string{"(2, 15)", "(2, 3, 5)"}, []int{15}},
	} {
		src, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		var paths []string
		for i, shape := range c.shapes {
			paths = append(paths, array(src, fmt.Sprint(i), shape, 30))
		}
		if _, err := Table(t.Context(), paths, out, TableOptions{}); err != nil {
			t.Fatalf("%v: %v", c.shapes, err)
		}
		m, err := manifest.Read(t.Context(), filepath.Join(out, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Features[0].Shape; !slices.Equal(got, c.want) {
			t.Errorf("%v: shape %v, want %v", c.shapes, got, c.want)
		}
	}
}

// TestDrop leaves out columns of all formats, whatever they hold.
func TestDrop(t *testing.T) {
	keys := func(t *testing.T, data string, o TableOptions) (keys []string, records int64) {
		t.Helper()
		src, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		put(t, src, "t", []byte(data))
		s, err := Table(t.Context(), []string{filepath.Join(src, "t")}, out, o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Read(t.Context(), filepath.Join(out, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Features {
			keys = append(keys, f.Key)
		}
		return keys, s.Records
	}
	rng := rand.New(rand.NewPCG(37, 7))
	odd := []string{`[[1],["a"]]`, `[{"x":1},null]`, `{"m":{"deep":[[]]}}`, `"text"`, `7`, `1e99`, `null`, `[1,"a"]`}
	for range 50 {
		var lines strings.Builder
		rows := 1 + rng.IntN(5)
		for i := range rows {
			fmt.Fprintf(&lines, `{"odd":%s,"id":%d,"in":{"odd":%s,"n":%d,"odd.base64":1}}`+"\n", odd[rng.IntN(len(odd))], i, odd[rng.IntN(len(odd))], i)
		}
		got, n := keys(t, lines.String(), TableOptions{CSVOptions: CSVOptions{Drop: []string{"odd", "in/odd"}}})
		if !slices.Equal(got, []string{"id", "in/n"}) || n != int64(rows) {
			t.Fatalf("%s%q, %d records", lines.String(), got, n)
		}
		got, n = keys(t, lines.String(), TableOptions{CSVOptions: CSVOptions{Drop: []string{"odd", "in"}}})
		if !slices.Equal(got, []string{"id"}) || n != int64(rows) {
			t.Fatalf("%s%q, %d records", lines.String(), got, n)
		}
	}
	const csv = "id,odd,name\n1,2,a\n2,x,b\n"
	if got, n := keys(t, csv, TableOptions{CSVOptions: CSVOptions{Drop: []string{"odd"}, Types: map[string]ColumnType{"id": TypeFloat}}}); !slices.Equal(got, []string{"id", "name"}) || n != 2 {
		t.Errorf("%q, %d records", got, n)
	}
	for want, o := range map[string]CSVOptions{
		`CSVOptions.Drop: there is no column "none"`:                        {Drop: []string{"id", "none"}},
		`CSVOptions.Label: column "id" is left out by CSVOptions.Drop`:      {Drop: []string{"id"}, Label: "id"},
		`CSVOptions.Types: column "id" is left out by CSVOptions.Drop`:      {Drop: []string{"id"}, Types: map[string]ColumnType{"id": TypeFloat}},
		`CSVOptions.Vectors: v: column "id" is left out by CSVOptions.Drop`: {Drop: []string{"id"}, Vectors: []Vector{{Name: "v", Columns: []string{"id"}}}},
		`there is no column "id"`:                                           {Drop: []string{"id"}, Vectors: []Vector{{Name: "v", Columns: []string{"id"}}}},
	} {
		for _, data := range []string{csv, `{"id":1,"odd":2,"name":"a"}`} {
			src := t.TempDir()
			put(t, src, "t", []byte(data))
			_, err := Table(t.Context(), []string{filepath.Join(src, "t")}, filepath.Join(t.TempDir(), "out"), TableOptions{CSVOptions: o})
			ofVector := strings.Contains(want, "Vectors:") && data != csv || want == `there is no column "id"` && data == csv
			if !ofVector && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, want %s", data, err, want)
			}
		}
	}
}

// TestWideNumbersAreAccountedFor converts columns with and without digits that floats of 32 bits lose.
func TestWideNumbersAreAccountedFor(t *testing.T) {
	for data, want := range map[string]string{
		"a,b\n1,2.5\n":                  "",
		"a,b\n16777217,0.123456789\n":   "1 rounded b",
		"a,b\n16777217,1\n1.5,2\n":      "1 rounded a",
		"a,b\n16777217.5,0.123456789\n": "2 rounded a b",
		"a,b,c,d,e,f,g" + "\n" + strings.Repeat("0.123456789,", 6) + "0.123456789\n": "7 rounded a b c d e",
		`{"a":1,"b":2.5}`:                           "",
		`{"a":16777217,"b":0.5}`:                    "",
		`{"a":16777217,"b":0.123456789}`:            "1 float64 b",
		`{"a":16777217}` + "\n" + `{"a":[0.5,2.5]}`: "1 float64 a",
	} {
		src := t.TempDir()
		put(t, src, "t", []byte(data))
		var got string
		for _, e := range mustTable(t, []string{filepath.Join(src, "t")}, t.TempDir(), TableOptions{}).LeftOut {
			got += fmt.Sprint(e.Count, " ", e.Reason)
			for _, name := range e.Names {
				name, _, _ = strings.Cut(name, " ")
				got += " " + name
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
