package beam

import (
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	_ "github.com/tfrec/tfrec/cloud" // workers read and write URLs, too
	"github.com/tfrec/tfrec/internal/command"
)

// Main runs the command with the process's arguments, and returns the exit code. As a
// worker's process it does not return.
func Main() int {
	sdk.Init()
	return command.Main()
}
