package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestJSONLinesAgain exports random records as JSON lines and converts these: the records are equal,
// whatever the keys are, or the export says that it can't.
func TestJSONLinesAgain(t *testing.T) {
	for _, seed := range torture.Sample(t, 4, torture.Seeds(20, 300)) {
		rng := rand.New(rand.NewPCG(seed, 37))
		dir := t.TempDir()
		in, lines, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "out")
		type feature struct {
			key  string
			kind int
			list bool
		}
		var features []feature
		numbers := false
		for i := range 1 + rng.IntN(5) {
			f := feature{fmt.Sprint(i, []string{"", ".base64", ".base64.base64", ".Base64", "base64", "a.base64.b"}[rng.IntN(6)]), rng.IntN(4), rng.IntN(2) == 0}
			if f.kind < 2 {
				numbers = numbers || filepath.Ext(f.key) == ".base64"
			}
			features = append(features, f)
		}
		var file []byte
		for row := range 1 + rng.IntN(4) {
			var b tfrecord.Builder
			for _, f := range features {
				if row > 0 && rng.IntN(4) == 0 {
					continue
				}
				n := 1
				if f.list {
					n = 2 * rng.IntN(2)
					if row == 0 {
						n = 2
					}
				}
				ints, floats, texts := make([]int64, n), make([]float32, n), make([][]byte, n)
				for i := range n {
					ints[i], floats[i] = rng.Int64(), rng.Float32()
					texts[i] = []byte([]string{"", "text", "aGVsbG8=", "1", "null"}[rng.IntN(5)])
					if f.kind == 3 {
						texts[i] = append(texts[i], 0xff)
					}
				}
				switch f.kind {
				case 0:
					b.Int64(f.key, ints...)
				case 1:
					b.Float(f.key, floats...)
				default:
					b.Bytes(f.key, texts...)
				}
			}
			file = tfrecord.AppendFrame(file, b.Append(nil))
		}
		if err := os.WriteFile(in, file, 0o644); err != nil {
			t.Fatal(err)
		}
		exported := tfrec(t, "export", in, lines, "--format", "jsonl", "-q")
		if said, err := exported.CombinedOutput(); numbers != (err != nil) {
			t.Fatalf("seed %d: %v, with numbers under such a key: %v\n%s", seed, err, numbers, said)
		} else if numbers {
			continue
		}
		must(t, "convert", "table", lines, out, "-q")
		if said, err := tfrec(t, "diff", in, out).CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, said)
		}
	}
}
