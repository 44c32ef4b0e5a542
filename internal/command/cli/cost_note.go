package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/size"
)

// CostNote is a handler of a reader's events that notes when a global order will read a set in an
// object store several times.
type CostNote struct{ Note func(sentence string) }

func (h CostNote) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (h CostNote) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "global order exceeds memory" {
		return nil
	}
	numbers := map[string]int64{}
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindInt64 {
			numbers[a.Key] = a.Value.Int64()
		}
		return true
	})
	read, set := numbers["read_bytes"], numbers["set_bytes"]
	if read < 2*set {
		return nil
	}
	h.Note(fmt.Sprintf("the set (%s) does not fit in memory (%s): all of it in global order takes about %s from the store, %.1f times the set, in %s; reshard --shuffle makes one to read in sequence",
		size.Format(set), size.Format(numbers["memory"]), size.Format(read), float64(read)/float64(set), plural.Of(numbers["requests"], "request")))
	return nil
}

func (h CostNote) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h CostNote) WithGroup(string) slog.Handler      { return h }
