package export

import (
	"context"
	"fmt"
)

// exportTable writes the formats that hold any features.
func exportTable(_ context.Context, _ *inputs, _ string, o *Options, _ *Report) error {
	return fmt.Errorf("--format %s is not supported by this build: want folders", o.Format)
}
