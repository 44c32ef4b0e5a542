package command

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tfrec/tfrec/internal/command/formats"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestLongRecordsComeWhole prints records whose text is written piece by piece.
func TestLongRecordsComeWhole(t *testing.T) {
	race.Skip(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		var b tfrecord.Builder
		floats, ints, values := make([]float32, rng.IntN(100_000)), make([]int64, rng.IntN(200_000)), make([][]byte, rng.IntN(50_000))
		for i := range floats {
			floats[i] = rng.Float32()
		}
		for i := range ints {
			ints[i] = rng.Int64()
		}
		for i := range values {
			values[i] = []byte(strconv.Itoa(i))
		}
		b.Float("floats", floats...)
		b.Int64("ints", ints...)
		b.Bytes("values", values...)
		b.Bytes("blob", bytes.Repeat([]byte{0xff, 1}, rng.IntN(500_000)))
		record := b.Append(nil)
		path := filepath.Join(t.TempDir(), "long.tfrecord")
		if err := os.WriteFile(path, tfrecord.AppendFrame(nil, record), 0o644); err != nil {
			t.Fatal(err)
		}
		proto, err := new(formats.Proto).Object(nil, record)
		if err != nil {
			t.Fatal(err)
		}
		for format, want := range map[string][]byte{
			"json": new(formats.Readable).Object(nil, record), "proto": proto,
			"hex": hex.AppendEncode(nil, record), "text": new(formats.Readable).Text(nil, path, 0, 0, record),
		} {
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"cat", path, "--format", format}, &out, &errs); code != 0 {
				t.Fatalf("%s: exit %d, %s", format, code, &errs)
			}
			if got := bytes.TrimSuffix(out.Bytes(), []byte("\n")); !bytes.Equal(got, bytes.TrimSuffix(want, []byte("\n"))) {
				t.Errorf("%s: %d bytes, want %d", format, len(got), len(want))
			}
		}
	}
}
