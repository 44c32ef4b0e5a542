package table

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestInteger(t *testing.T) {
	for x, want := range map[float32]string{
		0: "0", 10: "10", -1: "-1", 1<<24 - 1: "16777215", 0.5: "0.5 is not an integer",
		1 << 24: "16777216 is a float of 32 bits", -1e9: "-1000000000 is a float", 1e30: "1e+30 is not an integer",
		float32(math.Inf(-1)): "-Inf is not an integer",
	} {
		n, err := Integer(x)
		if got := fmt.Sprint(n); err == nil && got != want || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %d, %v, want %s", x, n, err, want)
		}
	}
	if _, err := Integer(float32(math.NaN())); err == nil {
		t.Error("NaN is an integer")
	}
}
