package webp

import (
	"encoding/binary"
	"errors"
	"image"
	"slices"
)

// losslessHeader is the size of the header of a VP8L image.
const losslessHeader = 5

// losslessSize reads the header.
func losslessSize(body []byte) (w, h int, err error) {
	if len(body) < losslessHeader {
		return 0, 0, errShort
	}
	v := binary.LittleEndian.Uint32(body[1:])
	if body[0] != 0x2F || v>>29 != 0 {
		return 0, 0, errFormat
	}
	return int(v&0x3FFF) + 1, int(v>>14&0x3FFF) + 1, nil
}

// codeGroup are the five codes of an area of the image.
type codeGroup struct{ green, red, blue, alpha, distance prefixCode }

const (
	literals  = 256
	lengths   = 24
	distances = 40
	// maxGroups is the maximum number of groups of codes in an image, equal to libwebp's.
	maxGroups = 2600
)

// vp8l decodes lossless images. Pixels are red, green, blue and alpha, a byte each.
type vp8l struct {
	r     bitReader
	img   image.NRGBA
	pix   []byte // the pixels before the colours are looked up, or the result
	wide  []byte // the pixels after that, where they take more room
	cache []uint32

	transforms []transform
	tiles      [4][]byte // of transforms by type
	groups     []codeGroup
	groupOf    []byte // the groups of areas, as pixels: red and green
	mapping    []int16
	codes      codeArena
	// For codes of code lengths, which are used at once.
	lengthCodes codeArena
	lengths     []uint8
}

func (d *vp8l) held() int {
	n := cap(d.pix) + cap(d.wide) + 4*cap(d.codes.all) + cap(d.groups)*160 + cap(d.groupOf)
	for _, t := range d.tiles {
		n += cap(t)
	}
	return n
}

// decode decodes the pixels after the header.
func (d *vp8l) decode(data []byte, w, h int) (*image.NRGBA, error) {
	d.r.init(data)
	d.transforms = d.transforms[:0]
	coded := w // the width of the coded pixels
	for d.r.read(1) != 0 {
		if err := d.readTransform(&coded, h); err != nil {
			return nil, err
		}
	}
	if d.r.overrun() {
		return nil, errShort
	}
	var err error
	if d.pix, err = d.readPixels(d.pix, coded, h, true); err != nil {
		return nil, err
	}
	pix := d.pix
	for _, t := range slices.Backward(d.transforms) {
		pix = d.invert(&t, pix, h)
	}
	d.img = image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
	return &d.img, nil
}

// tiles returns the number of squares with a side of 1<<bits pixels that cover size pixels.
func tiles(size int, bits uint32) int { return (size + 1<<bits - 1) >> bits }

// readGroups reads the groups of codes (RFC 9649, 3.7.2.2). If there are several, tileBits is the
// logarithm of the side of the areas that have one each, in groupOf; otherwise it is 0.
func (d *vp8l) readGroups(w, h int, top bool, cacheSize uint32) (tileBits uint32, err error) {
	stored, used := 1, 1 // numbers of groups in the data and in use
	d.mapping = d.mapping[:0]
	if top && d.r.read(1) != 0 {
		tileBits = 2 + d.r.read(3)
		if d.groupOf, err = d.readPixels(d.groupOf, tiles(w, tileBits), tiles(h, tileBits), false); err != nil {
			return 0, err
		}
		areas := d.groupOf
		for p := 0; p < len(areas); p += 4 {
			stored = max(stored, 1+int(binary.BigEndian.Uint16(areas[p:])))
		}
		if used = stored; stored > maxGroups {
			return 0, errors.New("too many prefix codes")
		}
		if stored > 1000 || stored > len(areas)/4 { // those that occur are kept
			d.mapping = sized(d.mapping, stored)
			for i := range d.mapping {
				d.mapping[i] = -1
			}
			used = 0
			for p := 0; p < len(areas); p += 4 {
				i := binary.BigEndian.Uint16(areas[p:])
				if d.mapping[i] < 0 {
					d.mapping[i] = int16(used)
					used++
				}
				binary.BigEndian.PutUint16(areas[p:], uint16(d.mapping[i]))
			}
		}
	}
	d.codes.reset()
	d.groups = sized(d.groups, used)
	for i := range stored {
		to := i
		if len(d.mapping) > 0 {
			to = int(d.mapping[i])
		}
		var group codeGroup
		for j, code := range []*prefixCode{&group.green, &group.red, &group.blue, &group.alpha, &group.distance} {
			alphabet := uint32(literals)
			switch j {
			case 0:
				alphabet += lengths + cacheSize
			case 4:
				alphabet = distances
			}
			if *code, err = d.readCode(alphabet, to >= 0); err != nil {
				return 0, err
			}
		}
		if d.r.overrun() {
			return 0, errShort
		}
		if to >= 0 {
			d.groups[to] = group
		}
	}
	return tileBits, nil
}
