package augment

import "math"

// precision is how many bits of fraction a weight has: 32 less eight for a
// pixel and two for the sign and what the negative lobes overshoot, as in
// Pillow's src/libImaging/Resample.c.
const precision = 22

// half rounds a sum of weighed pixels to the nearest.
const half = 1 << (precision - 1)

// axis says how the pixels of one axis of a picture make those of the resized
// one: out[i] = Σ weights[i*width+j] * in[first[i]+j] / 1<<precision, for j in
// 0..count[i]-1. It never changes once it is made, so that any number of
// goroutines may share it.
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

// axisKey is what the weights of an axis follow from: they are those of the
// pixels lo to hi-1 of the out pixels that in pixels are resized to.
type axisKey struct {
	in, out, lo, hi int
	filter          Filter
	antialias       bool
	// channels are those of a picture along whose rows pixels are weighed,
	// or 0 where whole rows are.
	channels int
}

// identity says that the axis copies each pixel.
func (k axisKey) identity() bool { return k.in == k.out }

// makeAxis computes the weights for every filter but Nearest.
func makeAxis(k axisKey) *axis {
	n := k.hi - k.lo
	a := &axis{in: k.in, first: make([]int32, n), count: make([]int32, n)}
	if k.filter == Area {
		a.fillArea(k)
	} else {
		a.fillKernel(k)
	}
	for i, c := range a.count {
		a.most = max(a.most, int(c))
		a.sparse = a.sparse || i > 0 && a.first[i] > a.first[i-1]+a.count[i-1]
	}
	a.packed.fill(a, k.channels)
	return a
}

// fillKernel follows Pillow's Resample.c: the kernel is stretched by the
// reduction (antialias), cut at the picture's edge, its weights made to sum to
// 1 in float64 and only then rounded to integers, halves away from zero. With
// antialias off it isn't stretched, which is what tf.image.resize does.
func (a *axis) fillKernel(k axisKey) {
	weigh, reach := k.filter.kernel()
	scale := float64(k.in) / float64(k.out)
	stretch := 1.0
	if k.antialias {
		stretch = max(scale, 1)
	}
	reach = float64(reach * stretch)
	shrink := 1 / stretch
	a.width = int(math.Ceil(reach))*2 + 1
	a.width = min(a.width, k.in)
	a.weights = make([]int32, a.width*len(a.first))
	exact := make([]float64, a.width)
	for i := range a.first {
		center := float64((float64(k.lo+i) + 0.5) * scale)
		if k.filter == Bicubic && !k.antialias {
			center = snap(center)
		}
		first := max(0, int(center-reach+0.5))
		end := min(k.in, int(center+reach+0.5))
		first = min(first, k.in-1)
		exact := exact[:max(1, min(end-first, a.width))]
		sum := 0.0
		for j := range exact {
			exact[j] = weigh(float64((float64(first+j) - center + 0.5) * shrink))
			sum += exact[j]
		}
		weights := a.weights[i*a.width:]
		for j, w := range exact {
			if sum != 0 {
				w /= sum
			}
			weights[j] = int32(math.Round(float64(w * (1 << precision))))
		}
		a.trim(i, first, len(exact))
	}
}

// snap moves a place to the grid of 1024ths of a pixel from which TensorFlow's
// bicubic kernel takes its weights.
func snap(center float64) float64 {
	const grid = 1024
	return float64(math.RoundToEven(float64((center-0.5)*grid))/grid) + 0.5
}

// fillArea weighs each source pixel by the share of the rectangle that it
// covers, in whole numbers: in units of 1/out of a pixel, pixel i of the result
// covers i*in to (i+1)*in. What is rounded is the running sum, so that the
// weights sum to 1 exactly however many they are.
func (a *axis) fillArea(k axisKey) {
	in, out := int64(k.in), int64(k.out)
	a.width = int(min((in+out-1)/out+1, in))
	a.weights = make([]int32, a.width*len(a.first))
	for i := range a.first {
		from := int64(k.lo+i) * in
		first := from / out
		last := (from + in - 1) / out
		weights := a.weights[i*a.width:]
		before := int64(0)
		for j := first; j <= last; j++ {
			covered := min((j+1)*out, from+in) - from
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

// nearestSource is which pixel of the source Nearest takes for pixel i of the
// result, in the float32 arithmetic of TensorFlow, whose roundings decide where
// the place falls on an edge between two pixels.
func nearestSource(i, in, out int) int {
	scale := float32(in) / float32(out)
	at := float32((float32(i) + 0.5) * scale)
	return min(int(at), in-1)
}
