package storagetest_test

import (
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

func TestConformance(t *testing.T) {
	storagetest.Conformance(t, storagetest.New(), storagetest.Traits{Names: storagetest.OddNames, Part: 1 << 20})
}
