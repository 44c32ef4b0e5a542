package tables

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDetectFormat(t *testing.T) {
	for text, want := range map[string]TableFormat{
		"": "", " \r\n\n": "", "a,b\n1,2\n": TableCSV, "{a},{b}\n": TableCSV, "[1]\n": TableCSV, "\x1f\x8b": TableCSV,
		"{}": TableJSONL, " \r\n\t{ \"a\":1": TableJSONL, "\xef\xbb\xbf{\"a\":1}\n{": TableJSONL,
		"PAR1\x15\x04": TableParquet, "ARROW1\x00\x00": TableArrow, "\xff\xff\xff\xff\x10": TableArrow, "\x93NUMPY\x01": TableNPY, "PK\x03\x04": TableNPZ,
	} {
		if got, err := DetectFormat(t.Context(), writeTable(t, "t", text)); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	blank, csv := writeTable(t, "blank", "\n"), writeTable(t, "csv", "a\n1\n")
	if got, err := detectFormats(t.Context(), []string{blank, csv, blank}); got != TableCSV || err != nil {
		t.Errorf("blank and CSV: %s, %v", got, err)
	}
	if got, err := detectFormats(t.Context(), []string{blank}); got != TableCSV || err != nil {
		t.Errorf("blank: %s, %v", got, err)
	}
}

func writeTable(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
