//go:build unix

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert"
)

// TestLibraryAndCommandAgree makes sets by the library and by the command, with samples that are
// unusable for reasons that name options: each finds that of the other up to date.
func TestLibraryAndCommandAgree(t *testing.T) {
	dir := t.TempDir()
	src, table := filepath.Join(dir, "src"), filepath.Join(dir, "t.csv")
	if err := os.CopyFS(src, os.DirFS(filepath.Join(demo(), "photos"))); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(src, "*", "*.jpg"))
	if err != nil || len(images) < 3 {
		t.Fatal(images, err)
	}
	if err := os.Symlink(images[0], filepath.Join(src, "link.jpg")); err != nil {
		t.Fatal(err)
	}
	rows := "path,label\nlink.jpg,a\nnone.jpg,b\n"
	for _, image := range images {
		rel, err := filepath.Rel(src, image)
		if err != nil {
			t.Fatal(err)
		}
		rows += filepath.ToSlash(rel) + "," + filepath.Base(filepath.Dir(image)) + "\n"
	}
	if err := os.WriteFile(table, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	library := func(out string) *convert.Summary {
		s, err := convert.Images(t.Context(), src, out, convert.ImageOptions{
			Options: convert.Options{MaxErrors: convert.Tolerance{Count: 2}}, Labels: convert.LabelSpec{File: table},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	command := func(out string) string {
		said, err := tfrec(t, "convert", "images", src, out, "--table", table, "--max-errors", "2").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return string(said)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if s := library(a); s.Errors != 2 {
		t.Fatalf("%+v", s)
	}
	if said := command(a); !strings.Contains(said, "up to date") {
		t.Errorf("after the library: %s", said)
	}
	command(b)
	if s := library(b); s.Status != convert.UpToDate {
		t.Errorf("after the command: %s", s.Status)
	}
	ledger, err := os.ReadFile(filepath.Join(a, "errors.jsonl"))
	if err != nil || !strings.Contains(string(ledger), "reached by a symbolic link") {
		t.Errorf("%s, %v", ledger, err)
	}
	if same, err := os.ReadFile(filepath.Join(b, "errors.jsonl")); err != nil || string(same) != string(ledger) {
		t.Errorf("the library's ledger:
%s
the command's:
%s%v", ledger, same, err)
	}
}

// TestLibraryAndCommandAgreeOnTables is the same for tables, with a row that is no use.
func TestLibraryAndCommandAgreeOnTables(t *testing.T) {
	dir := t.TempDir()
	table, a, b := filepath.Join(dir, "t.csv"), filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(table, []byte("a,b\n1,x\n2\n3,\"z\n"+strings.Repeat("4,y\n", 5)+"5,\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	library := func(out string) *convert.Summary {
		s, err := convert.CSV(t.Context(), []string{table}, out, convert.CSVOptions{Options: convert.Options{MaxErrors: convert.Tolerance{Count: 5}}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := library(a); s.Errors == 0 {
		t.Errorf("%+v", s)
	}
	if said, err := tfrec(t, "convert", "csv", table, a, "--max-errors", "5").CombinedOutput(); err != nil || !strings.Contains(string(said), "up to date") {
		t.Errorf("after the library: %s, %v", said, err)
	}
	must(t, "convert", "csv", table, b, "--max-errors", "5")
	if s := library(b); s.Status != convert.UpToDate {
		t.Errorf("after the command: %s", s.Status)
	}
}
