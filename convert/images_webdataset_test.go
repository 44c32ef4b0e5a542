package convert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/imagekey"
)

// samples are WebDataset samples of five members each.
func samples(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		key := fmt.Sprintf("%06d", i)
		files[key+".png"] = string(pngOf(i))
		files[key+".cls"] = fmt.Sprint(i%3*2) + "\n"
		files[key+".txt"] = fmt.Sprintf("caption %d ü", i)
		files[key+".seg.png"] = fmt.Sprintf("mask %d", i)
		files[key+".json"] = fmt.Sprintf(`{"score": %g, "n": %d, "who": "w%d", "none": %s, "xs": [%d, 0.5], "other": {"a": 1}}`, float64(i)/4, i-3, i, []string{"null", "7"}[i%2], i)
	}
	return files
}

// Members of samples become the label and features, in archives of any format, the same bytes.
func TestWebDatasets(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "names.txt", []byte("zero\none\ntwo\nthree\nfour\n"))
	for name, o := range map[string]ImageOptions{
		"plain":    {},
		"features": {Features: []FeatureSpec{{Name: "score", Type: TypeFloat}, {Name: "n"}, {Name: "who"}, {Name: "none", Type: TypeInt64}, {Name: "xs"}}, Labels: LabelSpec{Classes: filepath.Join(dir, "names.txt")}},
		"none":     {Labels: LabelSpec{None: true}},
	} {
		o.Options = Options{Name: "web", Shards: 2}
		var want map[string]string
		for i, ext := range archiveFormats {
			src, out := filepath.Join(dir, "web"+ext), t.TempDir()
			packFiles(t, src, uint64(i), samples(30))
			s := mustImages(t, src, out, o)
			if s.Records != 30 || s.Errors != 0 || s.SkippedFiles > 1 { // what a Mac adds
				t.Errorf("%s%s: %+v", name, ext, s)
			}
			if said := strings.Contains(fmt.Sprint(s.LeftOut), "1 key of JSON members not stored: other (30)"); said != (name == "features") {
				t.Errorf("%s%s: left out %v", name, ext, s.LeftOut)
			}
			if again := mustImages(t, src, out, o); again.Status != UpToDate {
				t.Errorf("%s%s: again: %s", name, ext, again.Status)
			}
			got := contents(t, out)
			if want == nil {
				want = got
			}
			sameSet(t, got, want)
			if i > 0 {
				continue
			}
			for path, e := range records(t, out, "train") {
				var i int
				fmt.Sscanf(path, "%d.png", &i)
				model := map[string]any{"txt": fmt.Sprintf("caption %d ü", i), "seg.png": fmt.Sprintf("mask %d", i)}
				switch name {
				case "plain":
					model["json"] = samples(i + 1)[fmt.Sprintf("%06d.json", i)]
					model["image/class/label"], model["image/class/text"] = i%3*2, fmt.Sprint(i%3*2)
				case "none":
					model["cls"] = fmt.Sprint(i%3*2) + "\n"
					model["image/class/label"], model["json"] = nil, samples(i + 1)[fmt.Sprintf("%06d.json", i)]
				case "features":
					model["image/class/label"], model["image/class/text"] = i%3*2, []string{"zero", "one", "two", "three", "four"}[i%3*2]
					model["score"], model["n"], model["who"], model["json"] = float64(i)/4, i-3, fmt.Sprintf("w%d", i), nil
					model["xs"] = fmt.Sprintf("[%d 0.5]", i)
					if model["none"] = nil; i%2 == 1 {
						model["none"] = 7
					}
				}
				for key, want := range model {
					got := fmt.Sprint(e[key])
					if texts, ok := e[key].([][]byte); ok {
						got = fmt.Sprintf("%s", texts)
					}
					if want == nil && e[key] != nil || want != nil && got != fmt.Sprint(want) && got != fmt.Sprintf("[%v]", want) {
						t.Errorf("%s: %s: %s is %v, want %v", name, path, key, got, want)
					}
				}
			}
		}
	}
}

