package recolor

// Histogram counts the levels of each channel.
type Histogram [3][256]int

// Of counts the levels of an image after the steps so far.
func (h *Histogram) Of(r *Recoloring) {
	r.rows(func(row []uint8) {
		if r.From.Channels == 1 {
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

// Equalized is the table for a channel with the given histogram.
func Equalized(count *[256]int) (t Levels) {
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

// Stretched is the table for a channel with the given histogram.
func Stretched(count *[256]int) (t Levels) {
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
