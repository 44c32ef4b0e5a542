//go:build unix

package command

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestScripts runs testdata/script: what each verb does as its users see it.
// $DEMO is testdata/demo, $PICTURES testdata/pictures. Besides testscript's commands there are:
//
//	exits CODE COMMAND...   runs a command and wants that exit code
//	json PATH VALUE         wants a value in the JSON object on the last stdout
//	flip FILE OFFSET        flips the lowest bit of a byte; from the end when negative
//	same DIR DIR            wants equal files in two sets, .tfrec aside
//	pack ARCHIVE DIR        writes the files of a directory as a tar, tar.gz, tar.zst or zip
//	cut FILE                halves a file
//	records FILE HEX...     writes a file of records
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DEMO", demo())
			e.Setenv("PICTURES", filepath.Join(filepath.Dir(demo()), "pictures"))
			return addTfrec(e)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "tmpfs":
				return mountsSmall(), nil
			case "race": // of pixels, which packages test under the race detector
				return race.Enabled, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "json": scriptJSON, "flip": scriptFlip, "same": scriptSame,
			"pack": scriptPack, "cut": scriptCut, "records": scriptRecords,
		},
	})
}

// addTfrec puts the command into the scripts' PATH.
func addTfrec(e *testscript.Env) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Join(e.WorkDir, ".bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
	e.Setenv(actAsTfrec, "1")
	e.Vars = append(e.Vars, noRaceSleep)
	return os.Symlink(self, filepath.Join(bin, "tfrec"))
}

// mountsSmall reports whether a small file system of one's own can be had,
// to fill it up.
func mountsSmall() bool {
	return exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp").Run() == nil
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("%s: exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args[1:], " "), code, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// scriptJSON walks keys and list places, as in splits.train.records or
// faults.0.part; len is a list's length.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	for _, step := range strings.Split(args[0], ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[step]
			if !ok {
				ts.Fatalf("%s: no %q among %d keys", args[0], step, len(node))
			}
			v = next
		case []any:
			if step == "len" {
				v = len(node)
				continue
			}
			i, err := strconv.Atoi(step)
			ts.Check(err)
			if i >= len(node) {
				ts.Fatalf("%s: %d elements", args[0], len(node))
			}
			v = node[i]
		default:
			ts.Fatalf("%s: %v has no %q", args[0], v, step)
		}
	}
	if got := fmt.Sprint(v); (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(path, data, 0o644))
}

func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, err := readSet(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := readSet(ts.MkAbs(args[1]))
	ts.Check(err)
	if diff := difference(a, b); (diff == "") == neg {
		ts.Fatalf("%s and %s: %s", args[0], args[1], diff)
	}
}

func scriptPack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack ARCHIVE DIR")
	}
	ts.Check(pack(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cut FILE")
	}
	path := ts.MkAbs(args[0])
	st, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, st.Size()/2))
}

func scriptRecords(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: records FILE HEX...")
	}
	var frames []byte
	for _, digits := range args[1:] {
		record, err := hex.DecodeString(digits)
		ts.Check(err)
		start, mark := tfrecord.BeginFrame(frames)
		frames = tfrecord.EndFrame(append(start, record...), mark)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), frames, 0o644))
}