// A changed member of a sample, whichever, redoes one shard.
func TestUpdatesOfWebDatasets(t *testing.T) {
	for _, ext := range archiveFormats {
		src, out := filepath.Join(t.TempDir(), "web"+ext), t.TempDir()
		files := samples(40)
		o := ImageOptions{Options: Options{Name: "web", Shards: 4}, Features: []FeatureSpec{{Name: "n"}}}
		packFiles(t, src, 1, files)
		mustImages(t, src, out, o)
		for step, change := range []string{"000007.txt", "000011.cls", "000002.json", "000030.png", "000005.seg.png"} {
			files[change] = map[string]string{".txt": "other", ".cls": "0", ".json": `{"n": 77}`, ".png": string(pngOf(999))}[filepath.Ext(change)]
			packFiles(t, src, uint64(step), files)
			setBack(t, src, time.Hour+time.Duration(step+1)*time.Minute)
			if s := mustImages(t, src, out, o); s.Status != Updated || s.ShardsWritten != 1 {
				t.Errorf("%s: after %s: %s, %d shards", ext, change, s.Status, s.ShardsWritten)
			}
			fresh := t.TempDir()
			mustImages(t, src, fresh, o)
			sameSet(t, contents(t, out), contents(t, fresh))
		}
	}
}

// What is wrong with a sample is in the ledger, what is wrong with all of them an error.
func TestUnusableSamples(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string // of samples(9); "" removes
		o      ImageOptions
		ledger string // of one sample
		err    string
	}{
		"no class":       {map[string]string{"000004.cls": ""}, ImageOptions{}, "no .cls member", ""},
		"a word":         {map[string]string{"000004.cls": "daisy"}, ImageOptions{}, `\"daisy\" is not an integer`, ""},
		"too high":       {map[string]string{"000004.cls": "99999999999999999999"}, ImageOptions{}, "is not an integer", ""},
		"long":           {map[string]string{"000004.cls": strings.Repeat("1", 100)}, ImageOptions{}, "larger than 64 bytes", ""},
		"no JSON":        {map[string]string{"000004.json": "{"}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "not a JSON object: at byte 1: it ends too early", ""},
		"a list":         {map[string]string{"000004.json": "[1, 2]"}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, `not a JSON object, but \"[1, 2]\"`, ""},
		"null":           {map[string]string{"000004.json": "null"}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "not a JSON object, but", ""},
		"two objects":    {map[string]string{"000004.json": `{"n": 1} {"n": 2}`}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "text after it", ""},
		"bad value":      {map[string]string{"000004.json": `{"n": 01}`}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "not a JSON object: at byte ", ""},
		"a key twice":    {map[string]string{"000004.json": `{"n": 1, "m": 0, "n": 2}`}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, `the key \"n\" twice`, ""},
		"deep JSON":      {map[string]string{"000004.json": strings.Repeat(`{"n":`, 100_000)}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "not a JSON object", ""},
		"not its type":   {map[string]string{"000004.json": `{"n": 1.5}`}, ImageOptions{Features: []FeatureSpec{{Name: "n", Type: TypeInt64}}}, "is not int64", ""},
		"beyond int64":   {map[string]string{"000004.json": `{"n": 9223372036854775808}`}, ImageOptions{Features: []FeatureSpec{{Name: "n", Type: TypeInt64}}}, "is not int64", ""},
		"beyond a float": {map[string]string{"000004.json": `{"n": 1e300}`}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "1e300 is outside of the range of a 32-bit float", ""},
		"beyond float64": {map[string]string{"000004.json": `{"n": [1, -1e999]}`}, ImageOptions{Features: []FeatureSpec{{Name: "n", Type: TypeFloat}}}, "-1e999 is outside of the range of a 32-bit float", ""},
		"an object":      {nil, ImageOptions{Features: []FeatureSpec{{Name: "other"}}}, "", "want a number, a string"},
		"two kinds":      {map[string]string{"000004.json": `{"n": "x"}`}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "in another sample", ""},
		"two cases":      {map[string]string{"000004.TXT": "x"}, ImageOptions{}, "two members .txt", ""},
		"no key":         {nil, ImageOptions{Features: []FeatureSpec{{Name: "nope"}}}, "", `no .json member has the key "nope"`},
		"same name":      {map[string]string{"000004.n": "x"}, ImageOptions{Features: []FeatureSpec{{Name: "n"}}}, "", `feature "n", which another`},
		"renamed":        {nil, ImageOptions{Rename: map[string]string{"image/encoded": "txt"}}, "", `feature "txt", which another`},
		"few classes":    {nil, ImageOptions{Labels: LabelSpec{Classes: "classes.txt"}}, "", "names 2 classes, with ids from 0, and a label is"},
		"no classes":     {onlyClasses(samples(9)), ImageOptions{ArchiveFormat: WebDataset}, "", "no sample has a .cls member"},
		"files":          {nil, ImageOptions{ArchiveFormat: Files}, "", "is in no class directory"},
		"files with one": {nil, ImageOptions{ArchiveFormat: Files, Features: []FeatureSpec{{Name: "n"}}}, "", "is for LabelSpec.File, WebDatasets"},
		"unknown":        {nil, ImageOptions{ArchiveFormat: "rar"}, "", "want auto, files or webdataset"},
	} {
		files := samples(9)
		for name, text := range c.change {
			if files[name] = text; text == "" {
				delete(files, name)
			}
		}
		dir, out := t.TempDir(), t.TempDir()
		put(t, dir, "classes.txt", []byte("a\nb\n"))
		if c.o.Labels.Classes != "" {
			c.o.Labels.Classes = filepath.Join(dir, "classes.txt")
		}
		src := filepath.Join(dir, "web.tar")
		packFiles(t, src, 1, files)
		c.o.MaxErrors = Tolerance{Count: 1}
		s, err := Images(context.Background(), src, out, c.o)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		ledger, _ := os.ReadFile(filepath.Join(out, "errors.jsonl"))
		if err != nil || s.Records != 8 || s.Errors != 1 || !strings.Contains(string(ledger), c.ledger) || !strings.Contains(string(ledger), `"key":"000004.png"`) {
			t.Errorf("%s: %+v, %v, ledger %s", name, s, err, ledger)
		}
	}
}

