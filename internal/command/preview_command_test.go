package command

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/conversion"
	page "github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/manifest"
)

// shellSplit has a shell take a line apart.
func shellSplit(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.Command("bash", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("bash does not take %s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func needBash(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
}

// TestCommandMakesTheSetAgain gives the command that a page shows to a shell,
// which makes the same set with it.
func TestCommandMakesTheSetAgain(t *testing.T) {
	needBash(t)
	dir := t.TempDir()
	csv := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(csv, []byte("id\tlabel\tx\ty\n9\ta\t2\t3\n10\tb\t-\t4\n11\ta\tit's\t4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(demo(), "photos")
	labels := filepath.Join(dir, "names.txt")
	if err := os.WriteFile(labels, []byte("b\na\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string // part of the command
		file string // what FILE stands for
	}{
		{"pictures", []string{"images", images, "--limit=2"}, "SRC OUT --decoder", ""},
		{"floats", []string{"images", images, "--limit=2", "--resize=32", "--encode=float32", "--mean=0.5,0.4,0.3", "--std=0.3,0.2,0.1", "--antialias=false"}, "--antialias=false", ""},
		{"variants", []string{"images", images, "--limit=2", "--augment=hflip:0.5|rotate:15", "--copies=2", "--keep-original", "--resize=32", "--exclude=*'z*", "--exclude=a b", "--seed=18446744073709551615"}, `--exclude '*'\''z*' --exclude 'a b'`, ""},
		{"table", []string{"csv", csv, "--delimiter=\t", "--na-values=-,", "--vector=v=y,id", "--splits=train=0.5,val=0.5"}, `--delimiter $'\x09'`, ""},
		{"vocabulary", []string{"csv", csv, "--label=label", "--vocab", "--label-offset=1"}, "--vocab", ""},
		{"integers", []string{"csv", csv, "--label=id", "--vocab"}, "--vocab", ""},
		{"names", []string{"csv", csv, "--label=label", "--vocab=" + labels}, "--vocab=FILE", labels},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			first, again := filepath.Join(dir, "first"), filepath.Join(dir, "again")
			must(t, append([]string{"convert", c.args[0], c.args[1], first, "--quiet"}, c.args[2:]...)...)
			command, err := conversion.CommandOf(t.Context(), []string{first})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(command, c.want) {
				t.Errorf("%s: no %s", command, c.want)
			}
			words := shellSplit(t, command)
			for i, word := range words {
				switch {
				case word == "SRC":
					words[i] = c.args[1]
				case word == "OUT":
					words[i] = again
				case c.file != "":
					words[i] = strings.Replace(word, "FILE", c.file, 1)
				}
			}
			must(t, append(words[1:], "--quiet")...)
			a, err := os.ReadFile(filepath.Join(first, manifest.File))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(again, manifest.File))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s makes another set", command)
			}
		})
	}
}

// TestHostileOptionsInCommands has options of a manifest that would do something
// in a shell be one word of the command, without what a terminal obeys.
func TestHostileOptionsInCommands(t *testing.T) {
	needBash(t)
	dir := t.TempDir()
	must(t, "convert", "images", filepath.Join(demo(), "photos"), filepath.Join(dir, "set"), "--limit=1", "--quiet")
	path := filepath.Join(dir, "set", manifest.File)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{
		"$(touch x)", "`touch x`", "'; touch x; '", "a\nb", "\x1b[31m", "\u2028\u202e", `$'\x41'`, `\`, "!x", "~", "-x", "é ü", "\u00a0", "#x", strings.Repeat("long'", 2000),
	} {
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		m["options"].(map[string]any)["exclude"] = []string{"first", value}
		changed, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		command, err := conversion.CommandOf(t.Context(), []string{filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		if len(value) > page.MaxCommand {
			if command != "tfrec convert images SRC OUT --from-manifest FILE" {
				t.Errorf("a long command is %.100s", command)
			}
			continue
		}
		if strings.ContainsAny(command, "\n\x1b\u2028\u202e\u00a0") {
			t.Errorf("%q is in the command as it is", value)
		}
		words := shellSplit(t, command)
		found := false
		for i, word := range words[1:] {
			found = found || words[i] == "--exclude" && word == value
		}
		if !found {
			t.Errorf("%q is not a word of %q", value, words)
		}
	}
}
