package convert

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// statedSource is a random data set whose splits are stated in one of the forms that people use.
type statedSource struct {
	form  string
	of    map[string]string // split, by path below the source
	files map[string]string // the others, by path
}

// statedForms are the forms: each puts images of a split somewhere, and says so.
var statedForms = []string{
	"SPLIT/CLASS", "SPLIT/images", "images/SPLIT", "yaml directories", "yaml Roboflow", "yaml files", "yaml lists of directories",
	"VOC", "VOC devkit", "VOC Segmentation", "VOC Layout", "VOC extensions", "Darknet data", "CVAT", "lists with CRLF", "COCO years",
	"names alone", "names in meta", "lists with labels", "TOP/SPLIT", "yaml in TOP", "words SPLIT/CLASS",
}

func newStatedSource(rng *rand.Rand, form string) *statedSource {
	s := &statedSource{form: form, of: map[string]string{}, files: map[string]string{}}
	names := map[string][]string{"train": {"train", "Train", "training"}, "val": {"val", "valid", "validation"}, "test": {"test", "Testing"}}
	spelt := map[string]string{}
	byPath := map[string][]string{} // paths by split
	for split, as := range names {
		spelt[split] = as[rng.IntN(len(as))]
	}
	for i := range 6 + rng.IntN(12) {
		split := []string{"train", "val", "test"}[rng.IntN(3)]
		base := fmt.Sprintf("%d.png", i)
		dir := spelt[split]
		var at string
		switch form {
		case "SPLIT/CLASS":
			at = path.Join(dir, fmt.Sprint("c", i%2), base)
		case "SPLIT/images", "yaml Roboflow":
			at = path.Join(dir, "images", base)
			s.files[path.Join(dir, "labels", fmt.Sprint(i, ".txt"))] = "0 0.5 0.5 0.1 0.1\n"
		case "images/SPLIT":
			at = path.Join("images", dir, base)
			s.files[path.Join("labels", dir, fmt.Sprint(i, ".txt"))] = ""
		case "yaml directories", "yaml lists of directories":
			at = path.Join("set", map[string]string{"train": "a", "val": "b", "test": "c"}[split], base)
		case "TOP/SPLIT":
			at = path.Join("ds", dir, base)
		case "words SPLIT/CLASS":
			at = path.Join("seg_"+dir, "seg_"+dir, fmt.Sprint("c", i%2), base)
		case "yaml in TOP":
			at = path.Join("ds", "images", map[string]string{"train": "a", "val": "b", "test": "c"}[split], base)
		case "VOC", "VOC Segmentation", "VOC Layout", "VOC extensions":
			at = path.Join("JPEGImages", base)
		case "VOC devkit":
			at = path.Join("VOC2007", "JPEGImages", base)
		case "COCO years":
			at = path.Join(split+"2017", base)
		case "CVAT":
			at = path.Join("obj_"+split+"_data", base)
		default:
			at = path.Join("pictures", fmt.Sprint("c", i%2), base)
		}
		s.of[at] = split
		byPath[split] = append(byPath[split], at)
	}
	yamlKey := map[string]string{"train": "train", "val": "val", "test": "test"}
	for split, paths := range byPath {
		lines := strings.Join(paths, "\n") + "\n"
		stems := ""
		for _, p := range paths {
			stems += strings.TrimSuffix(path.Base(p), ".png") + "\n"
		}
		switch form {
		case "yaml directories":
			s.files["data.yaml"] += yamlKey[split] + ": " + []string{"", "./", "../datasets/"}[rng.IntN(3)] + path.Dir(paths[0]) + "\n"
		case "yaml Roboflow":
			s.files["data.yaml"] += yamlKey[split] + ": ../" + spelt[split] + "/images\n"
		case "yaml lists of directories":
			s.files["data.yaml"] += yamlKey[split] + ":\n  - " + path.Dir(paths[0]) + "\n  - set/nothing\n"
		case "yaml files":
			s.files["data.yaml"] += yamlKey[split] + ": lists/" + split + ".txt\n"
			s.files["lists/"+split+".txt"] = strings.ReplaceAll("/home/me/"+lines, "\n", "\n/home/me/")
			s.files["lists/"+split+".txt"] = strings.TrimSuffix(s.files["lists/"+split+".txt"], "/home/me/")
		case "yaml in TOP":
			s.files["ds/data.yaml"] += yamlKey[split] + ": images/" + path.Base(path.Dir(paths[0])) + "\n"
		case "names alone", "names in meta", "lists with labels":
			text := ""
			for i, p := range paths {
				if form != "lists with labels" {
					p = strings.TrimSuffix(p, ".png")
				}
				if p = strings.TrimPrefix(p, "pictures/"); form == "lists with labels" || i == 0 {
					p += fmt.Sprintf(" %d", i-1)
				}
				text += p + "\n"
			}
			list := spelt[split] + ".txt"
			if form == "names in meta" {
				list = path.Join("meta", list)
			}
			s.files[list] = text
		case "VOC", "VOC devkit", "VOC Segmentation", "VOC Layout", "VOC extensions":
			switch form {
			case "VOC Layout":
				stems = strings.ReplaceAll(stems, "\n", " 1\n")
			case "VOC extensions":
				stems = strings.ReplaceAll(stems, "\n", ".png\n")
			}
			below := strings.TrimPrefix(path.Dir(path.Dir(paths[0])), ".")
			dir := path.Join(below, "ImageSets", "Main")
			if form == "VOC Segmentation" || form == "VOC Layout" {
				dir = path.Join(below, "ImageSets", strings.TrimPrefix(form, "VOC "))
			}
			s.files[path.Join(dir, split+".txt")] = stems
			s.files[path.Join(dir, "dog_"+split+".txt")] = strings.ReplaceAll(stems, "\n", " -1\n")
			if split != "test" {
				s.files[path.Join(dir, "trainval.txt")] += stems
			}
		case "Darknet data":
			s.files["obj.data"] += strings.Replace(split, "val", "valid", 1) + " = data/" + split + ".list\n"
			s.files[split+".list"] = strings.ReplaceAll("data/"+lines, "\n", "\ndata/")
			s.files[split+".list"] = strings.TrimSuffix(s.files[split+".list"], "data/")
			s.files["obj.data"] += "names = data/obj.names\n"
		case "CVAT":
			s.files[spelt[split]+".txt"] = strings.TrimSuffix(strings.ReplaceAll("data/"+lines, "\n", "\ndata/"), "data/")
		case "lists with CRLF":
			s.files[spelt[split]+".txt"] = "\ufeff" + strings.ReplaceAll(lines, "\n", "\r\n")
		}
	}
	return s
}

