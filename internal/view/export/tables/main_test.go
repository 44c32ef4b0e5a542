package tables

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
)

func TestMain(m *testing.M) { memtemp.Main(m) }
