package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
)

// inSilence in the environment makes TestSilentStore do its work: stores cannot be
// taken out of a process again, and the other tests of this package want none.
const inSilence = "TFREC_TEST_SILENCE"

// soon is how long a call may take to return after its context is done, on the clock of
// testing/synctest: less than any limit of the command on requests.
const soon = 8 * time.Second

// TestSilentStore interrupts what reads a store that stops answering: at the first
// request, at the second, and so on. Everything must return at once.
func TestSilentStore(t *testing.T) {
	if os.Getenv(inSilence) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(self, "-test.run=^TestSilentStore$", "-test.v="+map[bool]string{true: "true", false: "false"}[testing.Verbose()])
		c.Env = append(os.Environ(), inSilence+"=1", noRaceSleep)
		out, err := c.CombinedOutput()
		if testing.Verbose() || err != nil {
			t.Logf("%s", out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	set := filepath.Join(dir, "set")
	runs(t, 0, "convert", "csv", filepath.Join(demo(), "penguins.csv"), set, "--name", "birds", "--shards", "2", "-q")
	runs(t, 0, "convert", "csv", filepath.Join(demo(), "penguins.csv"), filepath.Join(dir, "packed"), "--compression", "gzip", "-q")
	store := storagetest.New()
	for from, to := range map[string]string{set: "set", filepath.Join(dir, "packed"): "packed", demo(): "raw"} {
		files, err := readSet(from)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			store.Put(to+"/"+name, []byte(data))
		}
	}
	var packedTable bytes.Buffer
	z := gzip.NewWriter(&packedTable)
	if _, err := z.Write(store.Get("raw/penguins.csv")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	store.Put("raw/penguins.csv.gz", packedTable.Bytes())
	const whole, packed, raw = "mem://store/set", "mem://store/packed", "mem://store/raw"
	verb := func(args ...string) func(context.Context, string) error {
		return func(ctx context.Context, out string) error {
			args := slices.Clone(args)
			for i := range args {
				args[i] = strings.Replace(args[i], "OUT", out, 1)
			}
			var text bytes.Buffer
			if code := run(ctx, args, &text, &text); code != 0 {
				return errors.New(text.String())
			}
			return nil
		}
	}
	read := func(url string, pipe func(*reader.Set) reader.Pipe) func(context.Context, string) error {
		return func(ctx context.Context, _ string) error {
			s, err := reader.Open(ctx, url, reader.Options{})
			if err != nil {
				return err
			}
			for _, err := range pipe(s).All(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, f := range map[string]func(ctx context.Context, out string) error{
		"reader.Open": func(ctx context.Context, _ string) error {
			_, err := reader.Open(ctx, whole, reader.Options{})
			return err
		},
		"shard.Expand": func(ctx context.Context, _ string) error {
			_, err := shard.Expand(ctx, []string{"mem://store/s*", packed}, shard.ExpandOptions{})
			return err
		},
		"convert.Images": func(ctx context.Context, out string) error {
			_, err := convert.Images(ctx, raw+"/photos", out, convert.ImageOptions{})
			return err
		},
		"Set.Len": func(ctx context.Context, _ string) error {
			s, err := reader.Open(ctx, whole, reader.Options{})
			if err == nil {
				_, err = s.Len(ctx)
			}
			return err
		},
		"Records":                 read(whole, (*reader.Set).Records),
		"Interleave":              read(packed, func(s *reader.Set) reader.Pipe { return s.Interleave(2, 1) }),
		"ShuffleAll":              read(whole, func(s *reader.Set) reader.Pipe { return s.ShuffleAll(reader.ShuffleAllOptions{}) }),
		"cat":                     verb("cat", packed),
		"convert csv":             verb("convert", "csv", raw+"/penguins.csv", "OUT", "-q"),
		"convert csv, compressed": verb("convert", "csv", raw+"/penguins.csv.gz", "OUT", "-q"),
		"diff":                    verb("diff", whole, packed, "--unordered"),
		"export":                  verb("export", whole, "OUT", "--format", "jsonl", "-q"),
		"inspect":                 verb("inspect", whole),
		"preview":                 verb("preview", whole, "OUT.html", "-q"),
		"reshard":                 verb("reshard", packed, "OUT", "--shards", "3", "-q"),
		"reshard --shuffle":       verb("reshard", whole, "OUT", "--shards", "3", "--shuffle", "-q"),
		"stats":                   verb("stats", whole),
		"verify --deep":           verb("verify", whole, "--deep", "-q"),
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			all := silence(store, 1<<30)
			if err := f(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			if all.Asked() < 3 {
				t.Fatalf("it asked the store %d times", all.Asked())
			}
			for answers := range all.Asked() {
				out := filepath.Join(t.TempDir(), "out")
				synctest.Test(t, func(t *testing.T) {
					interrupt(t, silence(store, answers), func(ctx context.Context) error { return f(ctx, out) })
				})
			}
		})
	}
	t.Run("named", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { named(t, store) }) })
}

// named wants a store that stops answering to be named on stderr after 30 s, and then every minute.
func named(t *testing.T, s *storagetest.Store) {
	silence(s, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	run(ctx, []string{"cat", "mem://bucket/set", "-q"}, new(bytes.Buffer), &stderr)
	if text := stderr.String(); !strings.HasPrefix(text, "tfrec: mem://bucket has not answered for 30s;") || strings.Count(text, "mem://bucket has not answered for") != 3 {
		t.Errorf("in 3 minutes: %s", text)
	}
}

// silence has the URLs of this test lead to a store that stops answering.
func silence(s *storagetest.Store, answers int) *storagetest.Silent {
	silent := storagetest.NewSilent(s, answers)
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return silent, nil })
	return silent
}

// interrupt ends the context of f when the store is silent.
func interrupt(t *testing.T, s *storagetest.Silent, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	returned := make(chan error, 1)
	go func() { returned <- f(ctx) }()
	select {
	case <-s.Silence():
	case err := <-returned: // requests are not in the same order each time
		if err != nil {
			t.Errorf("it ended before the store was silent, after %d requests: %v", s.Asked(), err)
		}
		return
	}
	cancel()
	began := time.Now()
	if err := <-returned; err == nil {
		t.Errorf("it was interrupted at request %d, and returned without an error", s.Asked())
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it returned %v after being interrupted, after %d requests", took, s.Asked())
	}
}
