package command

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/tfrecord"
)

// oddText returns text of some characters, of which every other one is a control
// character, a character that turns the direction of text, or a stray byte.
func oddText(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		switch rng.IntN(10) {
		case 0, 1:
			b.WriteByte(1 + byte(rng.IntN(0x1f)))
		case 2:
			b.WriteString([]string{"\x1b[31m", "\x1b]0;x\a", "\u009b31m", "\x7f", "\r"}[rng.IntN(5)])
		case 3:
			b.WriteRune(0x80 + rune(rng.IntN(0x20)))
		case 4:
			b.WriteRune([]rune("\u061c\u200e\u202a\u202e\u2066\u2069")[rng.IntN(6)])
		case 5:
			b.WriteByte(0x80 + byte(rng.IntN(0x80)))
		default:
			b.WriteByte('a' + byte(rng.IntN(26)))
		}
	}
	return b.String()
}

// verbsOf returns the paths of all commands that do something: "convert images".
func verbsOf(cmd *cobra.Command) []string {
	var list []string
	for _, c := range cmd.Commands() {
		if c.HasSubCommands() {
			list = append(list, verbsOf(c)...)
		} else if c.Name() != "help" {
			list = append(list, strings.TrimPrefix(c.CommandPath(), "tfrec "))
		}
	}
	return list
}

