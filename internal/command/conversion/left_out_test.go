package conversion

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/account"
)

// TestLeftOutLines describes accounts of random reasons: there are eight lines at most with those
// of the notes, those that lose something come first, and the last counts the reasons that have no
// line.
func TestLeftOutLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 3))
	for range 500 {
		var entries []convert.LeftOut
		noted, losing := 0, 0
		for _, r := range account.Reasons() {
			if rng.IntN(4) == 0 || r.Noted() && rng.IntN(3) > 0 {
				continue
			}
			e := convert.LeftOut{Reason: string(r), Count: 1, Names: []string{string(r)}}
			entries = append(entries, e)
			switch {
			case e.Noted():
				noted++
			case e.Loses():
				losing++
			}
		}
		lines := leftOutLines(entries)
		unsaid := len(entries) - noted
		shown := len(lines)
		if unsaid > shown {
			shown--
			if want := fmt.Sprint(unsaid-shown, " more reasons"); !strings.HasPrefix(lines[shown], want) {
				t.Errorf("%q, want %q", lines[shown], want)
			}
		}
		if len(lines)+noted > 8 && len(lines) > 1 || unsaid > 0 && len(lines) == 0 || unsaid <= 8-noted && shown != unsaid {
			t.Errorf("%d lines for %d entries, %d of them noted", len(lines), len(entries), noted)
		}
		for i, line := range lines[:shown] {
			name := line[strings.LastIndex(line, ": ")+2:]
			if account.Reason(name).Noted() || account.Reason(name).Loses() != (i < losing) {
				t.Errorf("line %d of %d that lose something: %s", i, losing, line)
			}
		}
	}
}
