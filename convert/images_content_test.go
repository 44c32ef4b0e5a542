package convert

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccount puts random files of all kinds beside images, in a directory or an archive: each is
// counted for its reason, images without an image's extension are found by their content, and
// LabelSpec.Strict refuses losses.
func TestAccount(t *testing.T) {
	const beside = "test%d.txt" // with the name of an image
	kinds := []struct {
		name   string // with the number of the file
		data   []byte
		reason string
		loses  bool
	}{
		{"%d.HEIC", []byte("ftypheic"), "heic", true}, {"%d.avif", nil, "avif", true}, {"%d.mp4", nil, "video", false}, {"%d.psd", nil, "psd", true},
		{"%d.jpeg_large", pngOf(1), "image_by_content", true}, {"%d", pngOf(2), "image_by_content", true}, {"LICENSE%d", []byte("MIT"), "other", false},
		{"notes%d.txt", []byte("notes"), "other", false}, {"%d.xyz", []byte("BM of no image"), "other", false}, {".%d.png", pngOf(3), "hidden", false},
		{"%d.tar", nil, "archive", true}, {"%d.parquet", nil, "records", true}, {"out%d.bmp", pngOf(4), "excluded", false},
		{"train_%d.txt", []byte("0"), "splits", true}, {"ImageSets/Main/%d.txt", []byte("0 1"), "splits", true}, {"annotations_%d.csv", nil, "labels", true},
		{"labels/x%d.txt", nil, "labels", true}, {beside, nil, "labels", true}, {"label_map%d.pbtxt", nil, "metadata", false},
	}
	rng := rand.New(rand.NewPCG(37, 1))
	for round := range 40 {
		files := map[string]string{}
		want := map[string]int64{}
		for i := range 3 {
			files[fmt.Sprintf("c/test%d.png", i)] = string(pngOf(i))
		}
		losses, content := map[string]bool{}, int64(0)
		for _, k := range kinds {
			if rng.IntN(2) == 0 {
				continue
			}
			n := 1 + rng.IntN(12)
			if k.name == beside {
				n = min(n, 3)
			}
			for i := range n {
				files["c/"+fmt.Sprintf(k.name, i)] = string(k.data)
			}
			want[k.reason] += int64(n)
			if k.loses {
				losses[k.reason] = true
			}
			if k.reason == "image_by_content" {
				content += int64(n)
			}
		}
		o := ImageOptions{Options: Options{Shards: 1}, Select: SelectSpec{Exclude: []string{"out*"}}}
		src := t.TempDir()
		if ext := append([]string{""}, archiveFormats...)[round%(1+len(archiveFormats))]; ext == "" {
			writeTree(t, src, files)
		} else {
			src = filepath.Join(src, "a"+ext)
			packFiles(t, src, uint64(round), files)
			o.ArchiveFormat = Files
		}
		out := t.TempDir()
		check := func(s *Summary, want map[string]int64) {
			t.Helper()
			if got := leftOut(t, src, s); !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", filepath.Base(src), got, want)
			}
		}
		check(mustImages(t, src, out, o), want)
		again := mustImages(t, src, out, o)
		check(again, want)
		if again.Status != UpToDate {
			t.Errorf("again it is %s", again.Status)
		}

		strict := o
		strict.Labels.Strict = true
		if _, err := Images(t.Context(), src, t.TempDir(), strict); (len(losses) > 0) != (err != nil) {
			t.Errorf("%v with LabelSpec.Strict: %v", want, err)
		}
		strict.Splits, strict.Labels.None = []SplitShare{{Name: "all", Share: 1}}, true
		delete(losses, "splits")
		delete(losses, "labels")
		if _, err := Images(t.Context(), src, t.TempDir(), strict); (len(losses) > 0) != (err != nil) {
			t.Errorf("%v with LabelSpec.Strict, which asks for splits and no labels: %v", want, err)
		}

		o.Select.ByContent = true
		s := mustImages(t, src, t.TempDir(), o)
		delete(want, "image_by_content")
		check(s, want)
		if s.Records != 3+content || s.Errors != 0 {
			t.Errorf("with SelectSpec.ByContent %+v, want %d more", s, content)
		}
	}
}

