package conversion

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// configCase is what a configuration says and what means the same on a command
// line.
type configCase struct {
	yaml string
	args []string
}

var casesOfType = map[string][]configCase{
	"bool":        {{"true", []string{"true"}}, {"false", []string{"false"}}, {"True", []string{"true"}}},
	"int":         {{"7", []string{"7"}}, {"0x10", []string{"16"}}, {"'12'", []string{"12"}}},
	"int64":       {{"7", []string{"7"}}, {"9007199254740993", []string{"9007199254740993"}}},
	"string":      {{"plain", []string{"plain"}}, {"'a: b #c,d'", []string{"a: b #c,d"}}, {"010", []string{"010"}}, {"1.50", []string{"1.50"}}},
	"float64":     {{"1.5", []string{"1.5"}}, {"1e2", []string{"100"}}},
	"stringArray": {{"a/**", []string{"a/**"}}, {"['a,b', 'c d']", []string{"a,b", "c d"}}},
	"stringSlice": {{"[a, b c]", []string{"a,b c"}}},
}

var casesOfFlag = map[string][]configCase{
	"seed":              {{"18446744073709551615", []string{"18446744073709551615"}}, {"&s 5", []string{"5"}}},
	"splits":            {{"{train: 0.75, val: 0.25}", []string{"train=0.75,val=0.25"}}, {"[train=75%, val=25%]", []string{"train=75%,val=25%"}}},
	"shards":            {{"4", []string{"4"}}, {"auto", []string{"auto"}}, {"{train: 16, val: 2}", []string{"train=16,val=2"}}},
	"channels":          {{"1", []string{"1"}}, {"'3'", []string{"3"}}},
	"decoder":           {{"go", []string{"go"}}, {"auto", []string{"auto"}}},
	"subsampling":       {{"444", []string{"444"}}},
	"compression":       {{"zstd", []string{"zstd"}}},
	"max-errors":        {{"5", []string{"5"}}, {"2.5%", []string{"2.5%"}}},
	"rename":            {{"{image/encoded: image, image/format: f}", []string{"image/encoded=image,image/format=f"}}},
	"augment":           {{"hflip:0.5", []string{"hflip:0.5"}}, {"\n  - hflip: 0.5\n  - rotate: 15", []string{"hflip|rotate:15"}}},
	"annotations":       {{"a.json", []string{"a.json"}}, {"[train=a, val=b]", []string{"train=a", "val=b"}}, {"{train: a, val: b}", []string{"train=a", "val=b"}}},
	"annotation-format": {{"voc", []string{"voc"}}},
	"mask-fill":         {{"0", []string{"0"}}},
	"archive-format":    {{"files", []string{"files"}}},
	"features":          {{"[score:float, who]", []string{"score:float,who"}}, {"a,b:int64", []string{"a,b:int64"}}},
	"expect":            {{"100-200", []string{"100-200"}}, {"7", []string{"7"}}},
	"resize":            {{"224", []string{"224"}}, {"32x16", []string{"32x16"}}},
	"gpu":               {{"auto", []string{"auto"}}, {"on", []string{"on"}}, {"off", []string{"off"}}},
	"fit":               {{"pad", []string{"pad"}}},
	"pad-color":         {{"'102030'", []string{"102030"}}, {"0a0b0c", []string{"0a0b0c"}}},
	"background":        {{"'#102030'", []string{"#102030"}}, {"000000", []string{"000000"}}},
	"float-range":       {{"[-1, 0.5]", []string{"-1,0.5"}}, {"0,1", []string{"0,1"}}},
	"filter":            {{"lanczos3", []string{"lanczos3"}}},
	"encode":            {{"png", []string{"png"}}},
	"mean":              {{"[0.485, 0.456, 0.406]", []string{"0.485,0.456,0.406"}}, {"0.5", []string{"0.5"}}},
	"std":               {{"[0.229, 0.224, 0.225]", []string{"0.229,0.224,0.225"}}},
	"encoding":          {{"latin1", []string{"latin1"}}, {"utf8", []string{"utf8"}}},
	"delimiter":         {{"tab", []string{"tab"}}, {`"\t"`, []string{"\t"}}, {"'|'", []string{"|"}}},
	"column":            {{"{a: int64, b=c: float}", []string{"a=int64", "b=c=float"}}, {"[a=int64, b=bytes]", []string{"a=int64", "b=bytes"}}, {"a=float", []string{"a=float"}}, {"{a: 'date:02.01.2006', b: bool}", []string{"a=date:02.01.2006", "b=bool"}}},
	"na":                {{"default", []string{"default"}}},
	"na-values":         {{"['', NA, '-']", []string{",NA,-"}}, {"''", []string{""}}},
	"vector":            {{"{v: V1..V28, w: [A, B]}", []string{"v=V1..V28", "w=A,B"}}, {"[v=A..B]", []string{"v=A..B"}}},
	"vocab":             {{"kinds.txt", []string{"kinds.txt"}}, {"true", []string{vocabFromData}}, {"false", nil}},
	"memory":            {{"1GiB", []string{"1GiB"}}},
	"format":            {{"jsonl", []string{"jsonl"}}, {"auto", []string{"auto"}}},
	"max-row":           {{"2MiB", []string{"2MiB"}}},
}

