package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeTable writes a CSV file into a new directory and returns its path.
func writeTable(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	rewrite(t, path, text)
	return path
}

// rewrites is how many files rewrite has replaced.
var rewrites atomic.Int64

// rewrite replaces the content of a file and sets an old time.
func rewrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	when := old.Add(-time.Duration(rewrites.Add(1)) * time.Minute) // a different time for each content
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func mustCSV(t testing.TB, srcs []string, out string, o CSVOptions) *Summary {
	t.Helper()
	s, err := CSV(t.Context(), srcs, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// examples reads the Examples of all shards of a split, in order.
func examples(t testing.TB, dir, split string) []map[string]any {
	t.Helper()
	var all []map[string]any
	paths, _ := filepath.Glob(filepath.Join(dir, "*-"+split+".tfrecord-*"))
	slices.Sort(paths)
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for record, err := range tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: p}).All() {
			if err != nil {
				t.Fatal(err)
			}
			var e tfrecord.Example
			if err := e.Parse(bytes.Clone(record)); err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Map())
		}
	}
	return all
}

// show formats Examples briefly, with sorted keys.
func show(all []map[string]any) []string {
	var lines []string
	for _, e := range all {
		var parts []string
		for k, v := range e {
			if b, ok := v.([][]byte); ok {
				v = fmt.Sprintf("%q", b)
			}
			parts = append(parts, fmt.Sprintf("%s=%v", k, v))
		}
		slices.Sort(parts)
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// ledger reads the lines of errors.jsonl as KEY LINE STAGE REASON.
func ledger(t testing.TB, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, manifest.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		var b setdir.BadSample
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %d %s %s", b.Key, b.Line, b.Stage, b.Reason))
	}
	return lines
}

func TestCSVRows(t *testing.T) {
	for _, test := range []struct {
		name, text string
		o          CSVOptions
		want       []string
		ledger     []string
	}{
		{"types", "i,f,b,z\n1,1.5,x,007\n-2,3,\"y \"\"z\"\"\n\",08\n", CSVOptions{}, []string{
			`b=["x"] f=[1.5] i=[1] z=["007"]`, `b=["y \"z\"\n"] f=[3] i=[-2] z=["08"]`}, nil},
		{"types given", "a,b,c\n1,+5,2\n 2 ,007,x\n", CSVOptions{Types: map[string]ColumnType{"a": TypeFloat, "b": TypeInt64, "c": TypeBytes}}, []string{
			`a=[1] b=[5] c=["2"]`, `a=[2] b=[7] c=["x"]`}, nil},
		{"bad rows", "a,b\n1,2\n3\n4,5,6\n7,8\n\"9\"x,1\n", CSVOptions{Options: Options{MaxErrors: Tolerance{Count: 3}}}, []string{`a=[1] b=[2]`, `a=[7] b=[8]`}, []string{
			"t.csv:000000003 3 parse wrong number of fields: 1, 1 too few",
			"t.csv:000000004 4 parse wrong number of fields: 3, 1 too many",
			"t.csv:000000006 6 parse text after a closing quote in field 1: double the quotes inside a quoted field"}},
		{"unparsable", "id,n\na,1\nb,x\n", CSVOptions{Key: "id", Types: map[string]ColumnType{"n": TypeInt64}, Options: Options{MaxErrors: Tolerance{Count: 1}}}, []string{`id=["a"] n=[1]`}, []string{
			`b 3 parse column "n": "x" is not of type int64`}},
		{"missing dropped", "i,f,b\n1,1.5,x\n,NA,null\n", CSVOptions{}, []string{`b=["x"] f=[1.5] i=[1]`, ``}, nil},
		{"missing by default", "i,f,b\n1,1.5,x\n,NA,null\n", CSVOptions{Missing: MissingDefault}, []string{`b=["x"] f=[1.5] i=[1]`, `b=[""] f=[0] i=[0]`}, nil},
		{"missing is an error", "i,f\n1,1.5\n2,NA\n", CSVOptions{Missing: MissingError, Options: Options{MaxErrors: Tolerance{Share: 0.5}}}, []string{`f=[1.5] i=[1]`}, []string{
			`t.csv:000000003 3 parse column "f": the value is missing`}},
		{"missing spelt otherwise", "i,b\n-999,\n1,NA\n", CSVOptions{MissingValues: []string{"-999"}}, []string{`b=[""]`, `b=["NA"] i=[1]`}, nil},
		{"vectors", "V1,V2,V3,n,m,s\n1.5,2,3,4,5,x\nNA,2,3,-4,5,y\n", CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"V1..V3"}}, {Name: "w", Columns: []string{"m", "n"}}}}, []string{
			`s=["x"] v=[1.5 2 3] w=[5 4]`, `s=["y"] w=[5 -4]`}, nil},
		{"vectors by default", "a,b,c,d\nNA,2.5,NA,x\n", CSVOptions{Missing: MissingDefault, Vectors: []Vector{{Name: "f", Columns: []string{"a", "b"}}, {Name: "s", Columns: []string{"c", "d"}}}, Types: map[string]ColumnType{"c": TypeBytes}}, []string{
			`f=[0 2.5] s=["" "x"]`}, nil},
		{"labels", "x,y\n1,dog\n2,cat\n3,\n4,dog\n5, cat\n6,  \n", CSVOptions{Label: "y", Vocab: true, LabelOffset: 1, Options: Options{MaxErrors: Tolerance{Count: 2}}}, []string{
			`x=[1] y=[2]`, `x=[2] y=[1]`, `x=[4] y=[2]`, `x=[5] y=[1]`}, []string{
			`t.csv:000000004 4 parse column "y": the row has no label`, `t.csv:000000007 7 parse column "y": the row has no label`}},
		{"a class called NA", "x,y\n1,dog\n2,NA\n3,\nNA,null\n", CSVOptions{Label: "y", Vocab: true, Missing: MissingDefault}, []string{
			`x=[1] y=[1]`, `x=[2] y=[0]`, `x=[3] y=[-1]`, `x=[0] y=[2]`}, nil},
		{"NA given", "x,y\n1,dog\n2,NA\n", CSVOptions{Label: "y", Vocab: true, MissingValues: []string{"NA"}, Options: Options{MaxErrors: Tolerance{Count: 1}}}, []string{
			`x=[1] y=[0]`}, []string{`t.csv:000000003 3 parse column "y": the row has no label`}},
		{"NA among integers", "x,y\n1,5.0\n2,NA\n3,0\n4, 5\n", CSVOptions{Label: "y", Vocab: true, Missing: MissingDefault}, []string{
			`x=[1] y=[5]`, `x=[2] y=[-1]`, `x=[3] y=[0]`, `x=[4] y=[5]`}, nil},
		{"NaN among integers", "x,y\n1,5.0\n2,NaN\n3,0\n4, nan\n", CSVOptions{Label: "y", Vocab: true, Options: Options{MaxErrors: Tolerance{Count: 2}}}, []string{`x=[1] y=[5]`, `x=[3] y=[0]`}, []string{
			`t.csv:000000003 3 parse column "y": the row has no label`, `t.csv:000000005 5 parse column "y": the row has no label`}},
		{"NaN among integers by default", "x,y\n1,5\n2,NaN\n", CSVOptions{Label: "y", Vocab: true, Missing: MissingDefault}, []string{`x=[1] y=[5]`, `x=[2] y=[-1]`}, nil},
		{"a class called nan", "x,y\n1,dog\n2,nan\n", CSVOptions{Label: "y", Vocab: true}, []string{`x=[1] y=[0]`, `x=[2] y=[1]`}, nil},
		{"NaN without a vocabulary", "x,y\n1,2.5\n2,NaN\n3,-nan \nNaN,1\n", CSVOptions{Label: "y", Options: Options{MaxErrors: Tolerance{Count: 2}}}, []string{`x=[1] y=[2.5]`, `x=[NaN] y=[1]`}, []string{
			`t.csv:000000003 3 parse column "y": the row has no label`, `t.csv:000000004 4 parse column "y": the row has no label`}},
		{"NaN without a vocabulary by default", "x,y\n1,2.5\n2,NaN\n", CSVOptions{Label: "y", Missing: MissingDefault}, []string{`x=[1] y=[2.5]`, `x=[2] y=[0]`}, nil},
		{"labels without a vocabulary", "x,y\n1,NA\n2,7\n3,\n", CSVOptions{Label: "y", Options: Options{MaxErrors: Tolerance{Count: 2}}}, []string{`x=[2] y=[7]`}, []string{
			`t.csv:000000002 2 parse column "y": the row has no label`, `t.csv:000000004 4 parse column "y": the row has no label`}},
		{"a vocabulary with NA", "x,y\n1,NA\n2,null\n3,dog\n", CSVOptions{Label: "y", Vocab: true, Vocabulary: []string{"dog", "NA"}, Missing: MissingDefault}, []string{
			`x=[1] y=[1]`, `x=[2] y=[-1]`, `x=[3] y=[0]`}, nil},
		{"integers of a vocabulary", "x,y\n1,2\n2,0.0\n3,-1\n4,3\n5, b\n", CSVOptions{Label: "y", Vocab: true, Vocabulary: []string{"a", "b", "c"}, LabelOffset: 1, Options: Options{MaxErrors: Tolerance{Count: 1}}}, []string{
			`x=[1] y=[3]`, `x=[2] y=[1]`, `x=[3] y=[-1]`, `x=[5] y=[2]`}, []string{`t.csv:000000005 5 parse column "y": "3" is not in the vocabulary`}},
		{"names that are integers", "x,y\n1,20\n2,10.0\n3,1\n", CSVOptions{Label: "y", Vocab: true, Vocabulary: []string{"10", "20"}, Options: Options{MaxErrors: Tolerance{Count: 1}}}, []string{
			`x=[1] y=[1]`, `x=[2] y=[0]`}, []string{`t.csv:000000004 4 parse column "y": "1" is not in the vocabulary`}},
		{"labels below 0", "x,y\n1,-1\n2,1\n3,5000000000\n", CSVOptions{Label: "y", Vocab: true}, []string{`x=[1] y=[-1]`, `x=[2] y=[1]`, `x=[3] y=[5000000000]`}, nil},
		{"unknown labels", "x,y\n1,dog\n2,NA\n3,cow\n", CSVOptions{Label: "y", Vocab: true, Vocabulary: []string{"dog", "cat"}, Missing: MissingDefault, Options: Options{MaxErrors: Tolerance{Count: 1}}}, []string{
			`x=[1] y=[0]`, `x=[2] y=[-1]`}, []string{`t.csv:000000004 4 parse column "y": "cow" is not in the vocabulary`}},
		{"names given", "1|2\n3|4\n", CSVOptions{NoHeader: true, Columns: []string{"a", "b"}}, []string{`a=[1] b=[2]`, `a=[3] b=[4]`}, nil},
		{"limits of int64", "n\n9223372036854775807\n-9223372036854775808\n", CSVOptions{}, []string{`n=[9223372036854775807]`, `n=[-9223372036854775808]`}, nil},
		{"floats out of range", "x\n1e300\n-1e300\n1e-300\nnan\n", CSVOptions{}, []string{`x=[+Inf]`, `x=[-Inf]`, `x=[0]`, `x=[NaN]`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			test.o.Shards = 1
			s := mustCSV(t, []string{writeTable(t, "t.csv", test.text)}, out, test.o)
			if got := show(examples(t, out, "train")); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			var got []string
			if s.Errors > 0 {
				got = ledger(t, out)
			}
			if !slices.Equal(got, test.ledger) {
				t.Errorf("ledger %q\nwant   %q", got, test.ledger)
			}
			if s.Samples != s.Records+s.Errors || int(s.Records) != len(test.want) {
				t.Errorf("summary %+v", s)
			}
		})
	}
}