// leftOut returns how many things the summary of a set has for each reason, but for the hidden
// member that packFiles adds to a zip. All files that are not samples are among them.
func leftOut(t *testing.T, src string, s *Summary) map[string]int64 {
	t.Helper()
	got, all := map[string]int64{}, int64(0)
	for _, e := range s.LeftOut {
		if got[e.Reason] = e.Count; len(e.Names) == 0 || int64(len(e.Names)) > min(e.Count, 5) {
			t.Errorf("%+v", e)
		}
		all += e.Count
	}
	if strings.HasSuffix(src, ".zip") {
		if all == s.SkippedFiles { // the member is named like an image
			got["hidden"]--
		} else {
			all++
		}
	}
	if all != s.SkippedFiles {
		t.Errorf("%s: %d files skipped, of which %v are explained", filepath.Base(src), s.SkippedFiles, got)
	}
	maps.DeleteFunc(got, func(_ string, n int64) bool { return n == 0 })
	return got
}

// TestAccountOfWebDatasets makes archives of random samples, some with an image in a format that is
// not read, with one that only its content tells, or without any: what is in no sample is in the
// account.
func TestAccountOfWebDatasets(t *testing.T) {
	kinds := []struct {
		ext    string // of the image
		data   []byte
		reason string // "" if it is read
	}{
		{"png", pngOf(1), ""}, {"heic", []byte("ftypheic"), "heic"}, {"avif", nil, "avif"}, {"img", pngOf(2), "image_by_content"}, {"", pngOf(3), "image_by_content"},
		{"jxl", nil, "jpeg_xl"}, {"xyz", []byte("no image"), "other"},
	}
	rng := rand.New(rand.NewPCG(37, 5))
	for round := range 60 {
		files := map[string]string{"first.png": string(pngOf(0)), "first.cls": "0"}
		want, content := map[string]int64{}, map[string]int64{}
		records, more := int64(1), int64(0)
		for i := range rng.IntN(12) {
			k := kinds[rng.IntN(len(kinds))]
			key := fmt.Sprintf("d%d/%d", rng.IntN(2), i)
			parts := []string{".cls"}
			for _, part := range []string{".json", ".txt", ".npy"} {
				if rng.IntN(2) == 0 {
					parts = append(parts, part)
				}
			}
			for _, part := range parts {
				files[key+part] = "1"
			}
			name := key
			if k.ext != "" {
				name += "." + k.ext
			}
			files[name] = string(k.data)
			if k.reason == "" {
				records++
				continue
			}
			want[k.reason]++
			want["other"] += int64(len(parts))
			if k.reason == "image_by_content" {
				more++
			} else {
				content[k.reason]++
				content["other"] += int64(len(parts))
			}
		}
		maps.DeleteFunc(want, func(_ string, n int64) bool { return n == 0 })
		maps.DeleteFunc(content, func(_ string, n int64) bool { return n == 0 })
		src := filepath.Join(t.TempDir(), "web"+archiveFormats[round%len(archiveFormats)])
		packFiles(t, src, uint64(round), files)
		o := ImageOptions{Options: Options{Shards: 1}}
		s := mustImages(t, src, t.TempDir(), o)
		if got := leftOut(t, src, s); !maps.Equal(got, want) || s.Records != records || s.Errors != 0 {
			t.Errorf("%v, want %v; %+v, want %d", got, want, s, records)
		}
		delete(want, "other")
		strict := o
		strict.Labels.Strict = true
		if _, err := Images(t.Context(), src, t.TempDir(), strict); (len(want) > 0) != (err != nil) {
			t.Errorf("%v with LabelSpec.Strict: %v", want, err)
		}
		o.Select.ByContent = true
		s = mustImages(t, src, t.TempDir(), o)
		if got := leftOut(t, src, s); !maps.Equal(got, content) || s.Records != records+more || s.Errors != 0 {
			t.Errorf("with SelectSpec.ByContent %v, want %v; %+v, want %d", got, content, s, records+more)
		}
	}
}

