//go:build unix

package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// conversions are small, with several shards; OUT stands for the directory.
func conversions(t testing.TB) map[string][]string {
	photos, penguins := filepath.Join(demo(t), "photos"), filepath.Join(demo(t), "penguins.csv")
	return map[string][]string{
		"images":   {"convert", "images", photos, "OUT", "--resize", "48x48", "--encode", "png", "--shards", "5", "--splits", "train=0.7,val=0.3"},
		"variants": {"convert", "images", photos, "OUT", "--augment", "hflip:0.5", "--copies", "2", "--resize", "32", "--shards", "3", "--compression", "gzip"},
		"csv":      {"convert", "csv", penguins, "OUT", "--shards", "6", "--label", "species", "--vocab"},
		"shuffled": {"convert", "csv", penguins, "OUT", "--shards", "6", "--shuffle", "--seed", "3"},
	}
}

// into returns the arguments with OUT replaced.
func into(args []string, out string, more ...string) []string {
	args = slices.Clone(args)
	args[slices.Index(args, "OUT")] = out
	return append(args, more...)
}

// counted parses the runner's counters.
func counted(t *testing.T, o outcome) (shards, samples, errs, bytes int64) {
	t.Helper()
	_, tail, _ := strings.Cut(o.stderr, "the runner counted ")
	if n, err := fmt.Sscanf(tail, "%d shards, %d samples, %d errors and %d bytes", &shards, &samples, &errs, &bytes); n != 4 {
		t.Fatalf("no counters: %v in %s", err, o.stderr)
	}
	return shards, samples, errs, bytes
}

// summary is what --json prints, without the time it took.
func summary(t *testing.T, o outcome) (s convert.Summary, text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.stdout), &s); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	s.Seconds = 0
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, string(b)
}

func TestPrismMakesTheSameSets(t *testing.T) {
	for name, args := range conversions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := filepath.Join(t.TempDir(), "out")
			_, want := summary(t, must(t, plain, into(args, ref, "--json")...))
			for _, how := range [][]string{nil, {"--runner=prism", "--workers", "1", "--parallelism", "1"}, {"--workers", "8", "--parallelism=4"}} {
				out := filepath.Join(t.TempDir(), "out")
				o := must(t, onBeam, into(args, out, append(how, "--json")...)...)
				s, text := summary(t, o)
				if text != want {
					t.Errorf("%v: summary %s, want %s", how, text, want)
				}
				shards, samples, errs, bytes := counted(t, o)
				if shards != int64(s.ShardsWritten) || samples != s.Samples || errs != s.Errors || bytes != s.Bytes {
					t.Errorf("%v: counted %d shards, %d samples, %d errors, %d bytes of %+v", how, shards, samples, errs, bytes, s)
				}
				if strings.Count(o.stderr, "\n") != strings.Count(o.stderr, "note: ") {
					t.Errorf("%v: more on stderr than notes: %s", how, o.stderr)
				}
				sameSet(t, out, ref)
				if s, _ := summary(t, must(t, onBeam, into(args, out, "--json")...)); s.Status != convert.UpToDate {
					t.Errorf("again: %+v", s)
				}
				if s, _ := summary(t, must(t, plain, into(args, out, "--json")...)); s.Status != convert.UpToDate {
					t.Errorf("without Beam: %+v", s)
				}
			}
		})
	}
}

// TestWorkersOfTheirOwn lets the runner start workers as processes, which know only what the
// pipeline contains, with relative paths.
func TestWorkersOfTheirOwn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"os": "", "arch": "", "command": self})
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range conversions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, plain, into(args, filepath.Join(dir, "ref"))...)
			c := start(t, onBeam, into(args, "out", "--environment_type=PROCESS", "--environment_config", string(config), "--json")...)
			c.Dir = dir
			var stderr strings.Builder
			c.Stderr = &stderr
			text, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, text, stderr.String())
			}
			// Nothing of the workers' comes between.
			if s, _ := summary(t, outcome{stdout: string(text)}); s.Status != convert.Written || !strings.Contains(stderr.String(), "the runner counted ") {
				t.Errorf("said %s%s", text, stderr.String())
			}
			sameSet(t, filepath.Join(dir, "out"), filepath.Join(dir, "ref"))
		})
	}
}