// TestConfigurationsMeanWhatFlagsMean gives each flag in a file and on the
// command line.
func TestConfigurationsMeanWhatFlagsMean(t *testing.T) {
	for _, kind := range configKinds {
		for _, f := range flagsOf(kind) {
			cases := casesOfFlag[f.Name]
			if cases == nil {
				cases = casesOfType[f.Value.Type()]
			}
			if cases == nil {
				t.Errorf("%s: no values to try for a %s", f.Name, f.Value.Type())
			}
			for _, c := range cases {
				want, got := flagSet(kind), flagSet(kind)
				for _, arg := range c.args {
					if err := want.Parse([]string{"--" + f.Name + "=" + arg}); err != nil {
						t.Fatalf("--%s=%s: %v", f.Name, arg, err)
					}
				}
				path := filepath.Join(t.TempDir(), "c.yaml")
				if err := os.WriteFile(path, []byte(f.Name+": "+c.yaml+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				config, err := readConfig(path)
				if err == nil {
					err = config.apply(got, tableOf(kind))
				}
				if err != nil {
					t.Errorf("%s %s: %s: %v", kind, f.Name, c.yaml, err)
					continue
				}
				want.VisitAll(func(w *pflag.Flag) {
					g := got.Lookup(w.Name)
					if g.Changed != w.Changed || !slices.Equal(valuesOf(g), valuesOf(w)) {
						t.Errorf("%s %s: %s: --%s is %q (given: %v), on the command line %q (%v)", kind, f.Name, c.yaml, w.Name, valuesOf(g), g.Changed, valuesOf(w), w.Changed)
					}
				})
			}
		}
	}
}

func flagSet(kind string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(kind, pflag.ContinueOnError)
	cli.AddOptions(fs, tableOf(kind))
	return fs
}

func valuesOf(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// TestVerbsHaveTheFlagsOfTheirTables also compares the flags of fields with those that package optname
// has for structs of the same name.
func TestVerbsHaveTheFlagsOfTheirTables(t *testing.T) {
	for _, kind := range configKinds {
		verb, _, err := NewCommand(nil).Find([]string{kind})
		if err != nil {
			t.Fatal(err)
		}
		flags := 0
		verb.Flags().VisitAll(func(*pflag.Flag) { flags++ })
		table := tableOf(kind)
		if flags != len(table) {
			t.Errorf("convert %s has %d flags for %d options", kind, flags, len(table))
		}
		for _, o := range table {
			if f := verb.Flags().Lookup(o.Flag); f == nil || f.Usage != o.Help {
				t.Errorf("convert %s --%s: %v", kind, o.Flag, f)
			}
		}
	}
	for name, flag := range FieldFlags() {
		if word := name.Word(); word != string(name) && word != "--"+flag {
			t.Errorf("%s is %s, and in its table --%s", name, word, flag)
		}
	}
}
