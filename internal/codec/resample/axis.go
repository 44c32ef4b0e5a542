package resample

import "math"

// precision is the number of fraction bits in a weight: 32 minus eight for a pixel and two for the
// sign and the overshoot of negative lobes, as in Pillow's src/libImaging/Resample.c.
const precision = 22

// half rounds a sum of weighed pixels to the nearest.
const half = 1 << (precision - 1)

// Axis holds the weights that resize one axis of an image: out[i] = Σ weights[i*width+j] *
// in[first[i]+j] / 1<<precision, for j in 0..count[i]-1. It never changes after it is built, so
// that any number of goroutines may share it.
type Axis struct {
	in      int  // pixels of the source
	Width   int  // weights kept for each pixel of the result
	Most    int  // the largest count
	sparse  bool // pixels of the source are left out in between
	First   []int32
	Count   []int32
	Weights []int32
	packed  packed // the weights once more, as assembly wants them
}

// Key determines the weights of an axis: in pixels are resized to out pixels, of which lo to
// hi-1 are computed.
type Key struct {
	In, Out, Lo, Hi int
	Filter          Filter
	Antialias       bool
	// Channels is the number of channels of the image whose rows are resized, or 0 if whole rows
	// are weighed.
	Channels int
	// Grid is the zero value where the samples on both sides are the pixels of
	// whole images.
	Grid Grid
}

// Grid maps the samples of two planes to the pixels of an image if they differ: samples of chroma,
// or of a plane decoded at a part of its size.
type Grid struct {
	// The source is size pixels long: per of the image's pixels make a
	// sample, of which the last may have fewer. So may the first, which
	// begins as many pixels before the source as skip.
	Size, Per, Skip int
	// Step of the out pixels make a sample of the result, their mean. The
	// first of these have no part in the window: as many as lead.
	Step, Lead int
}

// placed is the grid of the key, written out.
func (k Key) placed() Grid {
	if k.Grid == (Grid{}) {
		return Grid{Size: k.In, Per: 1, Step: 1}
	}
	return k.Grid
}

// reduced sets the grid of a source in which each sample represents per of the image's size pixels.
func (k *Key) reduced(size, per int) {
	if size != k.In*per {
		k.Grid = Grid{Size: size, Per: per, Step: 1}
	}
}

// samples returns the number of samples in the result.
func (k Key) samples() int {
	g := k.placed()
	return (g.Lead + k.Hi - k.Lo + g.Step - 1) / g.Step
}

// pixels returns the range of the out pixels, within lo to hi-1, whose mean is sample i.
func (k Key) pixels(i int) (lo, hi int) {
	g := k.placed()
	lo = k.Lo - g.Lead + i*g.Step
	return max(lo, k.Lo), min(lo+g.Step, k.Hi)
}

// Identity reports whether the axis copies each pixel.
func (k Key) Identity() bool { return k.In == k.Out && k.Grid == (Grid{}) }

// makeAxis computes the weights for every filter but Nearest.
func makeAxis(k Key) *Axis {
	n := k.samples()
	a := &Axis{in: k.In, First: make([]int32, n), Count: make([]int32, n)}
	if k.Filter == Area {
		a.fillArea(k)
	} else {
		a.fillKernel(k)
	}
	a.order()
	for i, c := range a.Count {
		a.Most = max(a.Most, int(c))
		a.sparse = a.sparse || i > 0 && a.First[i] > a.First[i-1]+a.Count[i-1]
	}
	a.packed.fill(a, k.Channels)
	return a
}

// fillKernel follows Pillow's Resample.c: it stretches the kernel by the reduction (antialias),
// cuts it at the image's edge, scales its weights to a sum of 1 in float64 and only then rounds
// them to integers, halves away from zero. With antialias off it does not stretch the kernel, as in
// tf.image.resize.
func (a *Axis) fillKernel(k Key) {
	weigh, reach := k.Filter.kernel()
	g := k.placed()
	scale := float64(g.Size) / float64(float64(k.Out)*float64(g.Per))
	skip := float64(g.Skip) / float64(g.Per)
	stretch := 1.0
	if k.Antialias {
		stretch = max(scale, 1)
	}
	reach = float64(reach * stretch)
	shrink := 1 / stretch
	each := int(math.Ceil(reach))*2 + 1 // of a pixel
	a.Width = min(each+int(math.Ceil(float64(scale*float64(g.Step-1)))), k.In)
	a.Weights = make([]int32, a.Width*len(a.First))
	exact, sums := make([]float64, min(each, k.In)), make([]float64, a.Width)
	for i := range a.First {
		lo, hi := k.pixels(i)
		clear(sums)
		begin, end := 0, 0
		for p := lo; p < hi; p++ {
			center := float64((float64(p)+0.5)*scale) + skip
			if k.Filter == Bicubic && !k.Antialias {
				center = snap(center)
			}
			first := min(max(0, int(center-reach+0.5)), k.In-1)
			after := min(k.In, int(center+reach+0.5))
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
		weights := a.Weights[i*a.Width:]
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
func (a *Axis) fillArea(k Key) {
	g := k.placed()
	size, unit, skip := int64(g.Size), int64(k.Out)*int64(g.Per), int64(k.Out)*int64(g.Skip)
	a.Width = int(min((size*int64(g.Step)+unit-1)/unit+1, int64(k.In)))
	a.Weights = make([]int32, a.Width*len(a.First))
	for i := range a.First {
		lo, hi := k.pixels(i)
		from, end := int64(lo)*size+skip, int64(hi)*size+skip
		in := end - from
		first := from / unit
		last := (end - 1) / unit
		weights := a.Weights[i*a.Width:]
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
func (a *Axis) trim(i, first, n int) {
	weights := a.Weights[i*a.Width : i*a.Width+n]
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
	a.First[i], a.Count[i] = int32(first+skip), int32(n-skip)
}

// order sees to it that no pixel needs source pixels before those that the pixel
// before it needs, which trim may have brought about: it takes zeros back.
func (a *Axis) order() {
	for i := len(a.First) - 2; i >= 0; i-- {
		back := int(a.First[i] - a.First[i+1])
		if back <= 0 {
			continue
		}
		weights := a.Weights[i*a.Width:][:int(a.Count[i])+back]
		copy(weights[back:], weights)
		clear(weights[:back])
		a.First[i] -= int32(back)
		a.Count[i] += int32(back)
	}
}

// of returns the weights of pixel i and the first source pixel they weigh.
func (a *Axis) of(i int) (first int, weights []int32) {
	from := i * a.Width
	return int(a.First[i]), a.Weights[from : from+int(a.Count[i])]
}

// Span is the range of source pixels that pixels lo to hi-1 of the result need.
func (a *Axis) Span(lo, hi int) (first, end int) {
	first = int(a.First[lo])
	for i := lo; i < hi; i++ {
		first = min(first, int(a.First[i]))
		end = max(end, int(a.First[i]+a.Count[i]))
	}
	return first, end
}

// NearestSource returns the pixel of the source that Nearest takes for pixel i of the result. It
// uses the float32 arithmetic of TensorFlow, whose rounding decides if a position falls on an edge
// between two pixels.
func NearestSource(i, in, out int) int {
	scale := float32(in) / float32(out)
	at := float32((float32(i) + 0.5) * scale)
	return min(int(at), in-1)
}
