package operation

import (
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestRandomIsKnown holds numbers of the generator: they are what seeds mean.
func TestRandomIsKnown(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		key  string
		copy int
		want [3]uint64
	}{
		{0, "", 0, [3]uint64{0x394c9caa8904728f, 0x5e9ce56831cdf685, 0xbaca69b897be59a2}},
		{1, "daisy/1.jpg", 1, [3]uint64{0xf4e3394ca16556db, 0x8fede8540e31c8b7, 0xce04233b8b49a322}},
		{1<<64 - 1, "ß#?", 9999, [3]uint64{0x23ecb279fab39b07, 0xfc5dd9ab53ae3e7d, 0x75333d33c165eec7}},
	} {
		r := RandomFor(c.seed, c.key, c.copy)
		var got [3]uint64
		for i := range got {
			got[i] = r.pcg.Uint64()
		}
		if got != c.want {
			t.Errorf("seed %d, key %q, copy %d: %#x, want %#x", c.seed, c.key, c.copy, got, c.want)
		}
	}
}

// TestRandomSeedsDiffer: different seeds must give different numbers.
func TestRandomSeedsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, c := range []struct {
		seed uint64
		key  string
		copy int
	}{{0, "a", 0}, {1, "a", 0}, {0, "b", 0}, {0, "a", 1}, {0, "a\x00", 0}, {1 << 32, "a", 0}, {0, "aa", 0}, {0, "", 0}} {
		r := RandomFor(c.seed, c.key, c.copy)
		first := r.pcg.Uint64()
		if other, ok := seen[first]; ok {
			t.Errorf("%v begins like %s", c, other)
		}
		seen[first] = c.key
	}
}

func TestRandomDistributions(t *testing.T) {
	r := RandomFor(5, "distribution", 0)
	const n = 40000
	var sum, squares, logs float64
	counts := make([]int, 7)
	heads := 0
	for range n {
		u := r.between(-2, 4)
		if u < -2 || u >= 4 {
			t.Fatalf("%v is not between -2 and 4", u)
		}
		sum += u
		squares += u * u
		l := r.betweenLogs(0.75, 4.0/3)
		if l < 0.75 || l > 4.0/3 {
			t.Fatalf("%v is not between 3/4 and 4/3", l)
		}
		logs += math.Log(l)
		counts[r.integer(3, 9)-3]++
		if r.Chance(0.3) {
			heads++
		}
	}
	// Four standard deviations each.
	imagetest.Within(t, "mean", sum/n, 1, 4*math.Sqrt(3.0/n))
	imagetest.Within(t, "mean square", squares/n, 4, 4*math.Sqrt(20.0/n))
	imagetest.Within(t, "mean logarithm", logs/n, 0, 4*math.Log(4.0/3)/math.Sqrt(3*n))
	imagetest.Within(t, "share of chance(0.3)", float64(heads)/n, 0.3, 4*math.Sqrt(0.21/n))
	for _, c := range counts {
		imagetest.Within(t, "share of an integer", float64(c)/n, 1.0/7, 4*math.Sqrt(6.0/49/n))
	}
	if got := r.between(2, 2); got != 2 {
		t.Errorf("between 2 and 2 is %v", got)
	}
	if r.Chance(0) || !r.Chance(1) {
		t.Error("chance of 0 happened, or that of 1 did not")
	}
}