// write writes the source into a new directory.
func (s *statedSource) write(t *testing.T) string {
	src := t.TempDir()
	for at := range s.of {
		put(t, src, at, pngOf(1))
	}
	for at, text := range s.files {
		put(t, src, at, []byte(text))
	}
	return src
}

// splitsOf returns the split of each image of a set.
func splitsOf(t *testing.T, out string, s *Summary) map[string]string {
	t.Helper()
	of := map[string]string{}
	for split := range s.Splits {
		for name := range records(t, out, split) {
			of[name] = split
		}
	}
	return of
}

// TestStatedSplits converts data sets that state their splits in the forms that people use.
func TestStatedSplits(t *testing.T) {
	for _, seed := range torture.Sample(t, 3, torture.Seeds(6, 60)) {
		for _, form := range statedForms {
			rng := rand.New(rand.NewPCG(seed, uint64(len(form))))
			s := newStatedSource(rng, form)
			src := s.write(t)
			o := ImageOptions{Options: Options{Shards: 1}, Labels: LabelSpec{None: true}}
			said := notes(&o.Options)
			out := t.TempDir()
			summary, err := Images(t.Context(), src, out, o)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", form, seed, err)
			}
			if got := splitsOf(t, out, summary); !mapsEqual(got, s.of) {
				t.Errorf("%s, seed %d: %v, want %v; notes %q", form, seed, got, s.of, *said)
			}
			if s := mustImages(t, src, out, o); s.Status != UpToDate {
				t.Errorf("%s: again it is %s", form, s.Status)
			}
			// An archive gives the splits of its directory.
			files := maps.Clone(s.files)
			for at := range s.of {
				files[at] = string(pngOf(1))
			}
			packed := filepath.Join(t.TempDir(), "packed"+archiveFormats[rng.IntN(len(archiveFormats))])
			packFiles(t, packed, seed, files)
			again := t.TempDir()
			if got := splitsOf(t, again, mustImages(t, packed, again, o)); !mapsEqual(got, s.of) {
				t.Errorf("%s in %s, seed %d: %v, want %v; notes %q", form, filepath.Base(packed), seed, got, s.of, *said)
			}
			// Options.Splits replaces them.
			all := o
			all.Splits = []SplitShare{{Name: "all", Share: 1}}
			if s2 := mustImages(t, src, t.TempDir(), all); s2.Splits["all"].Records != int64(len(s.of)) {
				t.Errorf("%s with Options.Splits: %+v", form, s2.Splits)
			}
		}
	}
}

