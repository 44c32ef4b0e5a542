package shard

import (
	"os"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/claim"
	"github.com/tfrec/tfrec/internal/memtemp"
)

func TestMain(m *testing.M) {
	memtemp.Use()
	claim.Renew, claim.Expire = 150*time.Millisecond, 600*time.Millisecond
	os.Exit(m.Run())
}
