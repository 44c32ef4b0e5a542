package preview

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeFile writes records as a file of that compression.
func writeFile(t testing.TB, path string, c tfrecord.Compression, records ...[]byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// writeIndex writes the index of a file.
func writeIndex(t testing.TB, path string) {
	t.Helper()
	if _, err := repair.Index(t.Context(), []string{path}, repair.IndexOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
}

// noise returns an image of random samples.
func noise(seed uint64, w, h, channels int) *augment.Image {
	var im augment.Image
	im.Reset(w, h, channels)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range im.Pix {
		im.Pix[i] = uint8(r.Uint32())
	}
	return &im
}

func encodePNG(t testing.TB, im *augment.Image) []byte {
	t.Helper()
	data, err := augment.AppendPNG(nil, im)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// example is an Example with the features of an image that convert writes.
func example(img []byte, key, label string, more func(*tfrecord.Builder)) []byte {
	var b tfrecord.Builder
	b.Bytes(imagekey.Encoded, img)
	b.String(imagekey.Filename, key)
	b.String(imagekey.Text, label)
	if more != nil {
		more(&b)
	}
	return b.Append(nil)
}

// variant is an example that is a variant, with what was done to it.
func variant(img []byte, key, label string, copy int64, ops string) []byte {
	return example(img, key, label, func(b *tfrecord.Builder) {
		b.Int64(imagekey.Copy, copy)
		b.String(imagekey.Ops, ops)
	})
}

func options(t testing.TB) Options {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Options{Codec: codec, Header: func(data []byte) (stats.ImageHeader, error) {
		info, err := codec.Stat(data)
		return stats.ImageHeader{Width: info.Width, Height: info.Height, Channels: info.Channels}, err
	}}
}

// writePage makes a page of the set at a path and returns its text.
func writePage(t testing.TB, path string, o Options) (string, *Report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	report, err := Write(t.Context(), []string{path}, out, o)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(page)) != report.Bytes || len(page) >= MaxPage {
		t.Errorf("the page has %d bytes, the report says %d; the limit is %d", len(page), report.Bytes, MaxPage)
	}
	return string(page), report
}

// numbered returns records that know their number.
func numbered(n int) [][]byte {
	var records [][]byte
	for i := range n {
		var b tfrecord.Builder
		b.Int64("number", int64(i))
		b.String("key", fmt.Sprintf("k%d", i))
		records = append(records, b.Append(nil))
	}
	return records
}
