package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// shownTimes are what differs from run to run.
var shownTimes = regexp.MustCompile(`\(\d+\.\d\d s`)

// TestDocsShowWhatTheDemoPrints runs the commands of README.md's console blocks that show
// an output, and compares it, times aside. A line ... stands for what is left out at the
// end. With -update (make docs) it writes what they print.
func TestDocsShowWhatTheDemoPrints(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are written with /")
	}
	const file = "../../README.md"
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(testdata, "testdata"); err != nil {
		t.Fatal(err)
	}
	commands := 0
	blocks := strings.Split(string(text), "```console\n")
	for i, block := range blocks[1:] {
		block, rest, ok := strings.Cut(block, "```")
		if !ok {
			t.Fatal("a console block does not end")
		}
		steps := strings.Split(block, "$ tfrec ")
		if steps[0] != "" {
			continue // of another program
		}
		for n, step := range steps[1:] {
			line, shown, _ := strings.Cut(step, "\n")
			if strings.TrimSpace(shown) == "" || strings.HasSuffix(line, `\`) {
				continue // only the command
			}
			commands++
			var out bytes.Buffer
			if code := run(context.Background(), strings.Fields(line), &out, &out); code != cli.ExitFine {
				t.Fatalf("tfrec %s: exit code %d, %s", line, code, &out)
			}
			printed := out.String()
			want, part := strings.CutSuffix(shown, "...\n")
			if part {
				lines := strings.SplitAfter(printed, "\n")
				printed = strings.Join(lines[:min(len(lines), strings.Count(want, "\n"))], "")
			}
			want = strings.TrimSuffix(want, "\n") // the last, or the blank line before the next command
			if got := strings.TrimSuffix(printed, "\n"); shownTimes.ReplaceAllString(got, "(") != shownTimes.ReplaceAllString(strings.TrimSuffix(want, "\n"), "(") {
				if !*update {
					t.Errorf("tfrec %s prints\n%s\nREADME.md shows\n%s\n(make docs writes it)", line, got, want)
				}
				steps[n+1] = line + "\n" + strings.Replace(shown, strings.TrimSuffix(want, "\n"), got, 1)
			}
		}
		blocks[i+1] = strings.Join(steps, "$ tfrec ") + "```" + rest
	}
	if commands < 5 {
		t.Errorf("README.md shows what %d commands print, want 5 or more", commands)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "```console\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
