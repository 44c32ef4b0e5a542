package plural

import "testing"

func TestQuoted(t *testing.T) {
	for want, got := range map[string]string{
		"":                    Quoted(nil, 2),
		`"a"`:                 Quoted([]string{"a"}, 2),
		`"a", "b\n"`:          Quoted([]string{"a", "b\n"}, 2),
		`"a", "b" and 2 more`: Quoted([]string{"a", "b", "c", "d"}, 2),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for want, got := range map[string]string{
		"0 records":             Of(0, "record"),
		"1 record":              Of(int64(1), "record"),
		"2 records":             Of(uint64(2), "record"),
		"-1 records":            Of(-1, "record"),
		"12 more files":         Of(12, "more file"),
		"1 stretch of damage":   Of(1, "stretch of damage"),
		"3 stretches of damage": Of(3, "stretch of damage"),
		"2 entries":             Of(2, "entry"),
		"2 arrays":              Of(2, "array"),
		"2 passes":              Of(2, "pass"),
		"2 indexes":             Of(2, "index"),
		"2 batches":             Of(2, "batch"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
