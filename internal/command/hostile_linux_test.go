package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/tfrecord"
)

const hostileDir = "../../testdata/hostile"

// What a process may take for hostile images.
const (
	hostileMemory = 600e6
	hostileCPU    = 2 * time.Second
)

// hostileVerdicts are the hostile images with what the command says of each: the file has the words of
// Go programs.
func hostileVerdicts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(hostileDir, "VERDICTS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range optname.All() {
		names = append(names, " with "+string(n), " "+n.Word(), string(n), n.Word())
	}
	words := strings.NewReplacer(names...)
	verdicts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(line), "\t")
		verdicts[name] = words.Replace(verdict)
	}
	return verdicts
}

// costs runs the command, and returns its output with the most memory and the CPU that it used.
// Both are 0 under the race detector.
func costs(t *testing.T, code int, args ...string) (out []byte, memory int64, cpu time.Duration) {
	t.Helper()
	c := tfrec(t, args...)
	peak := filepath.Join(t.TempDir(), "peak")
	c.Env = append(c.Environ(), measureTfrec+"="+peak)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited || c.ProcessState.ExitCode() != code {
		t.Fatalf("tfrec %s: %v, want exit code %d\n%s%s", strings.Join(args, " "), err, code, out, stderr.Bytes())
	}
	if race.Enabled {
		return out, 0, 0
	}
	most, err := os.ReadFile(peak)
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.ParseInt(string(most), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	u := c.ProcessState.SysUsage().(*syscall.Rusage) // with the child's
	return out, kilobytes << 10, time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hostileSource makes a directory of good images, and of hostile ones if wanted.
func hostileSource(t *testing.T, hostile bool) string {
	t.Helper()
	src := t.TempDir()
	if err := os.CopyFS(src, os.DirFS(filepath.Join(demo(), "photos"))); err != nil {
		t.Fatal(err)
	}
	if !hostile {
		return src
	}
	for name := range hostileVerdicts(t) {
		data, err := os.ReadFile(filepath.Join(hostileDir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(src, "daisy", name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// storedImages are the records of a set with one shard: the hash of each by its file name.
func storedImages(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(dir, "*.tfrecord-*"))
	if err != nil || len(shards) != 1 {
		t.Fatalf("%q, %v", shards, err)
	}
	f, err := os.Open(shards[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	images := map[string][32]byte{}
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{})
	var e tfrecord.Example
	for record, err := range r.All() {
		if err == nil {
			err = e.Parse(record)
		}
		if err != nil {
			t.Fatal(err)
		}
		name, _ := e.Get("image/filename")
		path, _ := name.Bytes()
		images[string(path)] = sha256.Sum256(record)
	}
	return images
}

// ledgerReasons are the reasons in a set's ledger by the file's base name.
func ledgerReasons(t *testing.T, dir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "errors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range bytes.Lines(text) {
		var bad struct{ Key, Stage, Reason string }
		if err := json.Unmarshal(line, &bad); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(bad.Key), "#") // without the number of a variant
		reasons[name] = bad.Stage + ": " + bad.Reason
	}
	return reasons
}

// TestHostileImages converts hostile images together with good ones, in all the ways that decode,
// with every decoder: each has its verdict, the good ones are stored as without them, and the run
// takes little.
func TestHostileImages(t *testing.T) {
	good, all, verdicts := hostileSource(t, false), hostileSource(t, true), hostileVerdicts(t)
	want := map[string]string{}
	for name, verdict := range verdicts {
		if !strings.HasPrefix(verdict, "ok ") {
			want[name] = "decode: " + verdict
		}
	}
	decoders := []string{"auto", "go"}
	if race.Enabled {
		decoders = decoders[:1] // each decodes in the goroutine of the worker
	} else if _, err := augment.NewCodec(augment.CodecOptions{Decoder: "turbo"}); err == nil {
		decoders = append(decoders, "turbo")
	}
	for name, args := range map[string][]string{
		"keep":    nil,
		"png":     {"--encode", "png"},
		"resize":  {"--resize", "64"},
		"exact":   {"--resize", "64", "--exact-pixels"},
		"augment": {"--resize", "64", "--augment", "random_resized_crop:64"},
	} {
		for _, decoder := range decoders {
			t.Run(name+"/"+decoder, func(t *testing.T) {
				args := append([]string{"--name", "n", "--shards", "1", "--decoder", decoder, "--quiet", "--max-errors", "100%"}, args...)
				out, alone := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "alone")
				_, _, usual := costs(t, 0, append([]string{"convert", "images", good, alone}, args...)...)
				_, memory, cpu := costs(t, 0, append([]string{"convert", "images", all, out}, args...)...)
				if memory > hostileMemory || cpu > usual+hostileCPU {
					t.Errorf("%d bytes and %v, %v without hostile images", memory, cpu, usual)
				}
				got := ledgerReasons(t, out)
				for name := range verdicts {
					if got[name] != want[name] {
						t.Errorf("%s: the ledger says %q, want %q", name, got[name], want[name])
					}
				}
				stored := storedImages(t, out)
				for path, hash := range storedImages(t, alone) {
					if stored[path] != hash {
						t.Errorf("%s is stored otherwise than without hostile images", path)
					}
				}
			})
		}
	}
}

// TestHostileRecords has the verbs that decode read hostile images in records: none takes much, and
// each says what it did not decode.
func TestHostileRecords(t *testing.T) {
	verdicts := hostileVerdicts(t)
	path := filepath.Join(t.TempDir(), "hostile.tfrecord")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b tfrecord.Builder
	for _, name := range slices.Sorted(maps.Keys(verdicts)) {
		data, err := os.ReadFile(filepath.Join(hostileDir, name))
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		b.Bytes("image/encoded", data)
		b.String("image/filename", name)
		b.Int64("image/class/label", 0)
		if err := w.WriteRecord(b.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	for name, run := range map[string]struct {
		code int
		args []string
	}{
		"verify":  {3, []string{"verify", "--deep", path, "--json"}},
		"near":    {3, []string{"verify", "--near", path, "--json"}},
		"stats":   {0, []string{"stats", "--pixels", "all", path, "--json"}},
		"preview": {0, []string{"preview", path, page, "--json"}},
		"sheet":   {0, []string{"inspect", path, "--sheet", page + ".png", "--json"}},
		"bench":   {3, []string{"bench", "--decode", "--resize", "64", "--seconds", "0", path, "--json"}},
		"export":  {0, []string{"export", path, page + ".d", "--format", "folders"}},
	} {
		out, memory, cpu := costs(t, run.code, run.args...)
		if memory > hostileMemory || cpu > 2*hostileCPU {
			t.Errorf("%s: %d bytes and %v", name, memory, cpu)
		}
		if name != "verify" && name != "near" {
			continue
		}
		var report struct {
			Deep struct {
				Findings []struct{ Kind, Severity, Key, Message string }
			}
		}
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, f := range report.Deep.Findings {
			if f.Kind != "duplicate" {
				found[f.Key] = f.Kind + " " + f.Severity + " " + f.Message
			}
		}
		for image, verdict := range verdicts {
			if ext := filepath.Ext(image); ext == ".tif" || ext == ".bmp" {
				continue // taken for images where nothing else is in the feature
			}
			want := ""
			switch {
			case strings.HasPrefix(verdict, "unsupported"):
				want = "unsupported warning the image was not decoded: "
			case strings.HasPrefix(verdict, "too many"):
				want = "too_large fault the image was not decoded: "
			case strings.HasPrefix(verdict, "damaged"):
				want = "picture fault the image does not decode: "
			default:
				verdict = ""
			}
			if found[image] != want+verdict {
				t.Errorf("%s: %s: %q, want %q", name, image, found[image], want+verdict)
			}
		}
	}
}

// TestMemoryOfImages: with --memory, large images are worked on one after the other, whatever the
// number of workers, and to the same set.
func TestMemoryOfImages(t *testing.T) {
	race.Skip(t)
	src := t.TempDir()
	// 4000x4000 pixels of one colour each, in lossless WebP.
	image := []byte("RIFF\x18\x00\x00\x00WEBPVP8L\x0c\x00\x00\x00/\x9f\xcf\xe7\x03\x88\x88\x08\x00\x00\x00\x00")
	for i := range 6 {
		if err := os.WriteFile(filepath.Join(src, fmt.Sprint(i)+".webp"), image, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sets := map[string]map[string]string{}
	taken := map[string]int64{}
	for _, memory := range []string{"10MB", "8GB"} {
		out := filepath.Join(t.TempDir(), "out")
		_, taken[memory], _ = costs(t, 0, "convert", "images", src, out, "--unlabelled", "--name", "n", "--resize", "64", "--workers", "6", "--memory", memory, "--quiet")
		set, err := readSet(out)
		if err != nil {
			t.Fatal(err)
		}
		sets[memory] = set
	}
	if diff := difference(sets["10MB"], sets["8GB"]); diff != "" {
		t.Error(diff)
	}
	// One takes 180 MB, and the garbage collector lets the heap grow to twice that.
	if one, many := taken["10MB"], taken["8GB"]; one > 450e6 || many < one*3/2 {
		t.Errorf("one at a time took %d bytes, six at a time %d", one, many)
	}
	c := tfrec(t, "convert", "images", src, t.TempDir(), "--memory", "1kB")
	if err := c.Run(); c.ProcessState.ExitCode() != 2 {
		t.Errorf("--memory 1kB: %v", err)
	}
}
