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
	"testing"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
	"github.com/tfrec/tfrec/tfrecord"
)

// numbered writes n Examples of up to that many bytes of noise to a file, and
// returns its path.
func numbered(t testing.TB, n, noise int) string {
	t.Helper()
	var data []byte
	var b tfrecord.Builder
	for i := range n {
		b.Reset()
		b.Int64("id", int64(i))
		b.Bytes("noise", slices.Repeat([]byte{byte(i)}, i*37%noise))
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	check(t, os.WriteFile(path, data, 0o644))
	return path
}

// labelled converts a table with n rows of labels.
func labelled(t testing.TB, n int, labels ...string) string {
	t.Helper()
	table := "id,kind\n"
	for i := range n {
		table += fmt.Sprintf("%d,%s\n", i, labels[i%len(labels)])
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	check(t, os.WriteFile(path, []byte(table), 0o644))
	out := filepath.Join(t.TempDir(), "set")
	o := convert.CSVOptions{Label: "kind"}
	o.Shards, o.Splits = 2, []convert.SplitShare{{Name: "train", Share: 0.8}, {Name: "val", Share: 0.2}}
	_, err := convert.CSV(context.Background(), []string{path}, out, o)
	check(t, err)
	return out
}

func TestReshardIsTheLocalOne(t *testing.T) {
	ctx := context.Background()
	bare := numbered(t, 1500, 2000)
	birds, beasts := labelled(t, 90, "wren", "owl"), labelled(t, 70, "cat", "owl", "ass")
	packed := filepath.Join(t.TempDir(), "packed")
	_, err := reshape.Reshard(ctx, []string{birds}, packed, reshape.ReshardOptions{Options: reshape.Options{Compression: tfrecord.CompressionGzip}})
	check(t, err)
	for _, c := range []struct {
		name string
		in   []string
		o    reshape.Options
		kept bool // the order
	}{
		{name: "a file without a manifest", in: []string{bare}, o: reshape.Options{Shards: 5}},
		{name: "another seed and count", in: []string{bare}, o: reshape.Options{RecordsPerShard: 400, Seed: 1 << 63}},
		{name: "more than memory holds", in: []string{bare}, o: reshape.Options{Shards: 1, Memory: 1e6}},
		{name: "sets with other labels", in: []string{birds, beasts}, o: reshape.Options{Shards: 3, Seed: 2, Name: "animals"}},
		{name: "packed", in: []string{packed}, o: reshape.Options{Shards: 2, Seed: 3}},
		{name: "to be packed", in: []string{birds}, o: reshape.Options{Shards: 2, Seed: 4, Compression: tfrecord.CompressionZlib}},
		{name: "more shards than records", in: []string{numbered(t, 3, 10)}, o: reshape.Options{Shards: 5}},
		{name: "in order", in: []string{bare}, o: reshape.Options{Shards: 3}, kept: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := reshape.ReshardOptions{Options: c.o, Shuffle: !c.kept}
			want, got := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
			told, err := reshape.Reshard(ctx, c.in, want, o)
			check(t, err)
			o.Progress = new(reshape.Progress)
			report, err := reshard(ctx, c.in, got, o)
			check(t, err)
			sameSet(t, got, want)
			told.Seconds, report.Seconds = 0, 0
			a, err1 := json.Marshal(told)
			b, err2 := json.Marshal(report)
			if err1 != nil || err2 != nil || string(a) != string(b) {
				t.Errorf("the report is %s, want %s", b, a)
			}
			if n := o.Progress.Planned.Load(); n != 2*report.Records {
				t.Errorf("%d records are planned to be read or written, want twice %d", n, report.Records)
			}
			if report, err = reshard(ctx, c.in, got, o); err != nil || report.Status != "up_to_date" {
				t.Errorf("again: %+v, %v", report, err)
			}
		})
	}
}

func TestReshardFindsDamage(t *testing.T) {
	ctx := context.Background()
	path := numbered(t, 200, 500)
	data, err := os.ReadFile(path)
	check(t, err)
	data[len(data)/2] ^= 1
	check(t, os.WriteFile(path, data, 0o644))
	o := reshape.ReshardOptions{Options: reshape.Options{Shards: 3}, Shuffle: true}
	_, want := reshape.Reshard(ctx, []string{path}, filepath.Join(t.TempDir(), "out"), o)
	out := filepath.Join(t.TempDir(), "out")
	_, err = reshard(ctx, []string{path}, out, o)
	var damaged *shard.DamagedError
	var fault *tfrecord.Error
	if !errors.As(err, &damaged) || !errors.As(err, &fault) || fault.Record < 50 || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was left", out)
	}
}

