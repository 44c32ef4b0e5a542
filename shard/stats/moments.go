package stats

import "math"

// moments are the mean and the variance of numbers, updated by Welford's method (Note on a Method
// for Calculating Corrected Sums of Squares and Products, 1962) and combined by the method of Chan,
// Golub and LeVeque (Updating Formulae and a Pairwise Algorithm for Computing Sample Variances,
// 1979). No product is fused into a sum, so that every machine gets the same result.
type moments struct {
	n        int64
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (x - m.mean))
}

func (m *moments) merge(o moments) {
	if o.n == 0 {
		return
	}
	if m.n == 0 {
		*m = o
		return
	}
	n, on := float64(m.n), float64(o.n)
	d := o.mean - m.mean
	m.n += o.n
	m.mean += float64(d * (on / (n + on)))
	m.m2 += o.m2 + float64(float64(d*d)*(n*(on/(n+on))))
}

// std returns the population standard deviation (NumPy's default, ddof=0).
func (m *moments) std() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / float64(m.n))
}
