package convert

import (
	"testing"

	"github.com/tfrec/tfrec/internal/memtemp"
)

func TestMain(m *testing.M) { memtemp.Main(m) }
