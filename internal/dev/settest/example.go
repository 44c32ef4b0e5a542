package settest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// Photo returns a typical image Example, without real pixels.
func Photo(id int64, text string) []byte {
	var b tfrecord.Builder
	b.Bytes("image/encoded", []byte("\xff\xd8\xff\xe0 not a real image"))
	b.Int64("image/class/label", id)
	if text != "" {
		b.String("image/class/text", text)
	}
	b.Float("bbox", 1, 2, 3, 4)
	return b.Append(nil)
}

func FileOf(records ...[]byte) []byte {
	var data []byte
	for _, r := range records {
		data = tfrecord.AppendFrame(data, r)
	}
	return data
}

// ExampleFile writes n Examples to a file and returns its path.
func ExampleFile(t testing.TB, path string, n int, build func(i int, b *tfrecord.Builder)) string {
	t.Helper()
	var data []byte
	var b tfrecord.Builder
	for i := range n {
		b.Reset()
		build(i, &b)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	Check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	PutFile(t, path, data)
	return path
}

// Numbers builds records with their number in the feature id.
func Numbers(i int, b *tfrecord.Builder) {
	b.Int64("id", int64(i))
	b.String("text", fmt.Sprintf("record %d", i))
}

// Example returns the Example that build builds.
func Example(build func(b *tfrecord.Builder)) []byte {
	var b tfrecord.Builder
	build(&b)
	return b.Append(nil)
}

// Table returns records like the rows of a table: a label, an amount, 28 numbers v and a merchant.
func Table(n int) [][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	records := make([][]byte, n)
	for i := range records {
		records[i] = Example(func(b *tfrecord.Builder) {
			v := make([]float32, 28)
			for k := range v {
				v[k] = rnd.Float32()
			}
			b.Int64("label", int64(i%10))
			b.Float("amount", rnd.Float32())
			b.Float("v", v...)
			b.String("merchant", "m"+strings.Repeat("1", i%3))
		})
	}
	return records
}
