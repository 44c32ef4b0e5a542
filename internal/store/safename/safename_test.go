package safename

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/imagetree"
)

func TestOf(t *testing.T) {
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
		if got := Of(c.name); got != c.want {
			t.Errorf("Of(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	long := strings.Repeat("x", 300)
	if a, b := Of(long+"a.jpg"), Of(long+"b.jpg"); a == b || !strings.HasSuffix(a, ".jpg") || len(a) != maxName {
		t.Errorf("long names became %q and %q", a, b)
	}
	if got := Of(strings.Repeat("ä", 150)); !utf8.ValidString(got) || len(got) > maxName {
		t.Errorf("a long name was cut to %q", got)
	}
}

func TestOriginal(t *testing.T) {
	for name, directory := range map[string]string{
		"": "%_", ".NET": "%2ENET", "AC/DC": "AC%2FDC", "__MACOSX": "%5F_MACOSX", "photo.jpg": "photo%2Ejpg", "..a": "%2E.a", "50%25": "50%2525", "nul": "%6Eul", "\xff": "%FF",
	} {
		if got := OfDirectory(name); got != directory {
			t.Errorf("OfDirectory(%q) = %q, want %q", name, got, directory)
		}
		if got, ok := Original(directory); got != name || !ok {
			t.Errorf("Original(%q) = %q, %v, want %q", directory, got, ok, name)
		}
	}
	for _, name := range []string{"daisy", "caf%C3%A9", "100%", "a%2", "%2e", ".git", "%2E", "a%2Ejpg.x"} {
		if got, ok := Original(name); ok && name != "%2E" {
			t.Errorf("%q was made of %q", name, got)
		}
	}
}

// FuzzOf holds two names at a time to what is promised of all.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"", ".", "..", "a/b", "/tmp/x", `..\x`, "nul", "COM1.txt", "a.", "a ", "%41", "A", "\xff", "%FF", "\u202e", strings.Repeat("a.", 200)} {
		f.Add(s, "..")
		f.Add(s, Of(s))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		safe := Of(a)
		switch {
		case safe == "" || len(safe) > maxName || !utf8.ValidString(safe):
			t.Fatalf("Of(%q) = %q: %d bytes", a, safe, len(safe))
		case strings.ContainsAny(safe, "/\\\x00:*?\"<>|\n") || !filepath.IsLocal(safe) || filepath.Base(safe) != safe:
			t.Fatalf("Of(%q) = %q: no name of one file", a, safe)
		case isDevice(safe) || strings.Trim(safe, ".") == "" || strings.HasSuffix(safe, ".") || strings.HasSuffix(safe, " "):
			t.Fatalf("Of(%q) = %q: Windows refuses or changes it", a, safe)
		case Of(a) != safe:
			t.Fatalf("Of(%q) is not always the same", a)
		case a != b && safe == Of(b):
			t.Fatalf("%q and %q both become %q", a, b, safe)
		}
		directory := OfDirectory(a)
		if imagetree.Hidden(directory) || imagetree.Hidden(OfFile(a)) || a != b && directory == OfDirectory(b) {
			t.Fatalf("OfDirectory(%q) = %q, OfDirectory(%q) = %q", a, directory, b, OfDirectory(b))
		}
		if original, ok := Original(directory); ok && original != a || !ok && directory != a && !looksCut(strings.SplitN(directory, ".", 2)[0]) && len(a) < 60 {
			t.Fatalf("Original(%q) = %q, %v, want %q", directory, original, ok, a)
		}
	})
}
