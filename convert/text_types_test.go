package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypesOfTexts: texts of CSV and of JSON lines, also in lists and vectors, become the same numbers;
// texts that are none are faults of their rows, and the set is made again from its manifest.
func TestTypesOfTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "t.csv", []byte("on,born,seen,paid,n\nyes,2024-02-29,2024-02-29 12:00,\"$1,234.50\",1\nno,1969-12-31,1970-01-01T00:00:00Z,(5),2\n,,,,3\nmaybe,2024-02-29,2024-02-29,1,4\nno,31.12.1999,2024-02-29,1,5\n"))
	put(t, dir, "t.jsonl", []byte(`{"on":"yes","born":"2024-02-29","seen":"2024-02-29 12:00","paid":"$1,234.50","n":1}
{"on":"no","born":"1969-12-31","seen":"1970-01-01T00:00:00Z","paid":"(5)","n":2}
{"n":3}
{"on":"maybe","born":"2024-02-29","seen":"2024-02-29","paid":"1","n":4}
{"on":"no","born":"31.12.1999","seen":"2024-02-29","paid":"1","n":5}
`))
	types := map[string]ColumnType{"on": TypeBool, "born": TypeDate, "seen": TypeTime, "paid": TypeNumber}
	want := []map[string]any{
		{"on": []int64{1}, "born": []int64{19782}, "seen": []int64{1709208000000000}, "paid": []float32{1234.5}, "n": []int64{1}},
		{"on": []int64{0}, "born": []int64{-1}, "seen": []int64{0}, "paid": []float32{-5}, "n": []int64{2}},
		{"n": []int64{3}},
	}
	for _, name := range []string{"t.csv", "t.jsonl"} {
		out := t.TempDir()
		o := TableOptions{CSVOptions: CSVOptions{Types: types, Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 2}}}}
		s := mustTable(t, []string{filepath.Join(dir, name)}, out, o)
		if diff := cmp.Diff(want, examples(t, out, "train")); diff != "" || s.Errors != 2 {
			t.Errorf("%s: %d errors\n%s", name, s.Errors, diff)
		}
		ledger := contents(t, out)["errors.jsonl"]
		for _, reason := range []string{`\"maybe\" is not of type bool`, `\"31.12.1999\" is not of type date`} {
			if !strings.Contains(ledger, reason) {
				t.Errorf("%s: the ledger lacks %s: %s", name, reason, ledger)
			}
		}
	}

	put(t, dir, "l.jsonl", []byte(`{"days":["2024-02-29","1970-01-01"],"flag":"t","x":1.5}`+"\n"+`{"days":[],"flag":"f","x":2}`+"\n"))
	out := t.TempDir()
	mustTable(t, []string{filepath.Join(dir, "l.jsonl")}, out, TableOptions{CSVOptions: CSVOptions{
		Types: map[string]ColumnType{"days": TypeDate, "flag": TypeBool}, Vectors: []Vector{{Name: "v", Columns: []string{"flag", "x"}}}, Options: Options{Shards: 1},
	}})
	if diff := cmp.Diff([]map[string]any{
		{"days": []int64{19782, 0}, "v": []float32{1, 1.5}}, {"days": []int64{}, "v": []float32{0, 2}},
	}, examples(t, out, "train")); diff != "" {
		t.Error(diff)
	}
	schema, err := TableSchema(t.Context(), []string{filepath.Join(dir, "t.csv")}, TableOptions{CSVOptions: CSVOptions{Types: types}})
	if err != nil || schema.Columns[1].Type != TypeDate {
		t.Errorf("%+v, %v", schema, err)
	}
}
