package jsontext

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a,b\n1,2\n": "", "{": "", "{a},{b}\n": "", "[1],[2]\n[3],[4]\n": "", "[a]\n[b]\n": "", "{\"a\":1},{\"a\":2}\n": "",
		"{}": "JSON", " {\"a\":\n1}\n": "JSON", "[{\"a\":1}]": "JSON",
		"{\"a\":1}\n{\"a\":2}\n": "JSON lines", "{\"a\":1}\r\n{\"a\":2}": "JSON lines", "[1]\n\n[2]": "JSON lines", "{\"a\":1}\nnonsense": "JSON lines",
	} {
		if got := Kind([]byte(text), true); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The start of any JSON text is known for what it is, wherever it is cut.
func TestKindOfAPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		v := map[string]any{"k": rng.Float64(), strings.Repeat("x", rng.IntN(20)): []any{rng.IntN(9), `q"{`, nil, map[string]any{}}}
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		one := len(line)
		text := append(append(line, '\n'), line...)
		n := 1 + rng.IntN(len(text))
		want := "JSON"
		if n > one+1 {
			want = "JSON lines"
		}
		if got := Kind(text[:n], false); got != want {
			t.Errorf("%q: %q, want %q", text[:n], got, want)
		}
	}
}