func TestCSVDescribesFeatures(t *testing.T) {
	out := t.TempDir()
	src := writeTable(t, "My Table.csv.gz", "")
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte("V1,V2,name,n,y\n1,2.5,a,NA,dog\n3,4,b,2,cat\n"))
	w.Close()
	rewrite(t, src, gz.String())
	var notes []string
	mustCSV(t, []string{src}, out, CSVOptions{
		Vectors: []Vector{{Name: "v", Columns: []string{"V1", "V2"}}}, Label: "y", Vocab: true,
		Options: Options{Note: func(s string) { notes = append(notes, s) }},
	})
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	want := []manifest.Feature{
		{Key: "n", Kind: "int64", Class: manifest.ClassScalar, Optional: true},
		{Key: "name", Kind: "bytes", Class: manifest.ClassText},
		{Key: "v", Kind: "float", Class: manifest.ClassVector, Shape: []int{2}},
		{Key: "y", Kind: "int64", Class: manifest.ClassLabel},
	}
	if !reflect.DeepEqual(m.Features, want) {
		t.Errorf("features %+v\nwant     %+v", m.Features, want)
	}
	if m.Name != "my_table" || !slices.Equal(m.Labels, []string{"cat", "dog"}) || m.Supervised == nil || *m.Supervised != (manifest.Supervised{Input: "v", Target: "y"}) {
		t.Errorf("name %s, labels %v, supervised %v", m.Name, m.Labels, m.Supervised)
	}
	if got := m.Splits[0].Shards[0].Labels; !reflect.DeepEqual(got, map[string]int64{"cat": 1, "dog": 1}) {
		t.Errorf("label counts %v", got)
	}
	if notes != nil {
		t.Errorf("notes %q", notes)
	}
}

