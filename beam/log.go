package beam

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// logs is --beam_log.
var logs logLevel

// logLevel is the lowest level of slog to log, "off" or "".
type logLevel string

var levels = map[logLevel]slog.Level{
	"": slog.LevelError + 1, "off": slog.LevelError + 1,
	"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug,
}

func (l *logLevel) String() string { return string(*l) }
func (l *logLevel) Type() string   { return "level" }

func (l *logLevel) Set(s string) error {
	if _, ok := levels[logLevel(s)]; !ok {
		return fmt.Errorf("want off, error, warn, info or debug")
	}
	*l = logLevel(s)
	return nil
}

// quieten sets the log level of the SDK, and of prism within this process, to --beam_log: the
// command itself reports the outcome of a run.
func quieten() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: levels[logs]})))
	log.SetLogger(&log.Structural{})
	// Workers in this process would send their logs to the runner, to have them logged here, and
	// complain when it has ended.
	hooks.DisableHook(harness.DefaultRemoteLoggingHook)
}
