package recolor

import "sync"

// hues holds of what turnHue computes all that follows from little: the hue from the sixth of the
// colour wheel that a pixel is in and from two differences of its levels, the saturation and the
// lower level from two levels.
type hues struct {
	// place is the hue by sixth, by the largest level less the smallest, and by the
	// largest less the one in between.
	place [6][256][256]uint8
	// saturation is by the largest level and by that less the smallest.
	saturation [256][256]uint8
	// least is the new smallest level, by the largest level and by saturation.
	least [256][256]uint8
	// part is the saturation from 0 to 1.
	part [256]float32
	// at and spokes are the wheel: the position of a hue in its sixth, and the index, 0 to 3, of
	// the levels of red, green and blue, a byte each.
	at     [256]float32
	spokes [256]uint32
}

var hueTables = sync.OnceValue(func() *hues {
	t := new(hues)
	for most := range 256 {
		for spread := 1; spread <= most; spread++ {
			t.saturation[most][spread] = saturationOf(uint8(most), uint8(most-spread))
		}
	}
	for spread := 1; spread < 256; spread++ {
		for below := range spread + 1 {
			most, least, mid := uint8(255), uint8(255-spread), uint8(255-below)
			t.place[0][spread][below] = placeOf(most, mid, least)
			t.place[1][spread][below] = placeOf(most, least, mid)
			t.place[2][spread][below] = placeOf(mid, most, least)
			t.place[3][spread][below] = placeOf(least, most, mid)
			t.place[4][spread][below] = placeOf(mid, least, most)
			t.place[5][spread][below] = placeOf(least, mid, most)
		}
	}
	for h, w := range wheel {
		t.at[h] = w.at
		t.spokes[h] = uint32(w.red) | uint32(w.green)<<8 | uint32(w.blue)<<16
	}
	for s := range 256 {
		t.part[s] = float32(s) / 255
		for most := range 256 {
			t.least[most][s] = nearest8(float64(float64(most) * (1 - float64(t.part[s]))))
		}
	}
	return t
})

// sixths maps comparisons of red < green, green < blue and red < blue to the sixth of the wheel
// that a colour is in. Of equal levels the first counts as the larger.
var sixths = [8]uint8{0: 0, 2: 1, 1: 2, 5: 3, 6: 4, 7: 5}

// turnRowPlain turns the hues of a row. dst may be src.
func (t *hues) turnRowPlain(dst, src []uint8, turn uint8) {
	for ; len(src) >= 3 && len(dst) >= 3; src, dst = src[3:], dst[3:] {
		r, g, b := src[0], src[1], src[2]
		most, least := max(r, g, b), min(r, g, b)
		spread := most - least
		saturation := t.saturation[most][spread]
		// The middle level is the sum minus the other two levels.
		below := 2*int(most) + int(least) - int(r) - int(g) - int(b)
		red, green, blue := int(r), int(g), int(b)
		sixth := sixths[uint(red-green)>>63|uint(green-blue)>>63<<1|uint(red-blue)>>63<<2]
		w := &wheel[t.place[sixth][spread][below&255]+turn]
		s, v := t.part[saturation], float64(floats[most])
		levels := [4]uint8{
			most,
			t.least[most][saturation],
			nearest8(float64(v * (1 - float64(float32(s*w.at))))),
			nearest8(float64(v * (1 - float64(float64(s)*(1-float64(w.at)))))),
		}
		dst[0], dst[1], dst[2] = levels[w.red&3], levels[w.green&3], levels[w.blue&3]
	}
}
