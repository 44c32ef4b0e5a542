package recolor

// spoke describes one hue of 8-bit HSV: its position in its sixth of the colour wheel, from 0 to 1,
// and the levels that this sixth gives to red, green and blue: 0 is the largest, 1 the smallest, 2
// one that falls within the sixth, 3 one that rises.
type spoke struct {
	at               float32
	red, green, blue uint8
}

var wheel = func() (w [256]spoke) {
	sixths := [6]spoke{
		{red: 0, green: 3, blue: 1},
		{red: 2, green: 0, blue: 1},
		{red: 1, green: 0, blue: 3},
		{red: 1, green: 2, blue: 0},
		{red: 3, green: 1, blue: 0},
		{red: 0, green: 1, blue: 2},
	}
	for h := range w {
		place := float64(h) * 6 / 255
		w[h] = sixths[int(place)%6]
		w[h].at = float32(place - float64(int(place)))
	}
	return w
}()

// turnHue converts to HSV, adds turn to the hue, modulo 256, and converts back, in float32 and
// float64 as Pillow's src/libImaging/Convert.c does. It is the reference for turnRow.
func turnHue(r, g, b, turn uint8) (uint8, uint8, uint8) {
	most, least := max(r, g, b), min(r, g, b)
	saturation := saturationOf(most, least)
	if saturation == 0 {
		return most, most, most
	}
	w := &wheel[placeOf(r, g, b)+turn]
	s := float32(saturation) / 255
	v := float64(most)
	levels := [4]uint8{
		most,
		nearest8(float64(v * (1 - float64(s)))),
		nearest8(float64(v * (1 - float64(float32(s*w.at))))),
		nearest8(float64(v * (1 - float64(float64(s)*(1-float64(w.at)))))),
	}
	return levels[w.red], levels[w.green], levels[w.blue]
}

// placeOf is the hue of a colour that isn't gray, in 256ths of the wheel.
func placeOf(r, g, b uint8) uint8 {
	most, least := max(r, g, b), min(r, g, b)
	spread := float32(most - least)
	toRed, toGreen, toBlue := float32(most-r)/spread, float32(most-g)/spread, float32(most-b)/spread
	var hue float32
	switch most {
	case r:
		hue = toBlue - toGreen
	case g:
		hue = float32(2 + float64(toRed) - float64(toBlue))
	default:
		hue = float32(4 + float64(toGreen) - float64(toRed))
	}
	part := float64(hue)/6 + 1
	if part >= 1 {
		part--
	}
	return uint8(float64(float64(float32(part)) * 255))
}

// saturationOf is the saturation of a colour by its levels.
func saturationOf(most, least uint8) uint8 {
	if most == least {
		return 0
	}
	return uint8(float64(float64(float32(most-least)/float32(most)) * 255))
}

// nearest8 rounds v, from 0 to 255, with halves up, and without a branch that would be
// mispredicted.
func nearest8(v float64) uint8 {
	n := int32(v)
	return uint8(n + int32(float64((v-float64(n))*2)))
}
