package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkRow compares a parser, whose members are those of other rows too, with the model.
func checkRow(t *testing.T, p *parser, line []byte) {
	t.Helper()
	r := p.sink.(*recorder)
	r.row = map[string]*value{}
	reason := p.parse(line)
	want, unclear, err := modelRow(line)
	switch {
	case unclear:
	case (reason == "") != (err == nil):
		t.Fatalf("%q: %q, the model: %v", line, reason, err)
	case err == nil && !cmp.Equal(r.row, want, cmp.AllowUnexported(value{})):
		t.Fatalf("%q: %s", line, cmp.Diff(want, r.row, cmp.AllowUnexported(value{})))
	case len(reason) > 1000:
		t.Fatalf("%q: a reason of %d bytes", line, len(reason))
	}
}

func FuzzRow(f *testing.F) {
	for _, line := range rowsOfAllKinds {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p := newParser(&recorder{}, nil)
		checkRow(t, p, line)
		checkRow(t, p, line) // with what it remembers
	})
}

// rowsOfAllKinds are good and bad rows.
var rowsOfAllKinds = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":-0,"b":0.5,"c":1e5,"d":-1.25E-7,"e":12345678901234567890}`, `{"a":"x","b":true,"c":false,"d":null}`,
	`{"a":[],"b":[1,2],"c":["x",""],"d":[true,1.5]}`, `{"a":{"b":{"c":1}},"a/d":2}`, `{"a/b":1,"a":{"b":2}}`, `{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":2}}`,
	`{"a":[[1]]}`, `{"a":[{"b":1}]}`, `{"a":[null]}`, `{"":1}`, `{"a":{"":1}}`, `{"a":"é\u00e9\ud83d\ude00 \n\/\\\""}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\ud800\u0041"}`,
	"{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\x01\"}", "{\"a\":\"\x7f\"}", `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":tru}`, `{"a":nul}`,
	`{"a":1,}`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":1`, `{"a":"x`, `{"a":"x\`, `{"a":"\u12`, `{"a":[1,]}`, `{"a":[1`, `{"a":1} x`, `{"a":1}{"a":2}`, `[1]`, `1`, `"x"`, `null`, `nonsense`, ``, ` `,
	`{"a.base64":"AP8="}`, `{"a.base64":"AP8"}`, `{"a.base64":1}`, `{"a.base64":["","AA=="]}`, `{"a.base64":null}`, `{"a":1,"a.base64":""}`, `{".base64":1}`, `{"a.base64":{"b":1}}`, `{"a":"x.y","b":"a long text without escapes, of more than a few words"}`,
	strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
	`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
}

func TestRowsAgainstTheModel(t *testing.T) {
	p := newParser(&recorder{}, nil)
	for range 2 {
		for _, line := range rowsOfAllKinds {
			checkRow(t, p, []byte(line))
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		line := randomRow(rng)
		if rng.IntN(3) == 0 { // break it
			at := rng.IntN(len(line))
			const breakers = "\"\\{}[],:01.eE-+ntf\x00\xff x"
			line[at] = breakers[rng.IntN(len(breakers))]
		}
		checkRow(t, p, line)
	}
}

// randomRow returns a row of a few names that recur.
func randomRow(rng *rand.Rand) []byte {
	var object func(depth int) string
	scalar := func() string {
		switch rng.IntN(7) {
		case 0:
			return fmt.Sprint(rng.Int64() >> rng.IntN(64))
		case 1:
			return fmt.Sprint(rng.NormFloat64())
		case 2:
			return fmt.Sprintf("%e", rng.NormFloat64())
		case 3:
			return []string{"true", "false", "null"}[rng.IntN(3)]
		}
		text := strings.Repeat([]string{"x", "é", "\n", "🦊", `"`, "\\", "plain "}[rng.IntN(7)], rng.IntN(12)) + strings.Repeat("y", rng.IntN(20))
		quoted, _ := json.Marshal(text)
		return string(quoted)
	}
	space := func() string { return []string{"", "", "", " ", "\t "}[rng.IntN(5)] }
	object = func(depth int) string {
		var b bytes.Buffer
		b.WriteString("{" + space())
		for i := range rng.IntN(6) {
			if i > 0 {
				b.WriteString("," + space())
			}
			fmt.Fprintf(&b, "%q%s:%s", []string{"a", "b", "cc", "d/e", "d", "x.base64", "x"}[rng.IntN(7)], space(), space())
			switch n := rng.IntN(10); {
			case n == 0 && depth < 3:
				b.WriteString(object(depth + 1))
			case n == 1:
				b.WriteString("[")
				for k := range rng.IntN(4) {
					if k > 0 {
						b.WriteString("," + space())
					}
					b.WriteString(scalar())
				}
				b.WriteString("]")
			default:
				b.WriteString(scalar())
			}
			b.WriteString(space())
		}
		return b.String() + "}"
	}
	return []byte(object(0))
}