// numberedRows is a table of n rows, some of them bad, that spans several chunks from about 40,000
// rows on.
func numberedRows(n int) string {
	var b strings.Builder
	b.WriteString("id,x,note\n")
	for i := range n {
		if i%1000 == 999 {
			fmt.Fprintf(&b, "%d\n", i)
			continue
		}
		fmt.Fprintf(&b, "%d,%d.25,\"note,\n%d\"\n", i, i%50, i)
	}
	return b.String()
}

func ids(all []map[string]any) []int64 {
	var ids []int64
	for _, e := range all {
		ids = append(ids, e["id"].([]int64)[0])
	}
	return ids
}

func TestCSVSameBytes(t *testing.T) {
	text := numberedRows(45_000)
	src := writeTable(t, "t.csv", text)
	tests := []struct {
		name string
		o    CSVOptions
	}{
		{"shuffled", CSVOptions{Options: Options{Shards: 3, Limit: 30_000, Splits: []SplitShare{{Name: "train", Share: .8}, {Name: "val", Share: .2}}}, Shuffle: true}},
		{"in order", CSVOptions{Options: Options{Shards: 3}}},
		{"splits", CSVOptions{Options: Options{Shards: 3, Splits: []SplitShare{{Name: "train", Share: .8}, {Name: "val", Share: .2}}}}},
		{"limit", CSVOptions{Options: Options{Shards: 3, Limit: 10_000}}},
		{"compressed", CSVOptions{Options: Options{Shards: 2, Compression: tfrecord.CompressionGzip, Limit: 20_000}}},
		{"shuffled evenly", CSVOptions{Options: Options{Shards: 3, Even: true}, Shuffle: true}},
	}
	for _, test := range tests[:race.Few(len(tests), 2)] {
		t.Run(test.name, func(t *testing.T) {
			var want map[string]string
			for _, workers := range []int{1, 5} {
				o := test.o
				o.Workers, o.MaxErrors = workers, Tolerance{Share: .1}
				o.Memory = 16 << 20
				if workers == 1 {
					o.Memory = 1 << 30 // no spilling
				}
				out := t.TempDir()
				s := mustCSV(t, []string{src}, out, o)
				if s.Samples != s.Records+s.Errors {
					t.Fatalf("summary %+v", s)
				}
				if got := contents(t, out); want == nil {
					want = got
				} else {
					sameSet(t, got, want)
				}
			}
		})
	}
}

