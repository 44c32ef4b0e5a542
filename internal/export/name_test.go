package export

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafeName(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"ok.jpg", "ok.jpg"},
		{"Gänse, 100% weiß #3 (neu).jpg", "Gänse, 100% weiß #3 (neu).jpg"},
		{".hidden", ".hidden"},
		{"", "%_"},
		{"%_", "%25_"},
		{"%", "%"},
		{"%2e", "%252e"},
		{"50%.jpg", "50%.jpg"},
		{".", "%2E"},
		{"..", "%2E%2E"},
		{"...", "%2E%2E%2E"},
		{"../up", "..%2Fup"},
		{`..\evil.jpg`, "..%5Cevil.jpg"},
		{"C:evil", "C%3Aevil"},
		{"nul\x00l.jpg", "nul%00l.jpg"},
		{"nul", "%6Eul"},
		{"NUL.jpg", "%4EUL.jpg"},
		{"con .txt", "%63on .txt"},
		{"com1.tar.gz", "%63om1.tar.gz"},
		{"COM\u00b9", "%43OM\u00b9"},
		{"lpt0", "%6Cpt0"},
		{"com10", "com10"},
		{"conin$", "%63onin$"},
		{"console", "console"},
		{"a.", "a%2E"},
		{"a ", "a%20"},
		{"a. ", "a.%20"},
		{"line\nbreak\x7f", "line%0Abreak%7F"},
		{"\xff\xfe", "%FF%FE"},
		{"gpj.\u202eexe", "gpj.%E2%80%AEexe"},
		{"a\u2028b\u0085c", "a%E2%80%A8b%C2%85c"},
	} {
		if got := SafeName(c.name); got != c.want {
			t.Errorf("SafeName(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	long := strings.Repeat("x", 300)
	if a, b := SafeName(long+"a.jpg"), SafeName(long+"b.jpg"); a == b || !strings.HasSuffix(a, ".jpg") || len(a) != maxName {
		t.Errorf("long names became %q and %q", a, b)
	}
	if got := SafeName(strings.Repeat("ä", 150)); !utf8.ValidString(got) || len(got) > maxName {
		t.Errorf("a long name was cut to %q", got)
	}
}

// FuzzSafeName holds two names at a time to what is promised of all.
func FuzzSafeName(f *testing.F) {
	for _, s := range []string{"", ".", "..", "a/b", "/tmp/x", `..\x`, "nul", "COM1.txt", "a.", "a ", "%41", "A", "\xff", "%FF", "\u202e", strings.Repeat("a.", 200)} {
		f.Add(s, "..")
		f.Add(s, SafeName(s))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		safe := SafeName(a)
		switch {
		case safe == "" || len(safe) > maxName || !utf8.ValidString(safe):
			t.Fatalf("SafeName(%q) = %q: %d bytes", a, safe, len(safe))
		case strings.ContainsAny(safe, "/\\\x00:*?\"<>|\n") || !filepath.IsLocal(safe) || filepath.Base(safe) != safe:
			t.Fatalf("SafeName(%q) = %q: no name of one file", a, safe)
		case isDevice(safe) || strings.Trim(safe, ".") == "" || strings.HasSuffix(safe, ".") || strings.HasSuffix(safe, " "):
			t.Fatalf("SafeName(%q) = %q: Windows refuses or changes it", a, safe)
		case SafeName(a) != safe:
			t.Fatalf("SafeName(%q) is not always the same", a)
		case a != b && safe == SafeName(b):
			t.Fatalf("%q and %q both become %q", a, b, safe)
		}
	})
}
