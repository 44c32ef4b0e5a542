package jsonscan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	`{}`, `[]`, ` [1, -2.5e+3 ,"a\u00e9\ud83d\ude00\n" ] `, `{"a":{"b":[true,false,null]},"ä":""}`, "[1,\r\n2]\t", `"`, `"\`, `"\u12`, `"\ud800"`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `{1:2}`,
	`01`, `-`, `1.`, `1e`, `.5`, `+1`, "\"\x01\"", "\"\xff\"", "", "[", "[1", "nul", "[}", "{]", `{"a":1]`, "\"\xf0\x9f\x98\x80\"", `1 2`,
}

// Skip takes what encoding/json takes.
func FuzzSkip(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Cursor{Data: []byte(text)}
		fault := c.Skip(len(text))
		got := fault == "" && c.Peek() == 0 && c.At == len(text)
		// Beyond the grammar, this package refuses what is not Unicode, and takes NonFinite.
		want := json.Valid([]byte(text)) && utf8.ValidString(text)
		if got != want && !strings.Contains(text, "N") && !strings.Contains(text, "I") && !(want && strings.Contains(text, `\`)) {
			t.Fatalf("%q: %q, at %d; valid %v", text, fault, c.At, want)
		}
	})
}

func TestText(t *testing.T) {
	for _, text := range []string{`""`, `"plain"`, `"eight by eight"`, `"a\"b\\c\/d\b\f\n\r\t"`, `"\u00e9\ud83d\ude00é😀"`} {
		c := Cursor{Data: []byte(text + "  ,")}
		got, fault := c.Text()
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil || fault != "" || string(got) != want || c.At != len(text) {
			t.Errorf("%s: %q, %s, want %q (%v)", text, got, fault, want, err)
		}
	}
	for _, text := range []string{`"a`, `"\x"`, `"\u12g4"`, `"\ud83d"`, `"\ud83d\n"`, `"\udc00\ud800"`, "\"\n\"", "\"\xc3\"", `"\`} {
		c := Cursor{Data: []byte(text)}
		if got, fault := c.Text(); fault == "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestSkipIsBounded(t *testing.T) {
	c := Cursor{Data: []byte(strings.Repeat("[", 1_000_000))}
	if fault := c.Skip(64); !strings.Contains(fault, "too deep") {
		t.Error(fault)
	}
	c.Reset([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64)))
	if fault := c.Skip(64); fault != "" {
		t.Error(fault)
	}
}

func TestNonFinite(t *testing.T) {
	for text, want := range map[string]float64{"Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "NaN": math.NaN()} {
		c := Cursor{Data: []byte(text)}
		if v, ok := c.NonFinite(); !ok || v != want && v == v {
			t.Errorf("%s: %v, %v", text, v, ok)
		}
	}
	c := Cursor{Data: []byte("Inf")}
	if v, ok := c.NonFinite(); ok {
		t.Error(v)
	}
}

// TestReplace compares halves of surrogate pairs with encoding/json.
func TestReplace(t *testing.T) {
	for _, text := range []string{`"\ud83d"`, `"\udc00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"a\ud83d\u0041"`} {
		c := Cursor{Data: []byte(text), Replace: true}
		got, fault := c.Text()
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil || fault != "" || string(got) != want {
			t.Errorf("%s: %q, %s, want %q (%v)", text, got, fault, want, err)
		}
	}
	for _, text := range []string{`"\ud83d`, `"\ud83d\u`, `"\ud83d\u12"`, `"\ud83d\x"`} {
		c := Cursor{Data: []byte(text), Replace: true}
		if got, fault := c.Text(); fault == "" {
			t.Errorf("%s: %q", text, got)
		}
	}
}
