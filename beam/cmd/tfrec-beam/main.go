// Command tfrec-beam is tfrec with object storage whose convert runs on Apache Beam.
package main

import (
	"os"

	"github.com/tfrec/tfrec/beam"
)

func main() { os.Exit(beam.Main()) }