func TestCSVKeepsOrderAndSplitsAll(t *testing.T) {
	src := writeTable(t, "t.csv", numberedRows(45_000))
	one, split := t.TempDir(), t.TempDir()
	o := CSVOptions{Options: Options{Shards: 4, MaxErrors: Tolerance{Share: .1}}}
	mustCSV(t, []string{src}, one, o)
	all := ids(examples(t, one, "train"))
	if len(all) != 44_955 || !slices.IsSorted(all) {
		t.Fatalf("%d rows, sorted: %v", len(all), slices.IsSorted(all))
	}
	o.Splits = []SplitShare{{Name: "train", Share: .9}, {Name: "val", Share: .1}}
	s := mustCSV(t, []string{src}, split, o)
	train, val := ids(examples(t, split, "train")), ids(examples(t, split, "val"))
	if !slices.IsSorted(train) || !slices.IsSorted(val) {
		t.Error("a split is not in order")
	}
	both := append(slices.Clone(train), val...)
	slices.Sort(both)
	if !slices.Equal(both, all) {
		t.Error("the splits are not all of the rows")
	}
	if n := float64(len(val)) / float64(len(all)); math.Abs(n-.1) > .01 {
		t.Errorf("val has %v of the rows", n)
	}
	for _, split := range []string{"train", "val"} {
		if s.Splits[split].Shards != 4 {
			t.Errorf("%s: %+v", split, s.Splits[split])
		}
	}
}

func TestCSVLimitAndNewFilesMoveNothing(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	rewrite(t, a, numberedRows(3000))

	rewrite(t, b, "id,x,note\n1000000,1,x\n1000001,2,y\n")
	o := CSVOptions{Options: Options{Shards: 1, MaxErrors: Tolerance{Share: .1}, Splits: []SplitShare{{Name: "train", Share: .5}, {Name: "val", Share: .5}}}}
	before, after := t.TempDir(), t.TempDir()
	mustCSV(t, []string{a}, before, o)
	mustCSV(t, []string{b, a}, after, o)
	for _, split := range []string{"train", "val"} {
		was, is := ids(examples(t, before, split)), ids(examples(t, after, split))
		is = slices.DeleteFunc(is, func(id int64) bool { return id >= 1_000_000 })
		if !slices.Equal(was, is) {
			t.Errorf("%s: another file moved rows", split)
		}
	}
	o.Splits, o.Limit = nil, 500
	small, large := t.TempDir(), t.TempDir()
	s := mustCSV(t, []string{a}, small, o)
	o.Limit = 1000
	mustCSV(t, []string{a}, large, o)
	if s.Samples != 500 {
		t.Errorf("%d samples, want 500", s.Samples)
	}
	in := ids(examples(t, large, "train"))
	for _, id := range ids(examples(t, small, "train")) {
		if !slices.Contains(in, id) {
			t.Fatalf("row %d is among 500 and not among 1000", id)
		}
	}
}

