package convert

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
)

// labelled is a source of images with one label each, and the options to convert it.
type labelled struct {
	name string
	make func(t *testing.T, dir string, labels []string) (src string, o ImageOptions)
}

// flatImages makes i.png for each label.
func flatImages(t *testing.T, dir string, n int) string {
	t.Helper()
	src := filepath.Join(dir, "flat")
	for i := range n {
		put(t, src, fmt.Sprintf("%d.png", i), pngOf(i))
	}
	return src
}

// tableSources are all kinds of sources that state labels.
func tableSources() []labelled {
	table := func(name, header, row string) labelled {
		return labelled{name, func(t *testing.T, dir string, labels []string) (string, ImageOptions) {
			text := header
			for i, label := range labels {
				text += strings.NewReplacer("I", strconv.Itoa(i), "LABEL", label).Replace(row) + "\n"
			}
			put(t, dir, name, []byte(text))
			return flatImages(t, dir, len(labels)), ImageOptions{Labels: LabelSpec{File: filepath.Join(dir, name)}}
		}}
	}
	rows := func(name string, text bool) labelled {
		return labelled{name, func(t *testing.T, dir string, labels []string) (string, ImageOptions) {
			var ids []idSample
			var names []nameSample
			for i, label := range labels {
				path := fmt.Sprintf("%d.png", i)
				cell := imageCell{pngOf(i), &path}
				if id, err := strconv.ParseInt(label, 10, 64); err == nil {
					ids = append(ids, idSample{Image: cell, Label: &id})
				}
				names = append(names, nameSample{cell, label})
			}
			src, o := filepath.Join(dir, name), ImageOptions{}
			if text {
				writeParquet(t, src, names)
				o.Labels.Column = "class"
			} else {
				writeParquet(t, src, ids)
			}
			return src, o
		}}
	}
	return []labelled{
		table("t.csv", "path,label\n", "I.png,LABEL"),
		table("t.txt", "", "I.png LABEL"),
		table("t.jsonl", "", `{"path": "I.png", "label": LABEL}`),
		table("text.jsonl", "", `{"path": "I.png", "label": "LABEL"}`),
		rows("ids.parquet", false),
		rows("text.parquet", true),
		{"web.tar", func(t *testing.T, dir string, labels []string) (string, ImageOptions) {
			files := map[string]string{}
			for i, label := range labels {
				files[fmt.Sprintf("%d.png", i)], files[fmt.Sprintf("%d.cls", i)] = string(pngOf(i)), label+"\n"
			}
			src := filepath.Join(dir, "web.tar")
			packFiles(t, src, 1, files)
			return src, ImageOptions{}
		}},
	}
}

// labelsIn returns the ids and texts of the records of a set, by name, and the names in its
// manifest. It fails unless the set verifies.
func labelsIn(t *testing.T, out string) (ids map[string]int64, texts map[string]string, m *manifest.Manifest) {
	t.Helper()
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}})
	if err != nil || !v.OK {
		t.Errorf("verify: %v %+v", err, v)
	}
	ids, texts = map[string]int64{}, map[string]string{}
	for name, r := range records(t, out, "train") {
		ids[name], texts[name] = r[imagekey.Label].([]int64)[0], string(r[imagekey.Text].([][]byte)[0])
	}
	return ids, texts, m
}

// TestIntegerLabelsStay in sources of any kind: a set with fewer of them has the same ids.
func TestIntegerLabelsStay(t *testing.T) {
	for _, s := range tableSources() {
		for labels, names := range map[string]string{
			"0 5 3":         "0 1 2 3 4 5",
			"3":             "0 1 2 3",
			"2 0 1":         "0 1 2",
			"1 2 3 4":       "0 1 2 3 4",
			"10 9 11 8 100": strings.Join(digitsUpTo(100), " "),
			"-1 1":          "",
			"1000001 0":     "",
			"-9223372036854775808 9223372036854775807 5": "",
		} {
			t.Run(s.name+" "+labels, func(t *testing.T) {
				out, given := t.TempDir(), strings.Fields(labels)
				src, o := s.make(t, t.TempDir(), given)
				o.Name = "n"
				said := notes(&o.Options)
				mustImages(t, src, out, o)
				ids, texts, m := labelsIn(t, out)
				for i, label := range given {
					name := fmt.Sprintf("%d.png", i)
					if strconv.FormatInt(ids[name], 10) != label || texts[name] != label {
						t.Errorf("%s is %d, %q", label, ids[name], texts[name])
					}
				}
				if got := strings.Join(m.Labels, " "); got != names {
					t.Errorf("names %.200s", got)
				}
				_, err := os.Stat(filepath.Join(out, "image.class.label.labels.txt"))
				i := slices.IndexFunc(m.Features, func(f manifest.Feature) bool { return f.Key == imagekey.Label })
				if (err == nil) != (names != "") || (m.Features[i].Class == manifest.ClassLabel) != (names != "") {
					t.Errorf("labels file: %v, feature %+v", err, m.Features[i])
				}
				all := strings.Join(*said, "\n")
				if strings.Contains(all, "labels are integers, which are ids as they are") != (names != "" && len(given) < len(m.Labels)) ||
					strings.Contains(all, "they are stored as they are, without names; LabelSpec.Classes gives them others") != (names == "") {
					t.Errorf("notes %q", *said)
				}
			})
		}
	}
}

