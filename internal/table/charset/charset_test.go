package charset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/textfile"
)

// encodedUTF16 is a text with a mark.
func encodedUTF16(text string, order binary.AppendByteOrder) []byte {
	data := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return data
}

// opened opens a file of an encoding, and its stream.
func opened(t *testing.T, data []byte, encoding string) (*textfile.File, *textfile.Stream) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Parse(encoding)
	if err != nil {
		t.Fatal(err)
	}
	f, err := textfile.OpenEncoded(t.Context(), path, c.Decoder())
	if err != nil {
		t.Fatal(err)
	}
	in, err := f.Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f, in
}

// TestEncodings reads random texts of other encodings, compressed or not, as a stream and by ranges in
// any order.
func TestEncodings(t *testing.T) {
	rng := torture.Rand(t)
	alphabet := []rune("abc,\n\"0123é€ßüŸ日本語😀")
	for range torture.Seeds(8, 100) {
		text, latin := make([]rune, rng.IntN(40_000)), []byte(nil)
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
			latin = append(latin, byte(0x20+rng.IntN(0x5f))|byte(rng.IntN(2))<<7) // 0xa0 and above are as in Latin-1
		}
		want := string(text)
		decoded := make([]rune, len(latin))
		for i, c := range latin {
			decoded[i] = rune(c)
		}
		latin = bytes.ReplaceAll(latin, []byte("\x1f\x8b"), nil)
		for name, c := range map[string]struct {
			data     []byte
			encoding string
			want     string
		}{
			"UTF-8": {[]byte(want), "", want}, "UTF-8 by name": {[]byte(want), "utf8", want},
			"UTF-16LE": {encodedUTF16(want, binary.LittleEndian), "", want}, "UTF-16BE": {encodedUTF16(want, binary.BigEndian), "", want},
			"UTF-16BE without a mark": {encodedUTF16(want, binary.BigEndian)[2:], "utf-16be", want},
			"Latin-1":                 {latin, "latin1", string(decoded)},
		} {
			if name == "Latin-1" && strings.ContainsFunc(c.want, func(r rune) bool { return r >= 0x80 && r < 0xa0 }) {
				c.want = "" // Windows-1252 has other characters there
			}
			for _, packed := range []bool{false, true} {
				data := c.data
				if packed {
					var b bytes.Buffer
					z := gzip.NewWriter(&b)
					z.Write(data)
					z.Close()
					data = b.Bytes()
				}
				f, in := opened(t, data, c.encoding)
				got, err := io.ReadAll(in)
				in.Close()
				if err != nil || c.want != "" && string(got) != c.want {
					t.Fatalf("%s, packed %v: %d bytes, want %d; %v", name, packed, len(got), len(c.want), err)
				}
				for range 20 {
					from := rng.IntN(len(got) + 1)
					buf := make([]byte, rng.IntN(len(got)-from+1))
					if err := f.ReadRange(t.Context(), buf, int64(from)); err != nil || !bytes.Equal(buf, got[from:from+len(buf)]) {
						t.Fatalf("%s, packed %v: range %d+%d: %v", name, packed, from, len(buf), err)
					}
				}
				if err := f.ReadRange(t.Context(), make([]byte, 2), int64(len(got))-1); !errors.Is(err, textfile.ErrShort) {
					t.Errorf("%s, packed %v: beyond the end: %v", name, packed, err)
				}
				if f.InOrder() != (packed || c.encoding != "" && c.encoding != "utf8" || strings.HasPrefix(name, "UTF-16")) {
					t.Errorf("%s, packed %v: in order %v", name, packed, f.InOrder())
				}
				f.Close()
			}
		}
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]string{"": "", "utf8": "", "UTF-8": "", "latin1": "windows-1252", "cp1252": "windows-1252", "Shift_JIS": "shift_jis", "gb2312": "gbk", "utf-16": "utf-16le"} {
		if e, err := Parse(name); err != nil || e.String() != want {
			t.Errorf("%q: %q, %v; want %q", name, e, err, want)
		}
	}
	if e, err := Parse("klingon"); err == nil {
		t.Errorf("klingon is %q", e)
	}
}

// Bytes that are no character of an encoding end a stream with an error.
func TestCharacters(t *testing.T) {
	for name, text := range map[string]string{"shift_jis": "a,b\n\x82", "gbk": "a\x80\xff\n", "euc-jp": "\xa4"} {
		_, in := opened(t, []byte(text), name)
		if got, err := io.ReadAll(in); !errors.Is(err, ErrCharacter) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		in.Close()
	}
}
