package stats

import (
	"container/heap"
	"math"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
)

// PixelSums are sums over the pixels of one image in 8-bit RGB.
type PixelSums struct {
	Pixels  int64
	Sum     [3]uint64 // of the samples of each channel
	Squares [3]uint64 // of their squares
}

// Pixels are the mean and the standard deviation of each channel, for samples in 0..1: what
// `convert --mean --std` takes. Each image has the same weight, whatever its size, as it does when
// all are resized to one size.
type Pixels struct {
	// Images is the number of images examined. Damaged counts those that could not be decoded,
	// which are not in any figure.
	Images  int64 `json:"pictures"`
	Damaged int64 `json:"damaged"`
	// Sampled means that not all images were decoded.
	Sampled bool       `json:"sampled"`
	Mean    [3]float64 `json:"mean"` // red, green, blue
	Std     [3]float64 `json:"std"`
}

// pixelTotals is Pixels under construction.
type pixelTotals struct {
	images, damaged int64
	sampled         bool
	mean, square    [3]float64 // sums over the images
}

func (t *pixelTotals) add(sums PixelSums, err error) { t.addTimes(sums, err, 1) }

func (t *pixelTotals) addTimes(sums PixelSums, err error, times int64) {
	t.images += times
	if err != nil || sums.Pixels <= 0 {
		t.damaged += times
		return
	}
	n := float64(sums.Pixels)
	for c := range t.mean {
		t.mean[c] += float64(float64(times) * (float64(sums.Sum[c]) / n / 255))
		t.square[c] += float64(float64(times) * (float64(sums.Squares[c]) / n / (255 * 255)))
	}
}

func (t *pixelTotals) merge(u *pixelTotals) {
	t.images += u.images
	t.damaged += u.damaged
	for c := range t.mean {
		t.mean[c] += u.mean[c]
		t.square[c] += u.square[c]
	}
}

func (t *pixelTotals) stats() *Pixels {
	if t.images == 0 {
		return nil
	}
	s := &Pixels{Images: t.images, Damaged: t.damaged, Sampled: t.sampled}
	n := float64(t.images - t.damaged)
	for c := range s.Mean {
		if n > 0 {
			s.Mean[c] = t.mean[c] / n
			s.Std[c] = math.Sqrt(max(0, t.square[c]/n-float64(s.Mean[c]*s.Mean[c])))
		}
	}
	return s
}

// pixels decodes an image, or returns the result for the same image again.
func (p *imageScan) pixels(x []byte) (PixelSums, error) {
	if len(p.last) != len(x) || &p.last[0] != &x[0] {
		p.last = x
		p.lastSums, p.lastErr = p.o.Pixels(x)
	}
	return p.lastSums, p.lastErr
}

// pixelSamples are the samples of all features, shared by all files.
type pixelSamples struct {
	mu   sync.Mutex
	o    *Options
	list map[sampleName]*pixelSample
}

// sampleName identifies a sample: a feature, or a feature list, in a group.
type sampleName struct {
	group, key string
	isList     bool
}

// of returns the sample with that name.
func (s *pixelSamples) of(name sampleName) *pixelSample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[name] == nil {
		if s.list == nil {
			s.list = make(map[sampleName]*pixelSample)
		}
		s.list[name] = &pixelSample{all: s, name: name, size: s.o.SamplePixels, seed: s.o.Seed, byHash: make(map[uint64]*sampledImage)}
	}
	return s.list[name]
}

// forget removes a sample: files read from now on start it again, to no effect.
func (s *pixelSample) forget() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	delete(s.all.list, s.name)
}

// pixelSample holds the sums of the images with the smallest seeded hashes of their bytes: a random
// sample that does not depend on the order of the images or on their distribution over files. An
// image that occurs more than once counts as often, but takes one slot.
type pixelSample struct {
	all     *pixelSamples
	name    sampleName // its name there
	mu      sync.Mutex
	size    int
	seed    uint64
	list    sampleHeap
	byHash  map[uint64]*sampledImage
	dropped bool
}

// sampledImage is an image of a sample.
type sampledImage struct {
	hash  uint64
	times int64
	sums  PixelSums
	err   error
}

// offer adds an image to the sample if it belongs there, and only then decodes it.
func (s *pixelSample) offer(x []byte, p *imageScan) {
	hash := xxh3.HashSeed(x, s.seed)
	if s.counted(hash) {
		return
	}
	sums, err := p.pixels(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byHash[hash]; known != nil { // added by another goroutine meanwhile
		known.times++
		return
	}
	image := &sampledImage{hash, 1, sums, err}
	s.byHash[hash] = image
	heap.Push(&s.list, image)
	if len(s.list) > s.size {
		last := heap.Pop(&s.list).(*sampledImage)
		delete(s.byHash, last.hash)
		s.dropped = true
	}
}

// counted reports whether the image with that hash need not be decoded: it is in the sample
// already, or does not belong there.
func (s *pixelSample) counted(hash uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byHash[hash]; known != nil {
		known.times++
		return true
	}
	if len(s.list) >= s.size && hash > s.list[0].hash {
		s.dropped = true
		return true
	}
	return false
}

// totals sums up the images, in an order that depends only on them.
func (s *pixelSample) totals() pixelTotals {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.list)
	slices.SortFunc(list, func(a, b *sampledImage) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	t := pixelTotals{sampled: s.dropped}
	for _, image := range list {
		t.addTimes(image.sums, image.err, image.times)
	}
	return t
}

// sampleHeap has the image with the largest hash at the top.
type sampleHeap []*sampledImage

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return h[i].hash > h[j].hash }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *sampleHeap) Push(x any) { *h = append(*h, x.(*sampledImage)) }

// Pop implements heap.Interface.
func (h *sampleHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
