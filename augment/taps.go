package augment

import "math"

// precision is the number of fraction bits in a weight: 32 minus eight for a pixel and two for the
// sign and the overshoot of negative lobes, as in Pillow's src/libImaging/Resample.c.
const precision = 22

// half rounds a sum of weighed pixels to the nearest.
const half = 1 << (precision - 1)

// axis holds the weights that resize one axis of an image: out[i] = Σ weights[i*width+j] *
// in[first[i]+j] / 1<<precision, for j in 0..count[i]-1. It never changes after it is built, so
// that any number of goroutines may share it.
type axis struct {
	in      int  // pixels of the source
	width   int  // weights kept for each pixel of the result
	most    int  // the largest count
	sparse  bool // pixels of the source are left out in between
	first   []int32
	count   []int32
	weights []int32
	packed  packed // the weights once more, as assembly wants them
}

// axisKey determines the weights of an axis: in pixels are resized to out pixels, of which lo to
// hi-1 are computed.
type axisKey struct {
	in, out, lo, hi int
	filter          Filter
	antialias       bool
	// channels is the number of channels of the image whose rows are resized, or 0 if whole rows
	// are weighed.
	channels int
	// grid is the zero value where the samples on both sides are the pixels of
	// whole images.
	grid grid
}

// grid maps the samples of two planes to the pixels of an image if they differ: samples of chroma,
// or of a plane decoded at a part of its size.
type grid struct {
	// The source is size pixels long: per of the image's pixels make a
	// sample, of which the last may have fewer. So may the first, which
	// begins as many pixels before the source as skip.
	size, per, skip int
	// step of the out pixels make a sample of the result, their mean. The
	// first of these have no part in the window: as many as lead.
	step, lead int
}

// placed is the grid of the key, written out.
func (k axisKey) placed() grid {
	if k.grid == (grid{}) {
		return grid{size: k.in, per: 1, step: 1}
	}
	return k.grid
}

// reduced sets the grid of a source in which each sample represents per of the image's size pixels.
func (k *axisKey) reduced(size, per int) {
	if size != k.in*per {
		k.grid = grid{size: size, per: per, step: 1}
	}
}

// samples returns the number of samples in the result.
func (k axisKey) samples() int {
	g := k.placed()
	return (g.lead + k.hi - k.lo + g.step - 1) / g.step
}

// pixels returns the range of the out pixels, within lo to hi-1, whose mean is sample i.
func (k axisKey) pixels(i int) (lo, hi int) {
	g := k.placed()
	lo = k.lo - g.lead + i*g.step
	return max(lo, k.lo), min(lo+g.step, k.hi)
}

// identity reports whether the axis copies each pixel.
func (k axisKey) identity() bool { return k.in == k.out && k.grid == (grid{}) }

// makeAxis computes the weights for every filter but Nearest.
func makeAxis(k axisKey) *axis {
	n := k.samples()
	a := &axis{in: k.in, first: make([]int32, n), count: make([]int32, n)}
	if k.filter == Area {
		a.fillArea(k)
	} else {
		a.fillKernel(k)
	}
	a.order()
	for i, c := range a.count {
		a.most = max(a.most, int(c))
		a.sparse = a.sparse || i > 0 && a.first[i] > a.first[i-1]+a.count[i-1]
	}
	a.packed.fill(a, k.channels)
	return a
}

// fillKernel follows Pillow's Resample.c: it stretches the kernel by the reduction (antialias),
// cuts it at the image's edge, scales its weights to a sum of 1 in float64 and only then rounds
// them to integers, halves away from zero. With antialias off it does not stretch the kernel, as in
// tf.image.resize.
func (a *axis) fillKernel(k axisKey) {
	weigh, reach := k.filter.kernel()
	g := k.placed()
	scale := float64(g.size) / float64(float64(k.out)*float64(g.per))
	skip := float64(g.skip) / float64(g.per)
	stretch := 1.0
	if k.antialias {
		stretch = max(scale, 1)
	}
	reach = float64(reach * stretch)
	shrink := 1 / stretch
	each := int(math.Ceil(reach))*2 + 1 // of a pixel
	a.width = min(each+int(math.Ceil(float64(scale*float64(g.step-1)))), k.in)
	a.weights = make([]int32, a.width*len(a.first))
	exact, sums := make([]float64, min(each, k.in)), make([]float64, a.width)
	for i := range a.first {
		lo, hi := k.pixels(i)
		clear(sums)
		begin, end := 0, 0
		for p := lo; p < hi; p++ {
			center := float64((float64(p)+0.5)*scale) + skip
			if k.filter == Bicubic && !k.antialias {
				center = snap(center)
			}
			first := min(max(0, int(center-reach+0.5)), k.in-1)
			after := min(k.in, int(center+reach+0.5))
			exact := exact[:max(1, min(after-first, len(exact)))]
			weighAround(exact, center-float64(first), shrink, weigh)
			if p == lo {
				begin = first
			}
			for j, w := range exact {
				sums[first-begin+j] += w
			}
			end = max(end, first+len(exact))
		}
		weights := a.weights[i*a.width:]
		for j, w := range sums[:end-begin] {
			w /= float64(hi - lo)
			weights[j] = int32(math.Round(float64(w * (1 << precision))))
		}
		a.trim(i, begin, end-begin)
	}
}

