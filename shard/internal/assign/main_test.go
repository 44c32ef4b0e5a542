package assign

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
)

func TestMain(m *testing.M) { settest.Main(m) }
