package bad

import (
	"runtime"
	"testing"
)

func TestBad(t *testing.T) {
	t.Run("four", func(t *testing.T) {
		if runtime.GOMAXPROCS(0) == 4 {
			t.Error("four processors")
		}
	})
	t.Run("any", func(t *testing.T) {})
}

func TestNever(t *testing.T) { t.Error("never") }

func TestGood(t *testing.T) {}