// copyPhotos makes a class directory of n photographs.
func copyPhotos(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "photos")
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(demo(t), "photos", "*", "*.jpg"))
	if err != nil || len(names) == 0 {
		t.Fatal("no photographs", err)
	}
	for i := range n {
		if err := os.Link(names[i%len(names)], filepath.Join(dir, "a", fmt.Sprintf("%04d.jpg", i))); err != nil {
			data, err := os.ReadFile(names[i%len(names)]) // on another file system
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "a", fmt.Sprintf("%04d.jpg", i)), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestBadSamplesAreCounted(t *testing.T) {
	t.Parallel()
	photos := copyPhotos(t, 30)
	bad := filepath.Join(photos, "a", "bad.jpg")
	if err := os.WriteFile(bad, []byte("no picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	ref, out := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	args := []string{"convert", "images", photos, "OUT", "--resize", "16", "--shards", "4", "--json"}
	want, got := run(t, plain, into(args, ref)...), run(t, onBeam, into(args, out)...)
	_, was := summary(t, want)
	s, is := summary(t, got)
	is = strings.ReplaceAll(is, out, ref) // the ledger's path
	if want.code != 3 || got.code != 3 || is != was || s.Status != convert.Failed {
		t.Fatalf("exit %d: %s, want %s", got.code, is, was)
	}
	if _, _, errs, _ := counted(t, got); errs != 1 {
		t.Errorf("%d errors were counted", errs)
	}
	sameSet(t, out, ref)

	// Allowed, or repaired, it costs one shard or none.
	s, _ = summary(t, must(t, onBeam, into(args, out, "--max-errors", "10%")...))
	if s.Status != convert.Resumed || s.ShardsWritten != 0 || s.Errors != 1 {
		t.Errorf("bearable: %+v", s)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	s, _ = summary(t, must(t, onBeam, into(args, out)...))
	if s.Status != convert.Updated || s.ShardsWritten != 1 || s.Errors != 0 {
		t.Errorf("mended: %+v", s)
	}
	must(t, plain, into(args, ref)...)
	sameSet(t, out, ref)
}

// finished returns how many shards are in place and known to be.
func finished(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, shard.StateDir, "shards", "*"))
	return len(names)
}

// TestStopped has runs stopped in the middle, which the same command finishes. Nobody
// may be left in the directory.
func TestStopped(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	photos, ref := copyPhotos(t, 160), filepath.Join(t.TempDir(), "out")
	args := []string{"convert", "images", photos, "OUT", "--resize", "128", "--shards", "16", "--workers", "1"}
	must(t, plain, into(args, ref)...)
	processes := []string{"--environment_type=PROCESS", fmt.Sprintf(`--environment_config={"command":%q}`, self)}
	for name, c := range map[string]struct {
		signal os.Signal
		code   int
		how    []string
	}{
		"killed":                {os.Kill, -1, nil},
		"interrupted":           {os.Interrupt, 130, nil},
		"terminated":            {syscall.SIGTERM, 143, nil},
		"interrupted processes": {os.Interrupt, 130, processes},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			victim := start(t, onBeam, into(args, out, c.how...)...)
			var stderr strings.Builder
			victim.Stderr = &stderr
			p := testwait.Start(t, victim)
			testwait.Until(func() bool { return finished(out) >= 2 || p.Ended() })
			p.Process.Signal(c.signal)
			p.Wait()
			made := finished(out)
			if made == 16 {
				t.Skip("it was too fast to be stopped")
			}
			if p.ProcessState.ExitCode() != c.code {
				t.Errorf("exit %d, want %d: %s", p.ProcessState.ExitCode(), c.code, stderr.String())
			}
			if c.code > 0 && !strings.Contains(stderr.String(), "shards finished and kept") {
				t.Errorf("said %s", stderr.String())
			}
			if _, err := os.Stat(filepath.Join(out, manifest.File)); !errors.Is(err, fs.ErrNotExist) {
				t.Error("there is a manifest of half a set")
			}
			s, _ := summary(t, must(t, onBeam, into(args, out, "--json")...))
			if s.Status != convert.Resumed || s.ShardsKept < 2 || s.ShardsKept+s.ShardsWritten != 16 {
				t.Errorf("after %d shards: %+v", made, s)
			}
			sameSet(t, out, ref)
		})
	}
}

