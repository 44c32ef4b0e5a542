package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of sizes that Parse takes; the longest names first, since some end with others.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// Parse reads a size in bytes such as 64MiB, 1.5GB or 4096.
func Parse(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v*unit >= math.MaxInt64 {
		return 0, fmt.Errorf("size %q: want a number with a unit, such as 64MiB or 1GB", s)
	}
	return int64(v * unit), nil
}
