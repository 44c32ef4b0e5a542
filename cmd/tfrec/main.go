// Command tfrec turns raw data into sharded TFRecords, looks into them, checks
// them, and reads them. `tfrec --help` lists its verbs; docs/cli has the same
// to read, and package internal/command the code.
package main

import (
	"os"

	"github.com/tfrec/tfrec/internal/command"
)

func main() { os.Exit(command.Main()) }