// TestAShardThatFails makes publishing a shard fail at first, or always.
func TestAShardThatFails(t *testing.T) {
	photos, ref := copyPhotos(t, 60), filepath.Join(t.TempDir(), "out")
	if _, err := convert.Images(context.Background(), photos, ref, convert.ImageOptions{Options: convert.Options{Shards: 6}}); err != nil {
		t.Fatal(err)
	}
	for _, mended := range []bool{true, false} {
		out := filepath.Join(t.TempDir(), "out")
		var obstacle string
		var notes []string
		o := convert.ImageOptions{Options: convert.Options{Shards: 6, Retries: 2}}
		o.Note = func(s string) {
			notes = append(notes, s)
			if mended {
				os.RemoveAll(obstacle)
			}
		}
		begin := func() *convert.Job {
			j, err := convert.BeginImages(context.Background(), photos, out, o)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		work := func(j *convert.Job) (*convert.Summary, error) {
			return j.Run(context.Background(), func(ctx context.Context) error {
				return makeShards(ctx, &command.Work{Job: j, Args: []string{"of", out}})
			})
		}
		j := begin()
		obstacle = filepath.Join(out, j.Shard(2))
		if err := os.MkdirAll(filepath.Join(obstacle, "in the way"), 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := work(j)
		if mended {
			if err != nil || s.ShardsWritten != 6 || len(notes) != 1 || !strings.Contains(notes[0], "trying again") {
				t.Fatalf("%+v, %v, notes %q", s, err, notes)
			}
			if n := j.Progress().Finished.Load(); n != 6 {
				t.Errorf("%d shards were put in place, of 6", n)
			}
			sameSet(t, out, ref)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Base(obstacle)) || strings.Contains(err.Error(), "caused by") {
			t.Fatalf("%+v, %v", s, err)
		}
		if len(notes) != o.Retries {
			t.Errorf("notes %q", notes)
		}
		if err := os.RemoveAll(obstacle); err != nil {
			t.Fatal(err)
		}
		j = begin()
		if left := j.Todo(); !slices.Contains(left, 2) || len(left) == 6 {
			t.Errorf("left to do: %v", left)
		}
		if _, err := work(j); err != nil {
			t.Fatal(err)
		}
		sameSet(t, out, ref)
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	photos, out := filepath.Join(demo(t), "photos"), filepath.Join(t.TempDir(), "out")
	for want, more := range map[string][]string{
		"want one of: ":                                    {"--runner", "abacus"},
		"--runner flink: wants --endpoint":                 {"--runner=flink"},
		"unknown flag --async":                             {"--async"}, // nobody would end the set
		"--task: is for tfrec":                             {"--task", "0", "--tasks", "3"},
		"--gpu: is for tfrec":                              {"--gpu", "auto", "--resize", "8"},
		"want off, error, warn, info":                      {"--beam_log", "loud"},
		"tfrec-beam convert images: --fit:":                {"--fit", "pad"},
		"--temp_location: only --runner dataflow heeds it": {"--temp_location", "gs://b/tmp"},
		"--region: only --runner dataflow heeds it":        {"--region", "europe-west4", "--runner", "flink", "--endpoint", "127.0.0.1:1"},
		"is given that, as --flink-master":                 {"--flink_master", "localhost:8081", "--runner", "flink"},
		"is given that, as --spark-master-url":             {"--spark_master_url=local"},
		"that is --endpoint here":                          {"--job_endpoint", "localhost:8099"},
		"the job is a batch":                               {"--streaming"},
		"that is --temp_location here":                     {"--tempLocation=gs://b/tmp"},
		"that is --environment_type here":                  {"--environmentType", "LOOPBACK"},
		"is given that, as --flink-master;":                {"--flinkMaster=[auto]"},
		"--workers says how much that does at once":        {"--sdk_worker_parallelism=2"},
		"workers need nothing but this program":            {"--save_main_session"},
		"start the job server":                             {"--flink_job_server_jar", "beam.jar"},
		"unknown flag --save_point":                        {"--save_point", "x"},
		"wants --endpoint host:port":                       {"--runner=spark", "--parallelism=4"},
		"unknown flag --dry_run":                           {"--runner", "dataflow", "--dry_run"},
		"want LOOPBACK, PROCESS, EXTERNAL or DOCKER":       {"--environment_type", "POOL"},
		"where a pool of workers listens":                  {"--environment_type", "EXTERNAL"},
		"want {\"command\": \"/path/to/tfrec-beam\"}":      {"--environment_type", "PROCESS", "--runner=flink", "--endpoint=127.0.0.1:1"},
		"for --environment_type PROCESS: ":                 {"--environment_type", "PROCESS", "--environment_config", "tfrec-beam"},
	} {
		o := run(t, onBeam, append([]string{"convert", "images", photos, out}, more...)...)
		if o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit %d: %s", more, o.code, o.stderr)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	o := run(t, onBeam, "convert", "images", photos, out, "--runner", "universal", "--endpoint", "127.0.0.1:1", "--environment_type=LOOPBACK")
	if o.code != 1 || !strings.Contains(o.stderr, "reach the runner") {
		t.Errorf("nobody listens: exit %d: %s", o.code, o.stderr)
	}
}