func TestReshardIsCancelled(t *testing.T) {
	path := numbered(t, 2000, 2000)
	out := filepath.Join(t.TempDir(), "out")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	ctx = inject.With(ctx, func(operation string) error {
		// As soon as a worker writes its first shard.
		if _, err := os.Stat(filepath.Join(out, shard.StateDir, "reshard.json")); err == nil && operation == "create" {
			cancel(stopped)
		}
		return nil
	})
	if _, err := reshard(ctx, []string{path}, out, reshape.ReshardOptions{Shuffle: true}); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(out, manifest.File)); err == nil {
		t.Error("there is a manifest")
	}
}

// TestReshardByProcesses has the runner start workers as processes, which find the
// plan in the directory, and paths that are relative.
func TestReshardByProcesses(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	config, err := json.Marshal(map[string]string{"command": self})
	check(t, err)
	in := numbered(t, 500, 1000)
	for _, c := range []struct {
		name   string
		damage bool
		code   int
	}{{"whole", false, 0}, {"damaged", true, 3}} {
		t.Run(c.name, func(t *testing.T) {
			if c.damage {
				data, err := os.ReadFile(in)
				check(t, err)
				data[len(data)-10] ^= 1
				check(t, os.WriteFile(in, data, 0o644))
			}
			args := []string{"--quiet", "reshard", filepath.Base(in), "OUT", "--shuffle", "--shards", "3", "--name", "x"}
			reshardAs := func(as, out string, more ...string) (int, string) {
				c := start(t, as, append(into(args, out), more...)...)
				c.Dir = filepath.Dir(in)
				text, _ := c.CombinedOutput()
				return c.ProcessState.ExitCode(), string(text)
			}
			local := "local-" + c.name
			beams := "beams-" + c.name
			code, said := reshardAs(plain, local)
			if code != c.code {
				t.Fatalf("exit %d: %s", code, said)
			}
			code, says := reshardAs(onBeam, beams, "--environment_type=PROCESS", "--environment_config", string(config))
			if code != c.code || c.damage && !strings.HasSuffix(says, strings.Replace(said, "tfrec ", "tfrec-beam ", 1)) {
				t.Fatalf("exit %d, want %d: %s, want %s", code, c.code, says, said)
			}
			if c.damage {
				if _, err := os.Stat(filepath.Join(filepath.Dir(in), beams)); err == nil {
					t.Error("something was left")
				}
				return
			}
			sameSet(t, filepath.Join(filepath.Dir(in), beams), filepath.Join(filepath.Dir(in), local))
		})
	}
}

// TestReshardIsKilled kills a process that reshards, at several moments, and has
// the next one finish.
func TestReshardIsKilled(t *testing.T) {
	in, want := numbered(t, 1500, 2000), filepath.Join(t.TempDir(), "out")
	args := []string{"reshard", in, "OUT", "--shuffle", "--seed", "5", "--shards", "12"}
	must(t, plain, into(args, want)...)
	for _, sign := range []string{"reshard.json", "shards/*.tfrecord-*.json"} {
		out := filepath.Join(t.TempDir(), "out")
		victim := testwait.Start(t, start(t, onBeam, into(args, out)...))
		testwait.Until(func() bool {
			found, _ := filepath.Glob(filepath.Join(out, shard.StateDir, sign))
			return len(found) > 0 || victim.Ended()
		})
		_ = victim.Process.Kill()
		t.Logf("%s: ended with %d shards finished: %v", sign, finished(out), victim.Wait())
		must(t, onBeam, into(args, out)...)
		sameSet(t, out, want)
	}
}
