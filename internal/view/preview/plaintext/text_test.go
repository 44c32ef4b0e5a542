package plaintext

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/size"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		give  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"daisy/1.jpg", 40, "daisy/1.jpg"},
		{"Ωδή żółć 日本", 60, "Ωδή żółć 日本"},
		{"a\x00b", 40, `a\u0000b`},
		{"a\nb\tc\rd", 40, `a\nb\tc\rd`},
		{"a\u202egpj.exe", 40, `a\u202egpj.exe`},
		{"a\u2066b\u2069\u200b\ufeff", 60, `a\u2066b\u2069\u200b\ufeff`},
		{"a\u2028b\u2029c", 40, `a\u2028b\u2029c`},
		{"\xff\xfe", 40, `\xff\xfe`},
		{"\U000e0041", 40, `\U000e0041`},
		{"abcdefghij", 9, "abcdef…"},
		{"e" + strings.Repeat("\u0301", 6), 60, "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		{"<<<<<<<<<<", 19, "<<<<…"}, // &lt; has four
		{"éééééé", 9, "ééé…"},
		{strings.Repeat("x", 1<<20), 12, "xxxxxxxxx…"},
		{strings.Repeat("é", 1<<20), 12, "éééé…"},
	} {
		got := Shown(c.give, c.limit)
		if got != c.want {
			t.Errorf("shown(%.40q, %d) is %q, want %q", c.give, c.limit, got, c.want)
		}
		if n := len(html.EscapeString(got)); n > c.limit {
			t.Errorf("shown(%.40q, %d) has %d bytes of HTML", c.give, c.limit, n)
		}
	}
}

func FuzzShown(f *testing.F) {
	for _, s := range []string{"", "a", "\x00", "\u202e", "<script>", "\xff", "日本", "é\u0301"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, len(Ellipsis)), 1<<16)
		got := Shown(s, limit)
		if n := len(html.EscapeString(got)); n > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\u2028\u202e\n") {
			t.Errorf("shown(%q, %d) is %q, of %d bytes", s, limit, got, n)
		}
	})
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("grouped(%d) is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 30: "5.0 GiB"} {
		if got := size.Format(n); got != want {
			t.Errorf("size(%d) is %s, want %s", n, got, want)
		}
	}
	for s, want := range map[string]string{"2007": "2007", "20070": "20,070", "0.25": "0.25", "1e+30": "1e+30", "-9223372036854775808": "-9.223e+18"} {
		if got := Decimal(s); got != want {
			t.Errorf("decimal(%s) is %s, want %s", s, got, want)
		}
	}
}
