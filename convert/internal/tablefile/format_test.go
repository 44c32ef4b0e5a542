package tablefile

import (
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
)

func TestDetect(t *testing.T) {
	put := func(text string) string {
		path := filepath.Join(t.TempDir(), "t")
		settest.PutFile(t, path, []byte(text))
		return path
	}
	for text, want := range map[string]Format{
		"": "", " \r\n\n": "", "a,b\n1,2\n": CSV, "{a},{b}\n": CSV, "[1]\n": CSV, "\x1f\x8b": CSV,
		"{}": JSONL, " \r\n\t{ \"a\":1": JSONL, "\xef\xbb\xbf{\"a\":1}\n{": JSONL,
		"PAR1\x15\x04": Parquet, "ARROW1\x00\x00": Arrow, "\xff\xff\xff\xff\x10": Arrow, "\x93NUMPY\x01": NPY, "PK\x03\x04": NPZ,
	} {
		if got, err := Detect(t.Context(), put(text)); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	blank, csv := put("\n"), put("a\n1\n")
	if got, err := detectAll(t.Context(), []string{blank, csv, blank}); got != CSV || err != nil {
		t.Errorf("blank and CSV: %s, %v", got, err)
	}
	if got, err := detectAll(t.Context(), []string{blank}); got != CSV || err != nil {
		t.Errorf("blank: %s, %v", got, err)
	}
}
