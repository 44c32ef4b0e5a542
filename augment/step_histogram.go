package augment

// histogram counts the levels of each channel.
type histogram [3][256]int

// of counts the levels of an image after the steps so far.
func (h *histogram) of(r *recoloring) {
	r.rows(func(row []uint8) {
		if r.from.Channels == 1 {
			for _, v := range row {
				h[0][v]++
			}
			return
		}
		for ; len(row) >= 3; row = row[3:] {
			h[0][row[0]]++
			h[1][row[1]]++
			h[2][row[2]]++
		}
	})
}

// Equalize spreads the levels of each channel so that all occur about as often,
// as Pillow's ImageOps.equalize and torchvision's equalize.
type Equalize struct{}

func (s Equalize) op() string { return "equalize" }

func (s Equalize) size(w, h int) (int, int) { return w, h }

func (s Equalize) validate() error { return nil }

func (s Equalize) apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Equalize) recolor(r *recoloring) {
	var h histogram
	h.of(r)
	var t channelLevels
	for c := range r.from.Channels {
		t[c] = equalized(&h[c])
	}
	r.lookEach(&t)
}

// equalized is the table for a channel with the given histogram.
func equalized(count *[256]int) (t levels) {
	all, last := 0, 0
	for _, n := range count {
		if n > 0 {
			all, last = all+n, n
		}
	}
	step := (all - last) / 255
	below := step / 2
	for v, n := range count {
		t[v] = uint8(v)
		if step > 0 {
			t[v] = uint8(min(below/step, 255))
		}
		below += n
	}
	return t
}

// AutoContrast stretches the levels of each channel so that the darkest becomes
// 0 and the lightest 255, as Pillow's ImageOps.autocontrast and torchvision's
// autocontrast.
type AutoContrast struct{}

func (s AutoContrast) op() string { return "autocontrast" }

func (s AutoContrast) size(w, h int) (int, int) { return w, h }

func (s AutoContrast) validate() error { return nil }

func (s AutoContrast) apply(dst, src *Image, scratch *Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s AutoContrast) recolor(r *recoloring) {
	var h histogram
	h.of(r)
	var t channelLevels
	for c := range r.from.Channels {
		t[c] = stretched(&h[c])
	}
	r.lookEach(&t)
}

// stretched is the table for a channel with the given histogram.
func stretched(count *[256]int) (t levels) {
	low, high := -1, 0
	for v, n := range count {
		if n == 0 {
			continue
		}
		high = v
		if low < 0 {
			low = v
		}
	}
	if high <= low {
		for v := range t {
			t[v] = uint8(v)
		}
		return t
	}
	scale := 255 / float64(high-low)
	offset := float64(float64(-low) * scale)
	for v := range t {
		t[v] = uint8(min(max(float64(float64(v)*scale)+offset, 0), 255))
	}
	return t
}
