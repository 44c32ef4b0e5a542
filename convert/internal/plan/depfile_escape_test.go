package plan

import "testing"

func TestEscapeDepfile(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.png":        "a/b.png",
		"a/two words":    `a/two\ words`,
		`a/back\ slash`:  `a/back\\\ slash`,
		`a/back\slash`:   `a/back\slash`,
		`a/back\:`:       `a/back\\\:`,
		`a/back\`:        `a/back\\`,
		"a/price $1 #2":  `a/price\ $$1\ \#2`,
		"a/10:30":        `a/10\:30`,
		"a/tab\there":    "a/tab\\\there",
		"a/per%cent":     "a/per%cent",
		"a/*?":           `a/\*\?`,
		"export":         "./export",
		"~root/a":        "./~root/a",
		"=/a":            "./=/a",
		"a/line\nbreak":  "",
		"a/null\x00byte": "",
		"a/b;rm c":       "",
		"a/b|c":          "",
		"a/blank ":       "",
	} {
		got, ok := EscapeDepfile(path)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", path, got, ok, want)
		}
	}
}
