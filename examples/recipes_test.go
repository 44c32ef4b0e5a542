package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// recipe is a section of docs/recipes.md.
type recipe struct {
	title   string
	script  string
	line    int
	hasCode bool
}

func recipes(t *testing.T) []recipe {
	t.Helper()
	data, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []recipe
	inside := false
	for i, line := range strings.Split(string(data), "\n") {
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case isTitle:
			all = append(all, recipe{title: title, line: i + 1})
		case line == "```sh" && len(all) > 0:
			inside, all[len(all)-1].hasCode = true, true
		case line == "```":
			inside = false
		case inside:
			all[len(all)-1].script += line + "\n"
		}
	}
	return all
}

// kitchen makes the directory that the recipes are for.
func kitchen(t *testing.T) string {
	t.Helper()
	dir := project(t, "build")
	photos, err := filepath.Glob(filepath.Join(dir, "photos", "*", "*.jpg"))
	if err != nil || len(photos) == 0 {
		t.Fatal("no photographs", err)
	}
	for i, photo := range photos {
		if i%5 == 0 {
			class, name := filepath.Base(filepath.Dir(photo)), filepath.Base(photo)
			place(t, photo, filepath.Join(dir, "new", class, "new-"+name))
		}
	}
	annotate(t, dir, photos)
	place(t, "../testdata/demo/penguins.csv", filepath.Join(dir, "penguins.csv"))
	run(t, dir, nil, "tfrec", "convert", "images", "photos", "flowers", "--resize", "64", "--splits", "train=0.8,val=0.2", "--shards", "4", "--quiet")
	shards, err := filepath.Glob(filepath.Join(dir, "flowers", "*-train.tfrecord-*"))
	if err != nil || len(shards) != 4 {
		t.Fatal(shards, err)
	}
	for i, shard := range shards[:2] {
		place(t, shard, filepath.Join(dir, "others", fmt.Sprintf("part-%d.tfrecord", i)))
	}
	broken := filepath.Join(dir, "broken.tfrecord")
	place(t, shards[2], broken)
	data, err := os.ReadFile(broken)
	if err == nil {
		copy(data[len(data)/2:], "damage")
		err = os.WriteFile(broken, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// annotate writes boxes.json, with a box in each photograph.
func annotate(t *testing.T, dir string, photos []string) {
	t.Helper()
	var images, annotations []map[string]any
	for i, photo := range photos {
		name, err := filepath.Rel(filepath.Join(dir, "photos"), photo)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, map[string]any{"id": i, "file_name": filepath.ToSlash(name)})
		annotations = append(annotations, map[string]any{"id": i, "image_id": i, "category_id": 1, "bbox": []int{10, 20, 60, 40}})
	}
	data, err := json.Marshal(map[string]any{"images": images, "annotations": annotations, "categories": []any{map[string]any{"id": 1, "name": "flower"}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "boxes.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// place copies a file, with the directories that lead to it.
func place(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecipes(t *testing.T) {
	need(t, "sh", "grep")
	all := recipes(t)
	if len(all) < 20 {
		t.Fatalf("%d recipes", len(all))
	}
	template := kitchen(t)
	for _, r := range torture.Sample(t, 12, all) {
		t.Run(r.title, func(t *testing.T) {
			if !r.hasCode {
				t.Fatal("no commands")
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			run(t, dir, nil, "sh", "-euc", r.script)
		})
	}
}
