package command

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// setsFile lists commands and digests of what they write. A line is
//
//	NAME SHARDS OTHERS: ARGUMENTS
//
// where OUT in the arguments is NAME, which later commands may name as an input. Lines of one NAME
// write to one OUT; the last has the digests: of its shards, and of its other files.
const setsFile = "testdata/sets.txt"

// What commands write stays the same, byte by byte, whatever is changed inside. Run with -update after
// a change on purpose. Manifests name the JPEG decoder: where it is another one than that of the file,
// only shards are compared.
func TestSetsStayTheSame(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector finds what runs at a time; other tests run more of it")
	}
	path, err := filepath.Abs(setsFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Dir(demo())
	t.Chdir(t.TempDir())
	for _, dir := range []string{"demo", "detection", "pictures"} {
		if err := os.Symlink(filepath.Join(data, dir), dir); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	lines := strings.Split(string(text), "\n")
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ours := codec.Decoder() == "tfrec 1"
	last := map[string]int{} // the last line of each name
	for i, line := range lines {
		if name, _, ok := parseSetsLine(line); ok {
			last[name] = i
		}
	}
	for i, line := range lines {
		name, args, ok := parseSetsLine(line)
		if !ok {
			continue
		}
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
			t.Errorf("%s:%d: exit code %d: %s", setsFile, i+1, code, stderr.Bytes())
			continue
		}
		if last[name] != i {
			continue
		}
		shards, others, err := digestSet(name)
		if err != nil {
			t.Fatal(err)
		}
		head, command, _ := strings.Cut(line, ":")
		if recorded := strings.Fields(head); len(recorded) == 3 && !ours {
			others = recorded[2]
		}
		digested := fmt.Sprintf("%s %s %s:%s", name, shards, others, command)
		if line != digested && !*update {
			t.Errorf("%s:%d: other bytes than before\n%s\n%s", setsFile, i+1, line, digested)
		}
		lines[i] = digested
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var setsArgument = regexp.MustCompile(`'[^']*'|\S+`)

// parseSetsLine returns what a line of setsFile runs, not ok for a comment or an empty line.
func parseSetsLine(line string) (name string, args []string, ok bool) {
	head, command, ok := strings.Cut(line, ":")
	if !ok || strings.HasPrefix(line, "#") {
		return "", nil, false
	}
	name, _, _ = strings.Cut(head, " ")
	for _, arg := range setsArgument.FindAllString(command, -1) {
		if arg == "OUT" {
			arg = name
		}
		args = append(args, strings.Trim(arg, "'"))
	}
	return name, args, true
}

var toolLine = regexp.MustCompile(`(?m)^ "tool": .*\n`)

// digestSet returns digests of the names and contents of a set's shards and of its other files. What is
// no set has no shards. The version in a manifest may change.
func digestSet(dir string) (shards, others string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", "", err
	}
	files := map[string]string{}
	if info.IsDir() {
		files, err = readSet(dir)
	} else {
		var data []byte
		data, err = os.ReadFile(dir)
		files[dir] = string(data)
	}
	if err != nil {
		return "", "", err
	}
	ofShards, ofOthers := sha256.New(), sha256.New()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		content := files[name]
		to := ofOthers
		switch {
		case name == "manifest.json":
			content = toolLine.ReplaceAllString(content, "")
		case strings.Contains(name, ".tfrecord") && !strings.HasPrefix(name, "index/"):
			to = ofShards
		}
		fmt.Fprintf(to, "%q %d\n%s", name, len(content), content)
	}
	return fmt.Sprintf("%x", ofShards.Sum(nil)[:8]), fmt.Sprintf("%x", ofOthers.Sum(nil)[:8]), nil
}
