package masks

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
)

// IsRGB reports whether Colors decode a mask: an RGB PNG with 8 bits a sample and no transparency.
func IsRGB(info augment.Info) bool {
	return info.Format == augment.PNG && info.Channels == 3 && info.Keepable && !info.Deep
}

// Colors are the colours of the classes of RGB masks, as labelmap.txt lists them, in a hash table.
type Colors struct {
	slots [1 << slotBits]slot
}

// slotBits makes the table at least four times as large as its up to 256 colors.
const slotBits = 10

// slot is a colour and its class.
type slot struct {
	key   uint32 // see keyOf; 0 if the slot is free
	class uint8
}

// keyOf returns a number for a colour that is not 0.
func keyOf(r, g, b uint8) uint32 { return 1<<24 | uint32(r)<<16 | uint32(g)<<8 | uint32(b) }

// NewColors returns the colours of classes, beginning with class 0: each once, at most 256.
func NewColors[C ~[3]uint8](colors []C) *Colors {
	c := new(Colors)
	for class, rgb := range colors {
		*c.find(keyOf(rgb[0], rgb[1], rgb[2])) = slot{keyOf(rgb[0], rgb[1], rgb[2]), uint8(class)}
	}
	return c
}

// find returns the slot of a colour, or the free one where it would be.
func (c *Colors) find(key uint32) *slot {
	const spread = 0x9E3779B1 // 2^32 divided by the golden ratio
	for i := key * spread >> (32 - slotBits); ; i = (i + 1) % uint32(len(c.slots)) {
		if s := &c.slots[i]; s.key == key || s.key == 0 {
			return s
		}
	}
}

// Decode decodes a mask that IsRGB accepts into dst, upright, with one channel: the class of each
// pixel. A colour without a class is an error that names the first such pixel.
func (c *Colors) Decode(codec *augment.Codec, dst *augment.Image, data []byte) error {
	if _, err := codec.Decode(dst, data, augment.DecodeOptions{Channels: 3}); err != nil {
		return err
	}
	return c.classify(dst)
}

// classify replaces the colours of an image by their classes, in place: a class is written where
// its own or an earlier pixel was read.
func (c *Colors) classify(im *augment.Image) error {
	var last slot
	n := 0
	for y := range im.Height {
		row := im.Row(y)
		for x := range im.Width {
			key := keyOf(row[3*x], row[3*x+1], row[3*x+2])
			if key != last.key {
				if last = *c.find(key); last.key == 0 {
					return fmt.Errorf("no class in labelmap.txt has the colour %d,%d,%d of the pixel at x=%d, y=%d", key>>16&0xFF, key>>8&0xFF, key&0xFF, x, y)
				}
			}
			im.Pix[n] = last.class
			n++
		}
	}
	im.Pix, im.Channels, im.Stride = im.Pix[:n], 1, im.Width
	return nil
}