// digitsUpTo returns the integers from 0 to n.
func digitsUpTo(n int) (list []string) {
	for i := range n + 1 {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

// TestNumbersAndClasses: --classes names ids, by lines, numbered lines or a label map.
func TestNumbersAndClasses(t *testing.T) {
	for i, s := range tableSources() {
		if i%2 == 1 {
			continue // enough of the same
		}
		for _, c := range []struct{ classes, labels, ids, texts, err string }{
			{"zero\none\ntwo\nthree\nfour\nfive\n", "0 5 3", "0 5 3", "zero five three", ""},
			{"0 zero\n1 one\n2 two\n3 three\n", "3 1", "3 1", "three one", ""},
			{"1 one\n2 two\n", "2 1", "2 1", "two one", ""},
			{"10\n20\n30\n", "30 10", "2 0", "30 10", ""},
			{"cat\ndog\n", "1 -1", "1 -1", "dog ", ""},
			{"item {\n  id: 7\n  name: 'seven'\n}\nitem { id: 1 name: 'one' }\n", "1 7", "1 7", "one seven", ""},
			{"cat\ndog\n", "0 2", "", "", `LabelSpec.Classes: the label of 1.png: `},
			{"item { id: 1 name: 'one' }", "1 3", "", "", "has no class with the id 3"},
		} {
			src, o := s.make(t, t.TempDir(), strings.Fields(c.labels))
			o.Labels.Classes = classFile(t, c.classes)
			out := t.TempDir()
			_, err := Images(t.Context(), src, out, o)
			if c.err != "" {
				var bad *BadSamplesError
				if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: %q: %v", s.name, c.classes, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %q: %v", s.name, c.classes, err)
				continue
			}
			ids, texts, _ := labelsIn(t, out)
			var gotIDs, gotTexts []string
			for i := range strings.Fields(c.labels) {
				name := fmt.Sprintf("%d.png", i)
				gotIDs, gotTexts = append(gotIDs, strconv.FormatInt(ids[name], 10)), append(gotTexts, texts[name])
			}
			if strings.Join(gotIDs, " ") != c.ids || strings.Join(gotTexts, " ") != c.texts {
				t.Errorf("%s: %q: ids %s, texts %s", s.name, c.classes, gotIDs, gotTexts)
			}
		}
	}
}

// TestLabelMapNamesDirectories: classes have the ids of the map, and other ids their numbers.
func TestLabelMapNamesDirectories(t *testing.T) {
	out := t.TempDir()
	o := ImageOptions{Labels: LabelSpec{Classes: classFile(t, "item {\n  name: \"c2\"\n  id: 4\n}\nitem { name: \"c0\" id: 1 }\nitem { name: 'c1' id: 2 }")}}
	mustImages(t, directories(t, 9), out, o)
	if _, _, m := labelsIn(t, out); strings.Join(m.Labels, " ") != "0 c0 c1 3 c2" {
		t.Errorf("names %q", m.Labels)
	}
	if ids := idsIn(t, out, "train"); ids["c0"] != 1 || ids["c1"] != 2 || ids["c2"] != 4 {
		t.Errorf("ids %v", ids)
	}
}

// TestLabelsThatAreMissing: rows without a label are lines of the ledger. NA is a name among names,
// and missing among integers.
func TestLabelsThatAreMissing(t *testing.T) {
	for _, c := range []struct {
		labels, ids, note string
		o                 LabelSpec
	}{
		{"0,5,,3", "0:0 1:5 3:3", "", LabelSpec{}},
		{"0.0,NA,5.0,null", "0:0 2:5", "", LabelSpec{}},
		{"0.0,NaN,5.0,nan", "0:0 2:5", "", LabelSpec{}},
		{"0.0,NaN,5.0,11", "0:0 2:5 3:11", "", LabelSpec{Classes: classFile(t, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n")}},
		{"cat,nan,dog,nan", "0:0 1:2 2:1 3:2", `"nan" is a label like others, and not a missing value`, LabelSpec{}},
		{"cat,2,dog,1.0", "0:0 1:2 2:1 3:1", "", LabelSpec{Classes: classFile(t, "cat\ndog\nbird\n")}},
		{"cat,1,-1,dog", "0:0 1:1 2:-1 3:1", "", LabelSpec{Classes: classFile(t, "cat\ndog\nbird\n")}},
		{"cat|1,1|2,2,dog", "0:[0 1] 1:[1 2] 2:[2] 3:[1]", "", LabelSpec{Separator: "|", Classes: classFile(t, "cat\ndog\nbird\n")}},
		{"n2,0,n1,1", "0:1 1:0 2:0 3:1", "", LabelSpec{Classes: classFile(t, "n1 cat\nn2 dog\n")}},
		{"0.0,?,5.0,11.0", "0:0 1:3 2:2 3:1", `such as "?"`, LabelSpec{}},
		{"cat,NA,  ,ant", "0:2 1:0 3:1", `"NA" is a label like others, and not a missing value`, LabelSpec{}},
		{"NA,0|5,N/A|3,", "0:[] 1:[0 5] 2:[3] 3:[]", "", LabelSpec{Separator: "|"}},
		{"cat,7,5,", "0:2 1:1 2:0", `not all labels are integers, such as "cat", so they are names in text order: "5" is 0, "7" is 1, "cat" is 2`, LabelSpec{}},
		{"cat,NA,dog,", "0:0 1:1 2:2", "", LabelSpec{Classes: classFile(t, "cat\nNA\ndog\n")}},
	} {
		dir := t.TempDir()
		text := "path,label\n"
		for i, label := range strings.Split(c.labels, ",") {
			text += fmt.Sprintf("%d.png,%s\n", i, label)
		}
		put(t, dir, "t.csv", []byte(text))
		c.o.File = filepath.Join(dir, "t.csv")
		o := ImageOptions{Labels: c.o, Options: Options{MaxErrors: Tolerance{Count: 2}}}
		said := notes(&o.Options)
		out := t.TempDir()
		s := mustImages(t, flatImages(t, dir, 4), out, o)
		var got []string
		for name, r := range records(t, out, "train") {
			ids := fmt.Sprint(r[imagekey.Label])
			if !o.Labels.Several() {
				ids = strings.Trim(ids, "[]")
			}
			got = append(got, strings.TrimSuffix(name, ".png")+":"+ids)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.ids || s.Errors != 4-int64(len(got)) {
			t.Errorf("%s: %q, %+v", c.labels, got, s)
		}
		if all := strings.Join(*said, "\n"); !strings.Contains(all, c.note) {
			t.Errorf("%s: notes %q", c.labels, *said)
		}
		if s.Errors == 0 {
			continue
		}
		for _, line := range ledger(t, out) {
			if !strings.Contains(line, "has an empty label") && !strings.Contains(line, "a missing value: all others are integers") {
				t.Errorf("%s: ledger %s", c.labels, line)
			}
		}
	}
}

// TestMixturesOfIntegers: soft labels have the ids, too; -1 is none to mix.
func TestMixturesOfIntegers(t *testing.T) {
	for labels, want := range map[string]string{"0 7 3 7": "[0 3 7]", "5000000000 -3 7 7": "[-3 7 5000000000]"} {
		src, o := tableSources()[0].make(t, t.TempDir(), strings.Fields(labels))
		o.Augment.Policy, o.Resize.Square = policy(t, "mixup"), 16
		out := t.TempDir()
		mustImages(t, src, out, o)
		var seen []int64
		for _, e := range examples(t, out, "train") {
			seen = append(seen, e[imagekey.MixLabel].([]int64)...)
		}
		slices.Sort(seen)
		if got := fmt.Sprint(slices.Compact(seen)); got != want {
			t.Errorf("%s: %s", labels, got)
		}
		if report, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}}); err != nil || !report.OK {
			t.Errorf("%s: %v, %+v", labels, err, report)
		}
	}
	src, o := tableSources()[0].make(t, t.TempDir(), strings.Fields("0 -1 1"))
	o.Augment.Policy, o.Labels.Classes = policy(t, "mixup"), classFile(t, "a\nb\n")
	if _, err := Images(t.Context(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "an image in a mixture") {
		t.Error(err)
	}
}

// TestOffsetOfIntegers: background names come before the ids, where these have names.
func TestOffsetOfIntegers(t *testing.T) {
	for labels, want := range map[string]string{"0 2": "", "-1 2": "LabelSpec.Offset: labels are integers from -1 to 2"} {
		src, o := tableSources()[0].make(t, t.TempDir(), strings.Fields(labels))
		o.Labels.Offset = 1
		out := t.TempDir()
		_, err := Images(t.Context(), src, out, o)
		if want != "" {
			if !ofOption(err) || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
			continue
		}
		ids, _, m := labelsIn(t, out)
		if err != nil || ids["1.png"] != 3 || strings.Join(m.Labels, " ") != "background_0 0 1 2" {
			t.Errorf("%v, %v, %q", err, ids, m.Labels)
		}
	}
}

// TestRandomIntegerLabels changes integers in a table at random: records hold what the rows say, an
// update equals a fresh run and a job of tasks, and nothing is left to do after it.
func TestRandomIntegerLabels(t *testing.T) {
	for _, seed := range torture.Seeds(6, 300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			dir, out := t.TempDir(), t.TempDir()
			several := r.IntN(3) == 0
			ranges := []func() int64{
				func() int64 { return r.Int64N(4) },
				func() int64 { return r.Int64N(2000) },
				func() int64 { return r.Int64N(2_000_000) - 10 },
				func() int64 { return int64(r.Uint64()) },
			}
			draw := ranges[r.IntN(len(ranges))]
			written := func(n int64) string {
				before := []string{"", " ", "+"}
				if n < 0 {
					before = before[:2]
				}
				return before[r.IntN(len(before))] + strconv.FormatInt(n, 10) + []string{"", ".0", ".", ".00 "}[r.IntN(4)]
			}
			labels := make([][]int64, 20+r.IntN(30))
			change := func(i int) {
				labels[i] = nil
				for range 1 - min(1, r.IntN(6)) + r.IntN(3) {
					labels[i] = append(labels[i], draw())
				}
				if !several {
					labels[i] = labels[i][:min(1, len(labels[i]))]
				}
			}
			for i := range labels {
				change(i)
			}
			labels[0] = []int64{draw()} // one at least
			src := flatImages(t, dir, len(labels))
			o := ImageOptions{
				Options: Options{Name: "n", Shards: 1 + r.IntN(4), Seed: seed, MaxErrors: Tolerance{Share: 1}, AllowShrink: true},
				Labels:  LabelSpec{File: filepath.Join(dir, "t.csv")},
			}
			if several {
				o.Labels.Separator = "|"
			}
			for range 3 {
				text := "path,label\n"
				missing := 0
				for i, list := range labels {
					var cells []string
					for _, n := range list {
						cells = append(cells, written(n))
					}
					cell := strings.Join(cells, "|")
					if len(list) == 0 {
						cell, missing = []string{"", "NA", " ", "nan", "NaN"}[r.IntN(5)], missing+1
					}
					text += fmt.Sprintf("%d.png,%s\n", i, cell)
				}
				put(t, dir, "t.csv", []byte(text))
				s := mustImages(t, src, out, o)
				if several {
					missing = 0
				}
				if s.Errors != int64(missing) {
					t.Fatalf("%d errors, want %d", s.Errors, missing)
				}
				got := records(t, out, "train")
				for i, list := range labels {
					record := got[fmt.Sprintf("%d.png", i)]
					if record == nil && len(list) == 0 && !several {
						continue
					}
					if ids := record[imagekey.Label].([]int64); !slices.Equal(ids, list) {
						t.Fatalf("image %d: %v, want %v", i, ids, list)
					}
					for k, text := range record[imagekey.Text].([][]byte) {
						if string(text) != strconv.FormatInt(list[k], 10) {
							t.Fatalf("image %d: %q, want %v", i, text, list)
						}
					}
				}
				if v, err := verify.Files(t.Context(), []string{out}, verify.Options{Deep: &verify.DeepOptions{}}); err != nil || !v.OK {
					t.Errorf("verify: %v %+v", err, v)
				}
				fresh, tasks := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "t")
				mustImages(t, src, fresh, o)
				sameSet(t, contents(t, out), contents(t, fresh))
				for i := range 3 {
					mustImages(t, src, tasks, taskOf(o, 2-i, 3))
				}
				mustFinalize(t, tasks)
				sameSet(t, contents(t, out), contents(t, tasks))
				if s := mustImages(t, src, out, o); s.Status != UpToDate {
					t.Fatalf("again: %+v", s)
				}
				for range 1 + r.IntN(3) {
					change(1 + r.IntN(len(labels)-1))
				}
			}
		})
	}
}
