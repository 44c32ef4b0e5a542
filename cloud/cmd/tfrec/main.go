// Command tfrec with object storage: the same as the other, and URLs of object
// stores wherever it takes an input.
package main

import (
	"os"

	_ "github.com/tfrec/tfrec/cloud"
	"github.com/tfrec/tfrec/internal/command"
)

func main() { os.Exit(command.Main()) }
