package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain.tfrecord":           "plain.tfrecord",
		`a\b "quoted"`:             `a\b "quoted"`,
		"жук ▁█ 虫":                 "жук ▁█ 虫",
		"a\x1b[31mred\a":           `a\x1b[31mred\x07`,
		"two\nlines\r\n\tindented": `two\nlines\r\n\tindented`,
		"\u009b31m\u0085":          `\u009b31m\u0085`,
		"exe.\u202egpj":            `exe.\u202egpj`,
		"\x7f\u2066\u200f\u061c":   `\u007f\u2066\u200f\u061c`,
		"\x9b31m \xff":             `\x9b31m \xff`,
		"a\x00b":                   `a\x00b`,
	} {
		if got := String(in); got != want {
			t.Errorf("String(%q) = %q, want %q", in, got, want)
		}
	}
}

// odd returns text of random characters, many of which are control characters, and
// of stray bytes if they are wanted.
func odd(rng *rand.Rand, stray bool) string {
	var b strings.Builder
	for range rng.IntN(60) {
		switch rng.IntN(8) {
		case 0:
			b.WriteByte(byte(rng.IntN(0x20)))
		case 1:
			b.WriteRune(0x7f + rune(rng.IntN(0x21)))
		case 2:
			b.WriteRune([]rune("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")[rng.IntN(12)])
		case 3:
			b.WriteRune([]rune("äж虫🐞\u200d\u2028")[rng.IntN(6)])
		case 4:
			if stray {
				b.WriteByte(0x80 + byte(rng.IntN(0x80)))
			}
		default:
			b.WriteByte(' ' + byte(rng.IntN(0x5f)))
		}
	}
	return b.String()
}

// check fails on control characters other than those that are kept.
func check(t *testing.T, got, keep string) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Fatalf("not UTF-8: %q", got)
	}
	if i := strings.IndexFunc(got, func(r rune) bool { return IsControl(r) && !strings.ContainsRune(keep, r) }); i >= 0 {
		t.Fatalf("a control character at byte %d of %q", i, got)
	}
}

// TestWriterInPieces writes random text in random pieces: the result has no control
// characters, and does not depend on the pieces.
func TestWriterInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := odd(rng, true)
		var want, got bytes.Buffer
		whole, cut := NewWriter(&want), NewWriter(&got)
		if _, err := whole.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for rest := []byte(text); len(rest) > 0; {
			n := 1 + rng.IntN(len(rest))
			if k, err := cut.Write(rest[:n]); err != nil || k != n {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		for _, w := range []*Writer{whole, cut} {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("%q in pieces is %q, and whole %q", text, &got, &want)
		}
		check(t, got.String(), "\n\t")
		check(t, String(text), "")
	}
}

// TestJSONStaysJSON writes JSON with control characters in its strings: it has the
// same value afterwards.
func TestJSONStaysJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := map[string]any{odd(rng, false): odd(rng, false), "list": []any{odd(rng, false), 1.5, nil}}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := NewWriter(&out)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, %q", &out, err, got)
		}
		check(t, out.String(), "\n\t")
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriterPassesErrorsOn(t *testing.T) {
	full := errors.New("full")
	w := NewWriter(broken{full})
	for _, text := range []string{"plain", "\x1b"} {
		if n, err := w.Write([]byte(text)); n != 0 || !errors.Is(err, full) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if _, err := w.Write([]byte("\xc3")); err != nil {
		t.Error(err) // it may begin a character
	}
	if err := w.Flush(); !errors.Is(err, full) {
		t.Errorf("flush: %v", err)
	}
}
