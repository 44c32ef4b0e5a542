package cli

import (
	"log/slog"
	"strings"
	"testing"
)

func TestCostNote(t *testing.T) {
	var notes []string
	log := slog.New(CostNote{func(s string) { notes = append(notes, s) }})
	tell := func(set, read int64) {
		log.Warn("global order exceeds memory", slog.String("order", "shuffle_all(seed=0)"), slog.Int64("set_bytes", set),
			slog.Int64("read_bytes", read), slog.Int64("requests", 7000), slog.Int64("memory", 1<<30), slog.Int64("memory_needed", 16<<30))
	}
	log.Warn("skipped damage", slog.Int64("record", 5))
	tell(10<<30, 11<<30)
	if len(notes) != 0 {
		t.Errorf("notes of what costs little: %q", notes)
	}
	tell(10<<30, 45<<30)
	if len(notes) != 1 || !strings.Contains(notes[0], "about 45.0 GiB from the store, 4.5 times the set, in 7000 requests") {
		t.Errorf("%q", notes)
	}
}