// TestUsedFilesAreNotInTheAccount reads annotations, classes, masks and a table in the source.
func TestUsedFilesAreNotInTheAccount(t *testing.T) {
	src := t.TempDir()
	put(t, src, "images/train/1.png", pngOf(1))
	put(t, src, "labels/train/1.txt", []byte("0 0.5 0.5 0.2 0.2\n"))
	put(t, src, "data.yaml", []byte("train: images/train\nnames: [a]\n"))
	put(t, src, "notes.md", []byte("notes"))
	s := mustImages(t, src, t.TempDir(), ImageOptions{Annotations: AnnotationSpec{Files: []AnnotationFile{{Path: src}}}})
	if len(s.LeftOut) != 1 || s.LeftOut[0].Reason != "other" || strings.Join(s.LeftOut[0].Names, "") != "notes.md" {
		t.Errorf("%+v", s.LeftOut)
	}
	for name, files := range map[string]map[string]string{
		"classes.txt above labels/SPLIT": {"classes.txt": "a\n"},
		"lists in data.yaml": {
			"data.yaml": "train: train_list.txt\nval: [v1.txt, lists/v2.txt]\nnames: [a]\n", "train_list.txt": "images/train/1.png\n",
			"v1.txt": "images/val/1.png\n", "lists/v2.txt": "images/val/2.png\n",
		},
	} {
		src := t.TempDir()
		for _, image := range []string{"train/1", "val/1", "val/2"} {
			put(t, src, "images/"+image+".png", pngOf(1))
			put(t, src, "labels/"+image+".txt", []byte("0 0.5 0.5 0.2 0.2\n"))
		}
		writeTree(t, src, files)
		put(t, src, "other.txt", []byte("notes"))
		s := mustImages(t, src, t.TempDir(), ImageOptions{Annotations: AnnotationSpec{Files: []AnnotationFile{{Path: filepath.Join(src, "labels")}}}})
		if len(s.LeftOut) != 1 || strings.Join(s.LeftOut[0].Names, "") != "other.txt" || s.Splits["train"].Records != 1 || s.Splits["val"].Records != 2 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	src = t.TempDir()
	put(t, src, "1.png", pngOf(1))
	put(t, src, "labels.csv", []byte("path,label\n1.png,a\n"))
	put(t, src, "classes.txt", []byte("a\n"))
	s = mustImages(t, src, t.TempDir(), ImageOptions{Labels: LabelSpec{File: filepath.Join(src, "labels.csv"), Classes: filepath.Join(src, "classes.txt")}})
	if len(s.LeftOut) != 0 {
		t.Errorf("%+v", s.LeftOut)
	}
}

// TestTableNamesOtherFiles has a table name some of the files that a walk leaves out: those are
// samples, and neither in the account nor lost for LabelSpec.Strict.
func TestTableNamesOtherFiles(t *testing.T) {
	kinds := []struct {
		name, reason string // with the number of the file
		loses        bool
	}{
		{"c/%d.png", "not_in_table", true}, {"c/%d", "image_by_content", true}, {"c/%d.img", "image_by_content", true}, {"c/%d.heic", "heic", true},
		{".%d.png", "hidden", false}, {".h/c/%d.png", "hidden", false}, {"__MACOSX/%d.png", "hidden", false}, {"out/%d.png", "excluded", false},
	}
	rng := rand.New(rand.NewPCG(37, 2))
	for range 40 {
		src := t.TempDir()
		want := map[string]int64{}
		rows, excluded, records, lossy := "path,label\n", 0, int64(0), false
		for _, k := range kinds {
			for i := range rng.IntN(6) {
				name := fmt.Sprintf(k.name, i)
				put(t, src, name, pngOf(i))
				named := rng.IntN(2) == 0
				if named {
					rows += name + ",a\n"
				}
				switch {
				case k.reason == "excluded":
					want[k.reason]++
					if named {
						excluded++
					}
				case named:
					records++
				default:
					want[k.reason]++
					lossy = lossy || k.loses
				}
			}
		}
		if records == 0 {
			continue
		}
		table := filepath.Join(t.TempDir(), "t.csv")
		put(t, filepath.Dir(table), "t.csv", []byte(rows))
		o := ImageOptions{Options: Options{Shards: 1}, Select: SelectSpec{Exclude: []string{"out/**"}}, Labels: LabelSpec{File: table}}
		said := notes(&o.Options)
		s := mustImages(t, src, t.TempDir(), o)
		got, left := map[string]int64{}, int64(0)
		for _, e := range s.LeftOut {
			got[e.Reason] = e.Count
			left += e.Count
			for _, name := range e.Names {
				if _, err := os.Stat(filepath.Join(src, name)); err != nil || strings.Contains(rows, "\n"+name+",") && e.Reason != "excluded" {
					t.Errorf("%s: %q (%v)", e.Reason, name, err)
				}
			}
		}
		if !maps.Equal(got, want) || s.Records != records || s.Errors != 0 || s.SkippedFiles != left {
			t.Errorf("%s%v, want %v; %+v, want %d", rows, got, want, s, records)
		}
		if n := want["hidden"]; (n > 0) != strings.Contains(strings.Join(*said, "\n"), "skipped: hidden") {
			t.Errorf("%d hidden: %q", n, *said)
		}
		o.Note, o.Labels.Strict = nil, true
		if _, err := Images(t.Context(), src, t.TempDir(), o); lossy != (err != nil) {
			t.Errorf("%v with LabelSpec.Strict: %v", want, err)
		}
	}
}