// weighAround computes the weights, which sum to 1, of pixels around a center, given from the
// beginning of the first of them.
func weighAround(weights []float64, center, shrink float64, weigh func(float64) float64) {
	sum := 0.0
	for j := range weights {
		weights[j] = weigh(float64((float64(j) - center + 0.5) * shrink))
		sum += weights[j]
	}
	if sum == 0 {
		return
	}
	for j := range weights {
		weights[j] /= sum
	}
}

// snap moves a place to the grid of 1024ths of a pixel from which TensorFlow's
// bicubic kernel takes its weights.
func snap(center float64) float64 {
	const grid = 1024
	return float64(math.RoundToEven(float64((center-0.5)*grid))/grid) + 0.5
}

// fillArea weighs each source pixel by the share of the rectangle that it covers, in whole numbers:
// in units of 1/out of a pixel, pixel i of the result covers i*in to (i+1)*in, with a grid
// accordingly. It rounds the running sum, so that any number of weights sums to exactly 1.
func (a *axis) fillArea(k axisKey) {
	g := k.placed()
	size, unit, skip := int64(g.size), int64(k.out)*int64(g.per), int64(k.out)*int64(g.skip)
	a.width = int(min((size*int64(g.step)+unit-1)/unit+1, int64(k.in)))
	a.weights = make([]int32, a.width*len(a.first))
	for i := range a.first {
		lo, hi := k.pixels(i)
		from, end := int64(lo)*size+skip, int64(hi)*size+skip
		in := end - from
		first := from / unit
		last := (end - 1) / unit
		weights := a.weights[i*a.width:]
		before := int64(0)
		for j := first; j <= last; j++ {
			covered := min((j+1)*unit, end) - from
			sum := (covered<<(precision+1) + in) / (2 * in)
			weights[j-first] = int32(sum - before)
			before = sum
		}
		a.trim(i, int(first), int(last-first)+1)
	}
}

// trim notes that the weights of pixel i belong to n source pixels from first
// on, without the zeros at both ends.
func (a *axis) trim(i, first, n int) {
	weights := a.weights[i*a.width : i*a.width+n]
	for n > 1 && weights[n-1] == 0 {
		n--
	}
	skip := 0
	for skip < n-1 && weights[skip] == 0 {
		skip++
	}
	if skip > 0 {
		copy(weights, weights[skip:n])
		clear(weights[n-skip : n])
	}
	a.first[i], a.count[i] = int32(first+skip), int32(n-skip)
}

// order sees to it that no pixel needs source pixels before those that the pixel
// before it needs, which trim may have brought about: it takes zeros back.
func (a *axis) order() {
	for i := len(a.first) - 2; i >= 0; i-- {
		back := int(a.first[i] - a.first[i+1])
		if back <= 0 {
			continue
		}
		weights := a.weights[i*a.width:][:int(a.count[i])+back]
		copy(weights[back:], weights)
		clear(weights[:back])
		a.first[i] -= int32(back)
		a.count[i] += int32(back)
	}
}

// of returns the weights of pixel i and the first source pixel they weigh.
func (a *axis) of(i int) (first int, weights []int32) {
	from := i * a.width
	return int(a.first[i]), a.weights[from : from+int(a.count[i])]
}

// span is the range of source pixels that pixels lo to hi-1 of the result need.
func (a *axis) span(lo, hi int) (first, end int) {
	first = int(a.first[lo])
	for i := lo; i < hi; i++ {
		first = min(first, int(a.first[i]))
		end = max(end, int(a.first[i]+a.count[i]))
	}
	return first, end
}

// nearestSource returns the pixel of the source that Nearest takes for pixel i of the result. It
// uses the float32 arithmetic of TensorFlow, whose rounding decides if a position falls on an edge
// between two pixels.
func nearestSource(i, in, out int) int {
	scale := float32(in) / float32(out)
	at := float32((float32(i) + 0.5) * scale)
	return min(int(at), in-1)
}
