package sample

import (
	"fmt"
	"image/color"
)

// Palette are the colours of classes of objects, the most frequent first, and of masks. They differ
// in hue, and in lightness for those who see hues as one.
var Palette = [12]color.NRGBA{
	{0xe6, 0x3c, 0x3c, 0xff}, {0x2f, 0x7e, 0xd8, 0xff}, {0x3c, 0xb4, 0x4b, 0xff}, {0xff, 0xb0, 0x20, 0xff},
	{0x9b, 0x4d, 0xca, 0xff}, {0x2b, 0xc4, 0xc4, 0xff}, {0xf0, 0x62, 0xb0, 0xff}, {0xb5, 0xcc, 0x2a, 0xff},
	{0x8c, 0x5a, 0x2b, 0xff}, {0x8f, 0xa8, 0xff, 0xff}, {0x00, 0x6f, 0x5f, 0xff}, {0xff, 0x8c, 0x69, 0xff},
}

// ColourOf returns the colour of class number i. The colours of many classes repeat.
func ColourOf(i int) color.NRGBA { return Palette[i%len(Palette)] }

func HexColour(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Colours of pixels of masks: no colour, the first class, and pixels without a class.
const (
	pixelNone    = 0
	pixelClass   = 1
	pixelIgnored = pixelClass + len(Palette)
	maskOpacity  = 0x90
)

// maskColours is the palette of an overlay.
var maskColours = func() color.Palette {
	list := color.Palette{color.NRGBA{}}
	for _, c := range Palette {
		c.A = maskOpacity
		list = append(list, c)
	}
	return append(list, color.NRGBA{0x80, 0x80, 0x80, maskOpacity})
}()

// pixelOfClass returns the colour of pixels of a class in a semantic mask: 0 is the background, 255
// what DeepLab ignores.
func pixelOfClass(class uint8) uint8 {
	switch class {
	case 0:
		return pixelNone
	case 255:
		return uint8(pixelIgnored)
	}
	return pixelOfObject(int(class) - 1)
}

// pixelOfObject returns the colour of pixels of objects of class number i.
func pixelOfObject(i int) uint8 { return uint8(pixelClass + i%len(Palette)) }