// The rows that a limit selects in one file depend on all others: an update is what a fresh run
// makes when one of them shrinks or grows.
func TestUpdatesWithALimit(t *testing.T) {
	rows := func(from, to int) string {
		text := "id\n"
		for i := from; i < to; i++ {
			text += fmt.Sprintln(i)
		}
		return text
	}
	for _, end := range []int{1001, 1199, 1250, 1400} {
		dir, out, fresh := t.TempDir(), t.TempDir(), t.TempDir()
		a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
		rewrite(t, a, rows(0, 300))
		rewrite(t, b, rows(1000, 1200))
		o := CSVOptions{Options: Options{Shards: 4, Limit: 50}}
		mustCSV(t, []string{a, b}, out, o)
		rewrite(t, b, rows(1000, end))
		mustCSV(t, []string{a, b}, out, o)
		mustCSV(t, []string{a, b}, fresh, o)
		if got, want := ids(examples(t, out, "train")), ids(examples(t, fresh, "train")); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, a fresh run %v", end, got, want)
		}
	}
}

// TestCSVShuffleProgress checks that rows are counted as they are read ahead, before any is done,
// and that the whole file counts as read.
func TestCSVShuffleProgress(t *testing.T) {
	text := numberedRows(20_000)
	src := writeTable(t, "t.csv", text)
	for _, shuffle := range []bool{true, false} {
		p := new(Progress)
		mustCSV(t, []string{src}, t.TempDir(), CSVOptions{Options: Options{Shards: 3, MaxErrors: Tolerance{Share: .1}, Progress: p}, Shuffle: shuffle})
		want := int64(0)
		if shuffle {
			want = 20_000
		}
		if p.ToScan.Load() != want || p.Scanned.Load() != want || p.Done.Load() != 20_000 || p.Errors.Load() != 20 {
			t.Errorf("shuffle %v: %d of %d scanned, %d done, %d errors", shuffle, p.Scanned.Load(), p.ToScan.Load(), p.Done.Load(), p.Errors.Load())
		}
		if read := p.BytesIn.Load(); read < int64(len(text))*9/10 || read > int64(len(text)) {
			t.Errorf("shuffle %v: %d of %d bytes read", shuffle, read, len(text))
		}
	}
}

func TestCSVShuffle(t *testing.T) {
	src := writeTable(t, "t.csv", numberedRows(45_000))
	o := CSVOptions{Options: Options{Shards: 5, MaxErrors: Tolerance{Share: .1}}, Shuffle: true, Memory: 16 << 20}
	out := t.TempDir()
	s := mustCSV(t, []string{src}, out, o)
	got := ids(examples(t, out, "train"))
	if s.Errors != 45 || len(got) != 44_955 {
		t.Fatalf("%+v, %d rows", s, len(got))
	}
	// In a random order the mean distance of neighbours is a third of the total.
	var sum float64
	for i := 1; i < len(got); i++ {
		sum += math.Abs(float64(got[i] - got[i-1]))
	}
	if mean := sum / float64(len(got)); math.Abs(mean-15_000) > 500 {
		t.Errorf("mean distance of neighbours %v, want about 15000", mean)
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 44_955 {
		t.Error("rows are lost or doubled")
	}
	for _, even := range []bool{true, false} {
		o.Even = even
		out := t.TempDir()
		mustCSV(t, []string{src}, out, o)
		m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		if err != nil {
			t.Fatal(err)
		}
		var spread int64
		for _, info := range m.Splits[0].Shards {
			spread = max(spread, info.Records-8991, 8991-info.Records)
		}
		if (spread < 40) != even {
			t.Errorf("even %v: a shard is %d rows off the mean", even, spread)
		}
	}
	o.Seed = 1
	other := t.TempDir()
	mustCSV(t, []string{src}, other, o)
	if slices.Equal(ids(examples(t, other, "train"))[:100], ids(examples(t, out, "train"))[:100]) {
		t.Error("another seed gives the same order")
	}
}

func TestCSVUpToDateAndUpdated(t *testing.T) {
	text := numberedRows(60_000)
	src := writeTable(t, "t.csv", text)
	out, fresh := t.TempDir(), t.TempDir()
	o := CSVOptions{Options: Options{Shards: 3, MaxErrors: Tolerance{Share: .1}}}
	mustCSV(t, []string{src}, out, o)
	var s *Summary
	if s = mustCSV(t, []string{src}, out, o); s.Status != UpToDate || s.ShardsKept != 3 {
		t.Errorf("second run: %+v", s)
	}
	o.HashInputs = true
	if s = mustCSV(t, []string{src}, out, o); s.Status != UpToDate {
		t.Errorf("with Options.HashInputs: %+v", s)
	}
	o.HashInputs = false
	changed := strings.Replace(text, "note,\n50001\"", "NOTE,\n50001\"", 1)
	rewrite(t, src, changed)
	if s = mustCSV(t, []string{src}, out, o); s.Status != Updated || s.ShardsKept != 2 || s.ShardsWritten != 1 {
		t.Errorf("after an edit: %+v", s)
	}
	mustCSV(t, []string{src}, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))

	// Another type is a change of the input, too.
	rewrite(t, src, strings.Replace(changed, "\n7,", "\nx,", 1))
	if s = mustCSV(t, []string{src}, out, o); s.Status != Updated || s.ShardsWritten != 3 {
		t.Errorf("after a change of type: %+v", s)
	}
	o.Missing = MissingDefault
	if _, err := CSV(t.Context(), []string{src}, out, o); err == nil || !strings.Contains(err.Error(), `CSVOptions.Missing was drop-feature, now it is default;`) {
		t.Errorf("other options: %v", err)
	}
	o.Overwrite = true
	mustCSV(t, []string{src}, out, o)
}

