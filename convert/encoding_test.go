package convert

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestEncodings: tables in other encodings make the set of the same table in UTF-8, with any number of
// workers, shuffled or not; a second run is up to date.
func TestEncodings(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("nümber,näme,value\n")
	for i := range 30_000 { // more than a chunk
		text.WriteString(strings.Join([]string{string(rune('0' + i%10)), "Füßchen è " + strings.Repeat("é", i%40), "1.5"}, ",") + "\n")
	}
	latin := make([]byte, 0, text.Len())
	for _, r := range text.String() {
		latin = append(latin, byte(r))
	}
	wide := binary.LittleEndian.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text.String())) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	for _, shuffle := range []bool{false, true} {
		var want map[string]string
		for _, c := range []struct {
			data     []byte
			encoding string
			workers  int
		}{{[]byte(text.String()), "", 1}, {latin, "latin1", 3}, {wide, "", 2}, {wide[2:], "utf-16le", 1}} {
			src := filepath.Join(t.TempDir(), "t.csv")
			put(t, filepath.Dir(src), "t.csv", c.data)
			o := CSVOptions{Encoding: c.encoding, Shuffle: shuffle, Options: Options{Name: "t", Shards: 3, Workers: c.workers}}
			out := t.TempDir()
			mustCSV(t, []string{src}, out, o)
			got := map[string]string{}
			for name, data := range contents(t, out) {
				if strings.Contains(name, ".tfrecord-") {
					got[name] = data
				}
			}
			if want == nil {
				want = got
			}
			sameSet(t, got, want)
			if o.Encoding == "latin1" {
				o.Encoding = "windows-1252" // is another name of it
			}
			if s := mustCSV(t, []string{src}, out, o); s.Status != UpToDate {
				t.Errorf("%q again: %s", c.encoding, s.Status)
			}
		}
	}
	src := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(src), "t.csv", latin)
	if _, err := CSV(t.Context(), []string{src}, t.TempDir(), CSVOptions{Encoding: "klingon"}); err == nil || !strings.Contains(err.Error(), `CSVOptions.Encoding: unknown encoding "klingon"`) {
		t.Error(err)
	}
}

// A table of images may be UTF-16, as Excel saves "Unicode text".
func TestTableOfImagesInUTF16(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	put(t, src, "é.png", pngOf(1))
	put(t, src, "b.png", pngOf(2))
	wide := binary.LittleEndian.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune("path\tlabel\r\né.png\tgrün\r\nb.png\tblau\r\n")) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	table := filepath.Join(t.TempDir(), "labels.txt")
	put(t, filepath.Dir(table), "labels.txt", wide)
	if s := mustImages(t, src, t.TempDir(), ImageOptions{Labels: LabelSpec{File: table}}); s.Records != 2 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
}