func mapsEqual(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestSplitsThatDisagree gives sources two statements of which one differs for one image.
func TestSplitsThatDisagree(t *testing.T) {
	for _, c := range []struct {
		files string // images end in .png
		wants string
	}{
		{"train/1.png test/2.png train.txt=train/1.png,test/2.png", "test/2.png is in the split train by train.txt, and in test by its directory"},
		{"a/1.png train.txt=a/1.png val.txt=a/1.png", "a/1.png is in the split train by train.txt, and in val by val.txt"},
		{"JPEGImages/1.png ImageSets/Main/train.txt=1 ImageSets/Main/test.txt=1", "is in the split test by ImageSets/Main/test.txt, and in train by ImageSets/Main/train.txt"},
		{"a/1.png b/1.png c/2.png train.txt=1.png val.txt=c/2.png", `train.txt: "1.png" may be a/1.png and b/1.png`},
		{"JPEGImages/1.png ImageSets/Main/train.txt=1 ImageSets/Segmentation/val.txt=1", "1.png is in the split train by ImageSets/Main/train.txt, and in val by ImageSets/Segmentation/val.txt"},
		{"images/train/1.png images/val/2.png train.txt=1.png,2.png", "images/val/2.png is in the split train by train.txt, and in val by its directory"},
		{"train/1.png test/2.png fold1/3.png", "test, train are split directories, but fold1/3.png is in none of them"},
		{"train/1.png data.yaml=train:[[1]]", "data.yaml: line 1: train is not a path"},
	} {
		src := t.TempDir()
		putListed(t, src, c.files)
		_, err := Images(t.Context(), src, filepath.Join(t.TempDir(), "out"), ImageOptions{Labels: LabelSpec{None: true}})
		if err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: %v, want %s", c.files, err, c.wants)
		}
	}
}