func TestCSVCompressedSourceGivesTheSameRows(t *testing.T) {
	text := numberedRows(60_000)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(text))
	w.Close()
	o := CSVOptions{Options: Options{Shards: 3, Workers: 3, Name: "t", MaxErrors: Tolerance{Share: .1}, Splits: []SplitShare{{Name: "train", Share: .5}, {Name: "val", Share: .5}}}}
	plain, packed := t.TempDir(), t.TempDir()
	mustCSV(t, []string{writeTable(t, "t.csv", text)}, plain, o)
	mustCSV(t, []string{writeTable(t, "t.csv", gz.String())}, packed, o)
	got, want := contents(t, packed), contents(t, plain)
	for _, set := range []map[string]string{got, want} {
		// The split seed is the file's name, which is the same here.
		delete(set, manifest.File)
	}
	sameSet(t, got, want)
}

func TestCSVErrors(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		rewrite(t, path, text)
		return path
	}
	good, other := put("good.csv", "a,b\n1,2\n"), put("other.csv", "a,c\n1,2\n")
	for _, test := range []struct {
		name    string
		srcs    []string
		o       CSVOptions
		message string
		usage   bool
	}{
		{"no such file", []string{filepath.Join(dir, "none.csv")}, CSVOptions{}, "no such file", false},
		{"no match", []string{filepath.Join(dir, "*.tsv")}, CSVOptions{}, "no file matches", false},
		{"a folder", []string{dir}, CSVOptions{}, "is a directory: give files or a glob", false},
		{"twice", []string{good, good}, CSVOptions{}, "given twice", false},
		{"other columns", []string{good, other}, CSVOptions{}, `column 2 is "b"`, false},
		{"fewer columns", []string{good, put("one.csv", "a\n1\n")}, CSVOptions{}, "has 2 columns", false},
		{"no rows", []string{put("rows.csv", "a,b\n")}, CSVOptions{}, "a header and no rows", false},
		{"empty", []string{put("empty.csv", "")}, CSVOptions{}, "the file is empty", false},
		{"all bad", []string{put("bad.csv", "a,b\n1\n2\n")}, CSVOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}}, "no record is left", false},
		{"type of no column", []string{good}, CSVOptions{Types: map[string]ColumnType{"x": TypeFloat}}, `CSVOptions.Types: there is no column "x"`, true},
		{"label of no column", []string{good}, CSVOptions{Label: "x"}, `CSVOptions.Label: there is no column "x"`, true},
		{"vocabulary of no column", []string{good}, CSVOptions{Label: "x", Vocab: true}, `CSVOptions.Label: there is no column "x"`, true},
		{"key of no column", []string{good}, CSVOptions{Key: "x"}, `CSVOptions.Key: there is no column "x"`, true},
		{"vocabulary of no label", []string{good}, CSVOptions{Vocab: true}, "CSVOptions.Vocab: needs CSVOptions.Label", true},
		{"vocabulary of nothing", []string{put("nothing.csv", "a,b\n1,\n2,NA\n")}, CSVOptions{Label: "b", Vocab: true}, "no labels to number", false},
		{"offset without names", []string{put("below.csv", "a,b\n1,-1\n2,1\n")}, CSVOptions{Label: "b", Vocab: true, LabelOffset: 1}, "CSVOptions.LabelOffset: labels are integers from -1 to 1", true},
		{"vocabulary with doubles", []string{good}, CSVOptions{Label: "a", Vocab: true, Vocabulary: []string{"x", "x"}}, "named twice", true},
		{"vector of no column", []string{good}, CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"a..x"}}}}, `CSVOptions.Vectors: there is no column "x"`, true},
		{"vector backwards", []string{good}, CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"b..a"}}}}, "comes after", true},
		{"vector twice", []string{good}, CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"a"}}, {Name: "w", Columns: []string{"a"}}}}, `column "a" is in v and in w`, true},
		{"vector named as a column", []string{good}, CSVOptions{Vectors: []Vector{{Name: "b", Columns: []string{"a"}}}}, `two features would be named "b"`, true},
		{"vector of the label", []string{good}, CSVOptions{Label: "a", Vectors: []Vector{{Name: "v", Columns: []string{"a"}}}}, "is the label", true},
		{"vector of text and numbers", []string{put("text.csv", "a,b\n1,x\n")}, CSVOptions{Vectors: []Vector{{Name: "v", Columns: []string{"a", "b"}}}}, `column "b" is bytes and others are int64`, true},
		{"policy", []string{good}, CSVOptions{Missing: "ignore"}, "CSVOptions.Missing", true},
		{"longest row", []string{good}, CSVOptions{MaxRow: 7}, "CSVOptions.MaxRow", true},
		{"delimiter", []string{good}, CSVOptions{Delimiter: '"'}, "CSVOptions.Delimiter", true},
		{"name", []string{good}, CSVOptions{Options: Options{Name: "a-b"}}, "Options.Name", true},
		{"memory", []string{good}, CSVOptions{Memory: 1}, "CSVOptions.Memory", true},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := CSV(context.Background(), test.srcs, out, test.o)
		if err == nil || !strings.Contains(err.Error(), test.message) || ofOption(err) != test.usage {
			t.Errorf("%s: %v, want %q (usage %v)", test.name, err, test.message, test.usage)
		}
		if _, err := os.Stat(filepath.Join(out, manifest.File)); err == nil {
			t.Errorf("%s: it left a manifest", test.name)
		}
	}
}

