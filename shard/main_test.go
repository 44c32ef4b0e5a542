package shard

import (
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/memtemp"
)

func TestMain(m *testing.M) {
	memtemp.Use()
	os.Exit(m.Run())
}
