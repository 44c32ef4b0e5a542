package preview

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/shard/stats"
)

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