// TestSpellingsOfClasses: a .cls member is an id, however it is written.
func TestSpellingsOfClasses(t *testing.T) {
	files := map[string]string{}
	for i, text := range []string{"7", "007", "+7\n", " 7.0 ", "7."} {
		files[fmt.Sprintf("%d.png", i)], files[fmt.Sprintf("%d.cls", i)] = string(pngOf(i)), text
	}
	src, out := filepath.Join(t.TempDir(), "web.tar"), t.TempDir()
	packFiles(t, src, 1, files)
	mustImages(t, src, out, ImageOptions{})
	ids, texts, _ := labelsIn(t, out)
	for name, id := range ids {
		if id != 7 || texts[name] != "7" || len(ids) != 5 {
			t.Errorf("%s is %d, %q", name, id, texts[name])
		}
	}
}

// onlyClasses returns changes that remove every .cls member.
func onlyClasses(files map[string]string) map[string]string {
	changes := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".cls") {
			changes[name] = ""
		}
	}
	return changes
}

// TestDotsInKeys packs random samples whose keys have dots: each image is a sample with its label, or
// a note names it.
func TestDotsInKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		files, labels := map[string]string{}, map[string]string{}
		dotted := rng.IntN(2) == 0
		for i := range 1 + rng.IntN(6) {
			key := fmt.Sprintf("%d", i)
			if dotted {
				key += fmt.Sprintf(".%d", rng.IntN(3))
			}
			if rng.IntN(2) == 0 {
				key = "some/22.0/" + key
			}
			if labels[key+".png"] != "" {
				continue
			}
			label := fmt.Sprint(rng.IntN(4))
			files[key+".png"], files[key+".cls"], labels[key+".png"] = string(pngOf(i)), label, label
			if rng.IntN(3) == 0 {
				files[key+".txt"] = "a caption"
			}
		}
		src, out := filepath.Join(t.TempDir(), "web.tar"), t.TempDir()
		packFiles(t, src, 1, files)
		s := mustImages(t, src, out, ImageOptions{Options: Options{Shards: 1}})
		got := records(t, out, "train")
		for name, label := range labels {
			if r := got[name]; r == nil || fmt.Sprint(r[imagekey.Label]) != "["+label+"]" {
				t.Errorf("%s of %d samples: %v, want label %s", name, s.Records, r[imagekey.Label], label)
			}
		}
		if len(got) != len(labels) || s.SkippedFiles != 0 {
			t.Errorf("%d records of %d samples, %d other files", len(got), len(labels), s.SkippedFiles)
		}
	}
	src := filepath.Join(t.TempDir(), "web.tar")
	packFiles(t, src, 1, map[string]string{"0.png": string(pngOf(1)), "0.cls": "1", "1.left.png": string(pngOf(2)), "1.right.png": string(pngOf(3)), "1.cls": "2"})
	var o ImageOptions
	said := notes(&o.Options)
	if s := mustImages(t, src, t.TempDir(), o); s.Records != 1 || s.SkippedFiles != 3 || !strings.Contains(strings.Join(*said, "\n"), "2 images in no sample of the WebDataset skipped") {
		t.Errorf("%+v, notes %q", s, *said)
	}
}
