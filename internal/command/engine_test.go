package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
)

// elsewhere is an engine whose shards are all made by a joined job.
func elsewhere(t *testing.T, requests *[]*conversion.Work) *conversion.Engine {
	return &conversion.Engine{
		Name:  "tfrec-elsewhere",
		Flags: func(fs *pflag.FlagSet) { fs.Int("machines", 1, "how many") },
		Make: func(ctx context.Context, w *conversion.Work) error {
			*requests = append(*requests, w)
			j, err := JoinJob(ctx, w.Args, func(s string) { t.Log(s) })
			if err != nil {
				return err
			}
			defer j.Close()
			for _, i := range w.Job.Todo() {
				if _, err := j.Make(ctx, i); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func TestAnEngineMakesTheSameSets(t *testing.T) {
	photos, tables := filepath.Join(demo(), "photos"), filepath.Join(demo(), "penguins.csv")
	lines := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(lines, []byte(strings.Repeat(`{"n":1,"l":[1,2],"p":{"q":"x"}}`+"\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(config, []byte("kind: csv\nsrc: "+tables+"\nshards: 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"pictures": {"convert", "images", photos, "OUT", "--resize", "32", "--shards=3", "--include", "*.jpg", "--include=*.png", "--splits", "a=0.5,b=0.5"},
		"tables":   {"--quiet", "convert", "csv", "--shuffle", tables, "OUT", "--vocab", "--label", "species", "--shards", "4"},
		"lines":    {"--quiet", "convert", "table", lines, "OUT", "--splits", "a=0.5,b=0.5", "--shards", "2"},
		"config":   {"convert", "--config", config, "--", tables, "OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			ref, out := t.TempDir(), t.TempDir()
			var plain, stdout, stderr bytes.Buffer
			if code := run(context.Background(), append([]string{"--json"}, into(args, ref)...), &plain, &stderr); code != cli.ExitFine {
				t.Fatal(stderr.String())
			}
			var requests []*conversion.Work
			full := append([]string{"--json"}, into(args, out)...)
			if name != "config" { // which is a word less
				full = slices.Insert(full, 4, "--machines", "7")
			}
			if code := runWith(context.Background(), elsewhere(t, &requests), full, &stdout, &stderr); code != cli.ExitFine {
				t.Fatalf("exit %d: %s", code, stderr.String())
			}
			summary := func(b []byte) map[string]any {
				var m map[string]any
				if err := json.Unmarshal(b, &m); err != nil {
					t.Fatal(err)
				}
				delete(m, "seconds")
				return m
			}
			was, err1 := json.Marshal(summary(plain.Bytes()))
			is, err2 := json.Marshal(summary(stdout.Bytes()))
			if err1 != nil || err2 != nil || !bytes.Equal(was, is) {
				t.Errorf("summary %s, want %s", is, was)
			}
			a, err1 := readSet(out)
			b, err2 := readSet(ref)
			if diff := difference(a, b); err1 != nil || err2 != nil || diff != "" {
				t.Error(err1, err2, diff)
			}
			if len(requests) != 1 {
				t.Fatalf("work was given out %d times", len(requests))
			}
			for _, arg := range requests[0].Args {
				if strings.HasPrefix(arg, "--machines") || strings.HasPrefix(arg, "--json") {
					t.Errorf("work was given out with %q", requests[0].Args)
				}
			}
			requests = nil
			if code := runWith(context.Background(), elsewhere(t, &requests), into(args, out), &stdout, &stderr); code != cli.ExitFine || requests != nil {
				t.Errorf("again: exit %d, %d requests", code, len(requests))
			}
		})
	}
}

func TestAnEngineKeepsTheExitCodes(t *testing.T) {
	photos := t.TempDir()
	if err := os.CopyFS(filepath.Join(photos, "a"), os.DirFS(filepath.Join(demo(), "photos", "daisy"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		bad  bool
		fail error
		code int
		says string
	}{
		{name: "dry run", args: []string{"--dry-run"}, code: cli.ExitFine},
		{name: "task", args: []string{"--task", "0", "--tasks", "2"}, code: cli.ExitUsage, says: "--task: is for tfrec; tfrec-elsewhere assigns shards to workers itself"},
		{name: "replan", args: []string{"--replan"}, code: cli.ExitUsage, says: "--replan"},
		{name: "gpu", args: []string{"--gpu", "auto", "--resize", "8"}, code: cli.ExitUsage, says: "--gpu"},
		{name: "gpu decode", args: []string{"--gpu-decode", "--resize", "8"}, code: cli.ExitUsage, says: "--gpu-decode: is for tfrec"},
		{name: "no gpu", args: []string{"--gpu=off"}, code: cli.ExitFine},
		{name: "option", args: []string{"--encode", "keep", "--resize", "8"}, code: cli.ExitUsage, says: "tfrec-elsewhere convert images: --encode"},
		{name: "engine", fail: errors.New("no machine left"), code: cli.ExitFailed, says: "no machine left"},
		{name: "bad sample", bad: true, code: cli.ExitFaults, says: "a/bad.jpg"},
		{name: "bearable", args: []string{"--max-errors", "1"}, bad: true, code: cli.ExitFine},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.bad {
				bad := filepath.Join(photos, "a", "bad.jpg")
				if err := os.WriteFile(bad, []byte("no picture"), 0o644); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(bad)
			}
			var requests []*conversion.Work
			e := elsewhere(t, &requests)
			if c.fail != nil {
				e.Make = func(context.Context, *conversion.Work) error { return c.fail }
			}
			var stdout, stderr bytes.Buffer
			args := append([]string{"convert", "images", photos, filepath.Join(t.TempDir(), "out")}, c.args...)
			if code := runWith(context.Background(), e, args, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit %d, want %d: %s", code, c.code, stderr.String())
			}
		})
	}
}

func TestJoiningNeedsAConversion(t *testing.T) {
	for _, args := range [][]string{{}, {"version"}, {"convert", "images", "nowhere", filepath.Join(t.TempDir(), "out")}} {
		if j, err := JoinJob(context.Background(), args, nil); err == nil {
			t.Errorf("%q was joined: %v", args, j)
		}
	}
}