// TestNoControlCharacterIsPrinted runs every verb over names and data that are full
// of control characters, as text and as JSON, also where it fails.
func TestNoControlCharacterIsPrinted(t *testing.T) {
	verbs := verbsOf(newRootCommand(nil))
	seen := map[string]bool{}
	for _, seed := range torture.Sample(t, 1, torture.Seeds(20, 0)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		check := func(args ...string) {
			t.Helper()
			for _, verb := range verbs {
				if strings.HasPrefix(strings.Join(args, " ")+" ", verb+" ") {
					seen[verb] = true
				}
			}
			for _, more := range [][]string{nil, {"--json"}} {
				var out, errs bytes.Buffer
				all := append(slices.Clone(args), more...)
				code := run(t.Context(), all, &out, &errs)
				for what, got := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
					if i := strings.IndexFunc(got, func(r rune) bool { return printable.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 || !utf8.ValidString(got) {
						t.Errorf("%q, exit %d: %s has %q at byte %d", all, code, what, got[max(0, i-20):max(0, min(len(got), i+20))], i)
					}
				}
				if more == nil || code != cli.ExitFine || args[0] == "completion" || slices.Contains(args, "--print-outputs") {
					continue
				}
				for d := json.NewDecoder(&out); ; {
					if err := d.Decode(new(any)); err == io.EOF {
						break
					} else if err != nil {
						t.Errorf("%q: %v", all, err)
						break
					}
				}
			}
		}
		dir := filepath.Join(t.TempDir(), "d"+oddText(rng, 8))
		path := func() string { return filepath.Join(dir, "p"+oddText(rng, 8)) }
		write := func(path string, data []byte) string {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Skipf("no such names here: %v", err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Skipf("no such names here: %v", err)
			}
			return path
		}
		key, label := "k"+oddText(rng, 6), "l"+oddText(rng, 6)
		var frames []byte
		for i := range 30 {
			var b tfrecord.Builder
			b.String(key, oddText(rng, 10))
			b.String("image/filename", oddText(rng, 10))
			b.Int64("label", int64(i%2))
			frames = tfrecord.AppendFrame(frames, b.Append(nil))
		}
		file := write(path()+".tfrecord", frames)
		torn := write(path()+".tfrecord", append(slices.Clone(frames[:len(frames)-9]), oddText(rng, 5)...))
		wrong := write(path()+".tfrecord", []byte("no records "+oddText(rng, 30)))
		csv := write(path()+".csv", []byte("id,"+key+",label\n1,\""+oddText(rng, 9)+"\",x"+label+"\n2,b,"+label+"\n3\n"))
		photo, err := os.ReadFile(filepath.Join(demo(), "photos", "bee", "bee_0.jpg"))
		if err != nil {
			found, _ := filepath.Glob(filepath.Join(demo(), "photos", "*", "*.jpg"))
			if photo, err = os.ReadFile(found[0]); err != nil {
				t.Fatal(err)
			}
		}
		src := path()
		write(filepath.Join(src, "c"+oddText(rng, 5), oddText(rng, 5)+".jpg"), photo)
		write(filepath.Join(src, "c"+oddText(rng, 5), oddText(rng, 5)+".jpg"), photo[:2000])

		set, images, table := path(), path(), path()
		write(filepath.Join(set, "s-train.tfrecord-00000-of-00001"), frames)
		check("adopt", set)
		check("adopt", set, "--check")
		for _, in := range []string{src, csv, set, wrong, filepath.Dir(src)} {
			check("init", in)
			check("init", in, path()+".yaml")
			check("convert", in, path())
		}
		check("convert", "images", src, images, "--resize", "32", "--shards", "1")
		check("convert", "images", src, images, "--resize", "32", "--shards", "1", "--max-errors", "1")
		check("convert", "images", src, images, "--resize", "16", "--shards", "1")
		check("convert", "images", src, path(), "--dry-run", "--print-outputs")
		check("convert", "images", src, path(), "--plan-only", "-")
		check("convert", "csv", csv, table, "--label", "label", "--vocab", "--shards", "1", "--max-errors", "3")
		check("convert", "csv", csv, path(), "--label", key, "--column", key+"=int64", "--shards", "1")
		check("convert", "csv", csv, path(), "--print-schema")
		check("convert", "table", csv, path(), "--label", key)
		check("convert", "table", csv, path(), "--column", key+"=int64", "--format", key)
		check("convert", "--config", csv)
		check("finalize", path())
		check("finalize", set)
		inputs := []string{set, file, torn, wrong, images, table, path()}
		if race.Enabled {
			inputs = inputs[:1] // what is printed of the others is no matter of goroutines
		}
		for _, in := range inputs {
			check("inspect", in)
			check("inspect", in, "--emit", "tf")
			check("inspect", in, "--emit", "go")
			check("inspect", in, "--sheet", path()+".png")
			check("verify", in)
			check("verify", in, "--deep", "--report", path())
			check("verify", in, "--against", set)
			check("index", in, "--check")
			check("index", in)
			check("stats", in, "--by", key)
			check("stats", "--compare", in, set)
			check("diff", in, set)
			for _, format := range catFormats {
				check("cat", in, "--format", format)
			}
			check("cat", in, "--skip-bad", "5")
			check("bench", in, "--seconds", "0", "--parse")
			check("doctor", in, "--shuffle", "100", "--duration", "10ms", "--batch-time", "1us")
			check("preview", in, path()+".html")
			check("card", in, "--out", filepath.Dir(path()))
			for _, format := range []string{"folders", "csv", "jsonl", "parquet", "npz", "webdataset"} {
				check("export", in, path(), "--format", format)
			}
			check("repair", in, path())
			check("reshard", in, path(), "--sort-by", key)
			check("merge", in, set, path())
			check("split", in, path(), "--splits", "train=0.5,val=0.5")
			check("split", in, path(), "--list", csv)
			check("sample", in, path(), "--count", "3")
			check("take", in, path(), "--count", "3")
			check("filter", in, path(), "--where", "label == 1")
			check("filter", in, path(), "--where", key+" == ")
			check("dedupe", in, path(), "--by", key)
			check("features", "select", in, path(), "--keys", key)
			check("features", "drop", in, path(), "--keys", key)
			check("features", "rename", in, path(), "--keys", key+"=x")
			check("append", set, in)
		}
		check("clean", set, path())
		check("augment", "preview", wrong, "--augment", "hflip", "-o", path()+".png")
		check("augment", "preview", wrong, "--augment", key, "-o", path())
		check("augment", "list", key)
		check("completion", key)
		check("config", "init", key)
		check("config", "schema")
		check("gpu")
		check("version", key)
		check(key)
		check("cat", "--"+key)
		check("cat", "--take", key)
	}
	for _, verb := range verbs {
		if !seen[verb] {
			t.Errorf("%s was not run", verb)
		}
	}
}