func TestCSVNoticesChangeWhileReading(t *testing.T) {
	text := numberedRows(60_000)
	src := writeTable(t, "t.csv", text)
	o := CSVOptions{Options: Options{MaxErrors: Tolerance{Share: .1}}}
	o.Splits = []SplitShare{{Name: "train", Share: 1 - 1e-9}, {Name: "none", Share: 1e-9}} // an empty split is noted after scanning
	for _, always := range []bool{false, true} {
		changes := 0
		o.Note = func(note string) {
			if strings.Contains(note, "none") && (changes == 0 || always) {
				changes++
				rewrite(t, src, strings.Replace(text, "0.25", fmt.Sprintf("%d.25", changes), 1))
			}
		}
		_, err := CSV(t.Context(), []string{src}, t.TempDir(), o)
		if always != errors.Is(err, csvscan.ErrChanged) || !always && err != nil {
			t.Errorf("always %v: %v after %d changes", always, err, changes)
		}
		rewrite(t, src, text)
	}
}

func TestCSVSchema(t *testing.T) {
	src := writeTable(t, "t.csv", "a,b,c\n1,2.5,x\n")
	s, err := CSVSchema(t.Context(), []string{src}, CSVOptions{Types: map[string]ColumnType{"a": TypeBytes}})
	want := &Schema{Columns: []SchemaColumn{{Name: "a", Type: TypeBytes}, {Name: "b", Type: TypeFloat}, {Name: "c", Type: TypeBytes}}}
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Fatalf("%+v, %v", s, err)
	}
	data, _ := json.Marshal(s)
	path := writeTable(t, "schema.json", string(data))
	if got, err := ReadSchema(t.Context(), path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for text, message := range map[string]string{
		`{"columns":[{"name":"a","type":"int"}]}`: `type "int"`,
		`{"cols":[]}`: "not a schema", `[`: "not a schema",
	} {
		if _, err := ReadSchema(t.Context(), writeTable(t, "s.json", text)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseVector(t *testing.T) {
	v, err := ParseVector("v=V1..V3,x")
	if err != nil || !reflect.DeepEqual(v, Vector{Name: "v", Columns: []string{"V1..V3", "x"}}) {
		t.Errorf("%+v, %v", v, err)
	}
	for _, s := range []string{"", "v", "=a", "v="} {
		if _, err := ParseVector(s); err == nil {
			t.Errorf("%q is no error", s)
		}
	}
}

func TestCSVManyFiles(t *testing.T) {
	dir := t.TempDir()
	var gz bytes.Buffer
	for i := range 300 {
		name, text := fmt.Sprintf("part-%03d.csv", i), fmt.Sprintf("a,b\n%d,x\n", i)
		if i%2 == 1 {
			gz.Reset()
			w := gzip.NewWriter(&gz)
			w.Write([]byte(text))
			w.Close()
			text = gz.String()
		}
		rewrite(t, filepath.Join(dir, name), text)
	}
	out := t.TempDir()
	s := mustCSV(t, []string{filepath.Join(dir, "*.csv")}, out, CSVOptions{Options: Options{Shards: 2, Splits: []SplitShare{{Name: "train", Share: .5}, {Name: "val", Share: .5}}}})
	if s.Records != 300 {
		t.Fatalf("%+v", s)
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil && len(open) > 100 {
		t.Errorf("%d files are open", len(open))
	}
	var got []int64
	for _, split := range []string{"train", "val"} {
		for _, e := range examples(t, out, split) {
			got = append(got, e["a"].([]int64)[0])
		}
	}
	slices.Sort(got)
	for i, v := range got {
		if v != int64(i) {
			t.Fatalf("row %d is %d", i, v)
		}
	}
}

// A table as pandas writes it has its index in a first column without a name, which gets the name
// under which pandas reads it, and --drop leaves out.
func TestIndexOfPandas(t *testing.T) {
	for text, want := range map[string]string{
		",age,name\n0,31,a\n1,,b\n":     "Unnamed: 0 age name",
		"Unnamed: 0,age,name\n0,31,a\n": "Unnamed: 0 age name",
		"age,,name\n0,31,a\n":           "",
		",,name\n0,31,a\n":              "",
		",age,Unnamed: 0\n0,31,a\n":     "",
	} {
		src := writeTable(t, "t.csv", text)
		schema, err := CSVSchema(t.Context(), []string{src}, CSVOptions{})
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "without a name") {
				t.Errorf("%q: %v, %v", text, schema, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var names []string
		for _, c := range schema.Columns {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %q", text, got)
		}
		var notes []string
		o := CSVOptions{Options: Options{Note: func(s string) { notes = append(notes, s) }}, Drop: []string{"Unnamed: 0"}}
		if schema, err := CSVSchema(t.Context(), []string{src}, o); err != nil || len(schema.Columns) != 2 || len(notes) > 0 {
			t.Errorf("%q without it: %v, %v, %q", text, schema, err, notes)
		}
		o.Drop = nil
		if _, err := CSVSchema(t.Context(), []string{src}, o); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "pandas") {
			t.Errorf("%q: %v, %q", text, err, notes)
		}
	}
}

// TestSplitsOfTableFiles gives files random names that state splits: each row is in the split of its
// file, in any order, unless Options.Splits gives others.
func TestSplitsOfTableFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 8))
	names := map[string]string{"train-%d.csv": "train", "x_val_%d.csv": "val", "test%d.csv": "test", "validation-%d.csv": "val"}
	for range 30 {
		dir := t.TempDir()
		var srcs []string
		want := map[string][]string{}
		rows := 0
		for i := range 1 + rng.IntN(5) {
			pattern := slices.Sorted(maps.Keys(names))[rng.IntN(len(names))]
			text := "id\n"
			for range 1 + rng.IntN(9) {
				text += fmt.Sprintln(rows)
				want[names[pattern]] = append(want[names[pattern]], fmt.Sprint(rows))
				rows++
			}
			src := filepath.Join(dir, fmt.Sprintf(pattern, i))
			rewrite(t, src, text)
			srcs = append(srcs, src)
		}
		o := CSVOptions{Options: Options{Name: "t", Shards: 1 + rng.IntN(2)}, Shuffle: rng.IntN(2) == 0}
		out := t.TempDir()
		s, err := CSV(t.Context(), srcs, out, o)
		if err != nil {
			t.Fatal(err)
		}
		for split := range s.Splits {
			var got []string
			shards, _ := filepath.Glob(filepath.Join(out, "t-"+split+".tfrecord-*"))
			for _, file := range shards {
				for _, record := range settest.RecordsOf(t, file) {
					var e tfrecord.Example
					if err := e.Parse(record); err != nil {
						t.Fatal(err)
					}
					f, _ := e.Get("id")
					id, _ := f.Int64()
					got = append(got, fmt.Sprint(id))
				}
			}
			slices.Sort(got)
			slices.Sort(want[split])
			if !slices.Equal(got, want[split]) {
				t.Errorf("%s of %q: %q, want %q", split, srcs, got, want[split])
			}
		}
		if len(s.Splits) != len(want) {
			t.Errorf("%q: splits %v", srcs, slices.Sorted(maps.Keys(s.Splits)))
		}
		if s, err := CSV(t.Context(), srcs, out, o); err != nil || s.Status != UpToDate {
			t.Errorf("again: %+v, %v", s, err)
		}
		o.Splits = []SplitShare{{Name: "all", Share: 1}}
		if s, err := CSV(t.Context(), srcs, t.TempDir(), o); err != nil || s.Splits["all"].Records != int64(rows) {
			t.Errorf("with Options.Splits: %+v, %v", s, err)
		}
		o.Splits, o.Limit = nil, int64(1+rng.IntN(rows))
		if s, err := CSV(t.Context(), srcs, t.TempDir(), o); err != nil || s.Records != o.Limit {
			t.Errorf("%d of %d rows: %+v, %v", o.Limit, rows, s, err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"data.csv", "test.csv"} {
		rewrite(t, filepath.Join(dir, name), "id\n1\n")
	}
	if _, err := CSV(t.Context(), []string{filepath.Join(dir, "*.csv")}, t.TempDir(), CSVOptions{}); err == nil || !strings.Contains(err.Error(), "is of the split test by its name") {
		t.Errorf("one of two files names a split: %v", err)
	}
}