// TestListsOfSomeImages gives lists that leave images out, have names of no image, or are none.
func TestListsOfSomeImages(t *testing.T) {
	for _, c := range []struct {
		files, wants, note string
	}{
		{"a/1.png a/2.png a/3.png train.txt=a/1.png val.txt=a/2.png,a/9.png", "a/1.png:train a/2.png:val", "1 image in none of the lists of splits skipped, such as a/3.png"},
		{"a/1.png val.txt=a/1.png,a/9.png,a/8.png", "a/1.png:val", "val.txt: 2 lines of no image here, such as a/9.png"},
		{"a/1.png train.txt=some,words val.txt=1", "a/1.png:val", "train.txt: 2 lines of no image here, such as some"},
		{"a/1.png train.txt=some,1", "a/1.png:train", "train.txt: not used, as not each line names an image here: such as some"},
		{"a/1.png a/2.png train.txt=a/1 val.txt=a/2", "a/1.png:train a/2.png:val", "splits are those of train.txt, val.txt"},
		{"a/1.png a/2.png ImageSets/Main/Train.txt=1.png ImageSets/Main/dev.txt=2.png", "a/1.png:train a/2.png:val", "splits are those of ImageSets/Main/Train.txt (Train is train), ImageSets/Main/dev.txt (dev is val)"},
		{"ds/a/1.png ds/a/2.png ds/train.txt=1.png ds/a/val.txt=2.png", "ds/a/1.png:train ds/a/2.png:val", ""},
		{"ds/x/1.png ds/y/2.png ds/data.yaml=train:x,val:../y", "ds/x/1.png:train ds/y/2.png:val", "splits are those of ds/data.yaml"},
		{"images/a/1.png images/b/2.png meta/train.txt=a/1 meta/test.txt=b/2", "images/a/1.png:train images/b/2.png:test", "splits are those of meta/test.txt, meta/train.txt"},
		{"a/1.png b/2.png meta/train.txt=1.png,3.png", "a/1.png:train b/2.png:train", "meta/train.txt: not used, as not each line names an image here: such as 3.png"},
		{"a/1.png a/2.png data.yaml=dev:a", "a/1.png:val a/2.png:val", "splits are those of data.yaml (dev is val)"},
		{"a/1.png b/2.png a/val.txt=1.png", "a/1.png:train b/2.png:train", ""},
		{"images/a/1.png images/test/2.png data.yaml=a:images/a,test:images/test", "images/a/1.png:a images/test/2.png:test", "splits are those of data.yaml"},
		{"ds/train/1.png ds/valid/2.png", "ds/train/1.png:train ds/valid/2.png:val", "ds/valid is the split val"},
		{"images/train/1.png images/val/2.png", "images/train/1.png:train images/val/2.png:val", ""},
		{"a/train/1.png b/val/2.png", "a/train/1.png:train b/val/2.png:train", "a/train, b/val may be directories of splits, and are not taken as these"},
		{"seg_train/1.png seg_test/2.png", "seg_test/2.png:test seg_train/1.png:train", "seg_test is the split test, seg_train is the split train"},
		{"seg_train/1.png seg_test/2.png seg_pred/3.png", "seg_pred/3.png:train seg_test/2.png:train seg_train/1.png:train", "seg_test, seg_train may be directories of splits"},
		{"test_images/1.png", "test_images/1.png:train", "test_images may be directories of splits"},
		{"a/1.png test.txt=x.png,y.png", "a/1.png:train", "test.txt: not used, as it has no image here, such as x.png"},
		{"a/1.png ImageSets/Main/trainval.txt=1", "a/1.png:trainval", "splits are those of ImageSets/Main/trainval.txt"},
		{"a/1.png ImageSets/holdout.txt=1", "a/1.png:holdout", "ImageSets/holdout.txt"},
		{"a/1.png skipped/train.txt=x train.txt=a/1.png excluded.data=train=no.list", "a/1.png:train", "splits are those of train.txt"},
		{"a/1.png data.yaml=nc:1", "a/1.png:train", ""},
		{"a/1.png data.yaml=train:none.txt", "a/1.png:train", "data.yaml: not used, as it has no image here, such as none.txt"},
		{"a/1.png data.yaml=val:l.txt,test:none.txt l.txt=a/1.png", "a/1.png:val", "data.yaml: 1 line of no image here, such as none.txt"},
		{"a/1.png data.yaml=test:", "a/1.png:train", ""},
	} {
		src, out := t.TempDir(), t.TempDir()
		putListed(t, src, c.files)
		o := ImageOptions{Labels: LabelSpec{None: true}, Select: SelectSpec{Exclude: []string{"excluded.*"}}}
		said := notes(&o.Options)
		s, err := Images(t.Context(), src, out, o)
		if err != nil {
			t.Errorf("%s: %v", c.files, err)
			continue
		}
		var got []string
		for name, split := range splitsOf(t, out, s) {
			got = append(got, name+":"+split)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.wants || !strings.Contains(strings.Join(*said, "\n"), c.note) {
			t.Errorf("%s: %q, notes %q; want %s, %q", c.files, got, *said, c.wants, c.note)
		}
	}
}

// TestSourceNamedAfterASplit notes that a directory called val is not taken for a split.
func TestSourceNamedAfterASplit(t *testing.T) {
	for name, want := range map[string]string{"val2017": "Options.Splits val=1", "test": "Options.Splits test=1", "train": "", "photos": ""} {
		src := filepath.Join(t.TempDir(), name)
		put(t, src, "c/1.png", pngOf(1))
		o := ImageOptions{}
		said := notes(&o.Options)
		if s := mustImages(t, src, t.TempDir(), o); s.Splits["train"].Records != 1 || strings.Join(*said, "") != "" != (want != "") || !strings.Contains(strings.Join(*said, ""), want) {
			t.Errorf("%s: %+v, %q", name, s.Splits, *said)
		}
	}
}

// TestSplitColumns labels images by random tables, with a column of splits under a name that is found,
// or is given.
func TestSplitColumns(t *testing.T) {
	for _, seed := range torture.Sample(t, 6, torture.Seeds(20, 200)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		src, out := t.TempDir(), t.TempDir()
		name := []string{"split", "Subset", "partition", "fold", "set"}[rng.IntN(5)]
		spellings := [][2]string{{"train", "train"}, {"Training", "train"}, {"VAL", "val"}, {"dev", "val"}, {"test", "test"}, {"extra", "extra"}, {" test ", "test"}}
		want, known := map[string]string{}, false
		bad := int64(0)
		columns := []string{"file", "label", name}
		order := rng.Perm(3)
		var rows []string
		for i := range 5 + rng.IntN(10) {
			base := fmt.Sprintf("%d.png", i)
			put(t, src, base, pngOf(i))
			s := spellings[rng.IntN(len(spellings))]
			if known = known || s[1] != "extra"; rng.IntN(12) == 0 {
				s = [2]string{[]string{"", "a b", "x/y", "NA", "nan", "NaN", "null"}[rng.IntN(7)], ""}
				bad++
			} else {
				want[base] = s[1]
			}
			cells := []string{base, "c", s[0]}
			rows = append(rows, strings.Join([]string{cells[order[0]], cells[order[1]], cells[order[2]]}, ","))
		}
		header := strings.Join([]string{columns[order[0]], columns[order[1]], columns[order[2]]}, ",")
		put(t, src, "t.csv", []byte(header+"\n"+strings.Join(rows, "\n")+"\n"))
		o := ImageOptions{Options: Options{Shards: 1, MaxErrors: Tolerance{Count: 1 << 20}}, Labels: LabelSpec{File: filepath.Join(src, "t.csv")}}
		given := rng.IntN(2) == 0
		if given {
			o.Labels.SplitColumn = strings.ToLower(name)
		}
		said := notes(&o.Options)
		s, err := Images(t.Context(), src, out, o)
		if err != nil {
			if len(want) == 0 {
				continue
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		found := given || known && name != "fold" && name != "set"
		if got := splitsOf(t, out, s); found && (!mapsEqual(got, want) || s.Errors != bad) || !found && (s.Errors != 0 || s.Splits["train"].Records != s.Records) {
			t.Errorf("seed %d: %s%q: %v, %d errors; want %v and %d; notes %q", seed, header, rows, got, s.Errors, want, bad, *said)
		}
		all := o
		all.Splits = []SplitShare{{Name: "all", Share: 1}}
		if given {
			if _, err := Images(t.Context(), src, t.TempDir(), all); !ofOption(err) {
				t.Errorf("seed %d: a column and Options.Splits: %v", seed, err)
			}
			all.Labels.SplitColumn = ""
		}
		if s := mustImages(t, src, t.TempDir(), all); s.Errors != 0 || len(s.Splits) != 1 {
			t.Errorf("seed %d: with Options.Splits %+v", seed, s)
		}
	}
	src := t.TempDir()
	put(t, src, "test/c/1.png", pngOf(1))
	put(t, src, "train/c/2.png", pngOf(1))
	put(t, src, "t.csv", []byte("path,label,split\ntest/c/1.png,c,train\ntrain/c/2.png,c,train\n"))
	_, err := Images(t.Context(), src, t.TempDir(), ImageOptions{Labels: LabelSpec{File: filepath.Join(src, "t.csv")}})
	if want := `test/c/1.png is in the split train by column "split" of t.csv, and in test by its directory`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestSplitColumnOfRows converts images in Parquet with a column of splits.
func TestSplitColumnOfRows(t *testing.T) {
	type row struct {
		Image struct {
			Bytes []byte `parquet:"bytes"`
			Path  string `parquet:"path"`
		} `parquet:"image"`
		Label   int64  `parquet:"label"`
		Subset  string `parquet:"subset"`
		Caption string `parquet:"caption"`
	}
	for _, c := range []struct {
		file   string
		cells  []string
		o      ImageOptions
		splits string
		errors int64
		fails  string
	}{
		{"x.parquet", []string{"Train", "test", "valid"}, ImageOptions{}, "0.png:train 1.png:test 2.png:val", 0, ""},
		{"x.parquet", []string{"train", "", "a b"}, ImageOptions{}, "0.png:train", 2, ""},
		{"x.parquet", []string{"train", "NA", "nan"}, ImageOptions{}, "0.png:train", 2, ""},
		{"x.parquet", []string{"a", "b", "a"}, ImageOptions{}, "0.png:train 1.png:train 2.png:train", 0, ""},
		{"x.parquet", []string{"a", "b", "a"}, ImageOptions{Labels: LabelSpec{SplitColumn: "subset"}}, "0.png:a 1.png:b 2.png:a", 0, ""},
		{"x.parquet", []string{"train", "test", "val"}, ImageOptions{Options: Options{Splits: []SplitShare{{Name: "all", Share: 1}}}}, "0.png:all 1.png:all 2.png:all", 0, ""},
		{"test-00000-of-00001.parquet", []string{"test", "test", "test"}, ImageOptions{}, "0.png:test 1.png:test 2.png:test", 0, ""},
		{"test-00000-of-00001.parquet", []string{"test", "train", "test"}, ImageOptions{}, "", 0, "1.png is in the split train by column \"subset\""},
		{"x.parquet", []string{"train", "test", "val"}, ImageOptions{Labels: LabelSpec{SplitColumn: "none"}}, "", 0, "no split column \"none\""},
	} {
		src, out := filepath.Join(t.TempDir(), c.file), t.TempDir()
		var rows []row
		for i, cell := range c.cells {
			r := row{Subset: cell, Caption: "words"}
			r.Image.Bytes, r.Image.Path = pngOf(i), fmt.Sprintf("%d.png", i)
			rows = append(rows, r)
		}
		writeParquet(t, src, rows)
		c.o.MaxErrors = Tolerance{Count: 2}
		s, err := Images(t.Context(), src, out, c.o)
		if err != nil || c.fails != "" {
			if err == nil || c.fails == "" || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v, want %q", c.cells, err, c.fails)
			}
			continue
		}
		var got []string
		for name, split := range splitsOf(t, out, s) {
			got = append(got, name+":"+split)
		}
		slices.Sort(got)
		unused := strings.Join(s.LeftOut[0].Names, " ")
		if strings.Join(got, " ") != c.splits || s.Errors != c.errors || s.LeftOut[0].Reason != "column" || !strings.Contains(unused, "caption") {
			t.Errorf("%s %q: %q, %d errors, %+v; want %s", c.file, c.cells, got, s.Errors, s.LeftOut, c.splits)
		}
	}
}

// TestArchivesThatStateSplits gives archives whose names and members state splits.
func TestArchivesThatStateSplits(t *testing.T) {
	dir := t.TempDir()
	image := string(pngOf(1))
	for name, files := range map[string]map[string]string{
		"train.tar":  {"test/1.png": image, "train/2.png": image},
		"val.zip":    {"a/1.png": image, "val.txt": "1.png\n"},
		"a.tar":      {"x/1.png": image, "train.txt": "1.png\n"},
		"b.tar":      {"y/2.png": image, "train.txt": "2.png\n"},
		"lists.tar":  {"x/1.png": image, "y/2.png": image, "data.yaml": "train: a/train.txt\nval: v.txt\n", "a/train.txt": "1.png\n", "v.txt": "2.png\n"},
		"lists.zip":  {"x/1.png": image, "y/2.png": image, "obj.data": "train = none.txt\nvalid = data/val.lst\n", "val.lst": "2.png\n1.png\n"},
		"big.tar.gz": {"x/1.png": image, "data.yaml": "val: v.txt\n", "v.txt": "1.png\n"},
	} {
		packFiles(t, filepath.Join(dir, name), 1, files)
	}
	for src, want := range map[string]string{
		"train.tar":  "test/1.png is in the split test by its directory, and in train by the name of its archive",
		"val.zip":    "a/1.png:val",
		"[ab].tar":   "train.txt is in two archives, and differs",
		"lists.tar":  "x/1.png:train y/2.png:val",
		"lists.zip":  "x/1.png:val y/2.png:val",
		"big.tar.gz": "x/1.png:val",
	} {
		out := filepath.Join(t.TempDir(), "out")
		s, err := Images(t.Context(), filepath.Join(dir, src), out, ImageOptions{Labels: LabelSpec{None: true}})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", src, err, want)
			}
			continue
		}
		var got []string
		for name, split := range splitsOf(t, out, s) {
			got = append(got, name+":"+split)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", src, got, want)
		}
	}
}

// TestStrictRefusesLostSplits gives sources that state splits which are not taken.
func TestStrictRefusesLostSplits(t *testing.T) {
	for files, lost := range map[string]string{
		"a/1.png a/2.png train.txt=a/1.png,some,words test.txt=a/2": "",
		"a/1.png train.txt=some,words":                              "train.txt",
		"a/1.png data.yaml=train:none.txt":                          "data.yaml",
		"a/1.png data.yaml=nc:1":                                    "",
		"ds/train/c/1.png ds/test/c/2.png":                          "ds/test",
		"a/train/1.png a/val/2.png b/train/3.png":                   "a/val",
		"test/1.png cat/2.png":                                      "test",
		"train/1.png cat/2.png":                                     "",
		"seg_train/1.png seg_test/2.png seg_pred/3.png":             "seg_test",
	} {
		src := t.TempDir()
		putListed(t, src, files)
		_, err := Images(t.Context(), src, filepath.Join(t.TempDir(), "out"), ImageOptions{Labels: LabelSpec{Strict: true}})
		if (err != nil) != (lost != "") || err != nil && !(strings.Contains(err.Error(), "not used") && strings.Contains(err.Error(), lost)) {
			t.Errorf("%s: %v, want %q", files, err, lost)
		}
	}
}

// TestMasksNextToLists converts the images of Pascal VOC with their masks, whose lists are next to these.
func TestMasksNextToLists(t *testing.T) {
	voc := t.TempDir()
	size, err := png.DecodeConfig(bytes.NewReader(pngOf(1)))
	if err != nil {
		t.Fatal(err)
	}
	mask := classMap{make([]uint8, size.Width*size.Height), size.Width}.gray(t)
	for i, split := range []string{"train", "val", "val", ""} {
		name := fmt.Sprint(i)
		put(t, voc, "JPEGImages/"+name+".png", pngOf(1))
		put(t, voc, "ImageSets/Main/train.txt", []byte("0\n3\n"))
		put(t, voc, "ImageSets/Segmentation/train.txt", []byte("0\n"))
		put(t, voc, "ImageSets/Segmentation/val.txt", []byte("1\n2\n"))
		if split != "" {
			put(t, voc, "SegmentationClass/"+name+".png", mask)
		}
	}
	o := ImageOptions{Labels: LabelSpec{None: true}, Annotations: AnnotationSpec{Masks: filepath.Join(voc, "SegmentationClass")}}
	for _, src := range []string{"JPEGImages", ""} {
		s, err := Images(t.Context(), filepath.Join(voc, src), t.TempDir(), o)
		if err != nil || s.Splits["train"].Records != 1 || s.Splits["val"].Records != 2 || s.Errors != 0 {
			t.Errorf("%q: %+v, %v", src, s, err)
		}
	}
}

// TestClassesThatMayBeSplits labels images by directories that may be classes or splits: a note says what
// they are taken for.
func TestClassesThatMayBeSplits(t *testing.T) {
	for files, want := range map[string]string{
		"train/images/cat/1.png test/images/dog/2.png": "images is the class of all images: if the directories in it, such as dog, are the classes",
		"train/images/1.png test/images/2.png":         "",
		"a/train/1.png a/val/2.png":                    "a is taken as the only class, but it holds split directories (train, val)",
		"a/b/train/1.png a/b/val/2.png":                "a/b/train, a/b/val are not taken as directories of splits, as they are below a/b/, which is taken as the only class",
		"a/cat/1.png b/dog/2.png":                      `the classes are "a", "b", and directories in them, such as a/cat, do not count`,
		"a/cat/1.png b/2.png":                          "",
		"cat/train/1.png dog/train/2.png":              `the classes are "cat", "dog"`,
		"cat/train/1.png dog/test/2.png":               "cat/train, dog/test may be directories of splits",
		"test_tube/1.png bus/2.png":                    "",
		"images/train/cat/1.png images/val/dog/2.png":  "",
		"seg_train/cat/1.png seg_test/cat/2.png":       "seg_test is the split test, seg_train is the split train",
	} {
		src := t.TempDir()
		putListed(t, src, files)
		o := ImageOptions{Options: Options{DryRun: true}}
		said := notes(&o.Options)
		mustImages(t, src, filepath.Join(t.TempDir(), "out"), o)
		if got := strings.Join(*said, "; "); !strings.Contains(got, want) || want == "" && strings.Contains(got, "class") {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
	}
}

// TestSeveralSplitColumns labels images by random tables with two columns of splits, as CSV and as JSON
// lines: the one that has train, val or test counts, and both must agree.
func TestSeveralSplitColumns(t *testing.T) {
	for _, seed := range torture.Sample(t, 8, torture.Seeds(40, 400)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		src := t.TempDir()
		pools := [][]string{{"train", "val", "test"}, {"0", "1", "2"}, {""}}
		first, second := pools[rng.IntN(3)], pools[rng.IntN(3)]
		want := map[string]string{}
		csv, lines := "path,label,subset,split\n", ""
		usual, disagree := false, false
		for i := range 4 + rng.IntN(4) {
			base := fmt.Sprintf("%d.png", i)
			put(t, src, base, pngOf(i))
			k := rng.IntN(3)
			a := first[k%len(first)]
			if rng.IntN(20) == 0 {
				k = rng.IntN(3)
			}
			b := second[k%len(second)]
			csv += fmt.Sprintf("%s,c,%s,%s\n", base, a, b)
			lines += fmt.Sprintf("{\"path\": %q, \"label\": \"c\", \"subset\": %q, \"split\": %q}\n", base, a, b)
			want[base] = "train"
			for _, cell := range []string{a, b} {
				if slices.Contains(pools[0], cell) {
					want[base], usual = cell, true
				}
			}
			disagree = disagree || len(first) == 3 && len(second) == 3 && first[0] == second[0] && first[0] == "train" && a != b
		}
		put(t, src, "t.csv", []byte(csv))
		put(t, src, "t.jsonl", []byte(lines))
		for _, name := range []string{"t.csv", "t.jsonl"} {
			o := ImageOptions{Labels: LabelSpec{File: filepath.Join(src, name)}}
			said := notes(&o.Options)
			out := t.TempDir()
			s, err := Images(t.Context(), src, out, o)
			text := strings.Join(*said, "; ")
			switch {
			case disagree:
				if err == nil || !strings.Contains(err.Error(), `by column "sp`) || !strings.Contains(err.Error(), "LabelSpec.SplitColumn") {
					t.Errorf("seed %d, %s: %v\n%s", seed, name, err, csv)
				}
			case err != nil:
				t.Errorf("seed %d, %s: %v\n%s", seed, name, err, csv)
			case !mapsEqual(splitsOf(t, out, s), want):
				t.Errorf("seed %d, %s: %v, want %v; %s", seed, name, splitsOf(t, out, s), want, text)
			case strings.Contains(text, "splits are those in") != usual, strings.Contains(text, "not used") == usual && first[0]+second[0] != "":
				t.Errorf("seed %d, %s: %s\n%s", seed, name, text, csv)
			}
		}
	}
}

// putListed writes files: images by their names, and texts as NAME=TEXT, where a comma ends a line.
func putListed(t *testing.T, dir, files string) {
	t.Helper()
	for f := range strings.FieldsSeq(files) {
		name, text, ok := strings.Cut(f, "=")
		if !ok {
			put(t, dir, name, pngOf(1))
			continue
		}
		put(t, dir, name, []byte(strings.NewReplacer(",", "\n", ":", ": ").Replace(text)))
	}
}
