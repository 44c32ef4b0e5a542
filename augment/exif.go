package augment

import "encoding/binary"

// tiffDirectory is an image file directory of a TIFF file, or of the TIFF structure that
// EXIF is (TIFF 6.0, section 2).
type tiffDirectory struct {
	data    []byte
	order   binary.ByteOrder
	entries []byte // 12 bytes each
}

// Tags of TIFF.
const (
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagPhotometric  = 262
	tagFillOrder    = 266
	tagStripOffsets = 273
	tagOrientation  = 274
	tagSamples      = 277
	tagStripRows    = 278
	tagStripSizes   = 279
	tagPlanar       = 284
	tagFax          = 292 // T4Options
	tagPredictor    = 317
	tagColorMap     = 320
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTileOffsets  = 324
	tagTileSizes    = 325
	tagExtra        = 338
	tagFormat       = 339
)

// openTIFF finds the first directory. Entries that the data don't hold are left out.
func openTIFF(data []byte) (tiffDirectory, bool) {
	d := tiffDirectory{data: data}
	if len(data) < 8 {
		return d, false
	}
	switch string(data[:4]) {
	case "II*\x00":
		d.order = binary.LittleEndian
	case "MM\x00*":
		d.order = binary.BigEndian
	default:
		return d, false
	}
	at := int64(d.order.Uint32(data[4:]))
	if at < 8 || at+2 > int64(len(data)) {
		return d, false
	}
	n := int(d.order.Uint16(data[at:]))
	d.entries = data[at+2:]
	if len(d.entries) > 12*n {
		d.entries = d.entries[:12*n]
	}
	return d, true
}

// number is the first value of a tag of whole numbers, def when there is none.
func (d *tiffDirectory) number(tag, def int) int {
	if n := d.numbers(tag); n.len() > 0 {
		return n.at(0)
	}
	return def
}

// tiffNumbers are the values of a tag of whole numbers.
type tiffNumbers struct {
	order  binary.ByteOrder
	values []byte
	size   int // bytes of one: 1, 2 or 4
}

// numbers are the values of a tag, none unless the data hold all of them.
func (d *tiffDirectory) numbers(tag int) tiffNumbers {
	for e := d.entries; len(e) >= 12; e = e[12:] {
		if int(d.order.Uint16(e)) != tag {
			continue
		}
		n := tiffNumbers{order: d.order}
		switch d.order.Uint16(e[2:]) {
		case 1: // BYTE
			n.size = 1
		case 3: // SHORT
			n.size = 2
		case 4: // LONG
			n.size = 4
		}
		size := int64(d.order.Uint32(e[4:])) * int64(n.size) // below 2^34
		switch at := int64(d.order.Uint32(e[8:])); {
		case size <= 4:
			n.values = e[8 : 8+size]
		case at+size <= int64(len(d.data)):
			n.values = d.data[at : at+size]
		}
		return n
	}
	return tiffNumbers{}
}

func (n *tiffNumbers) len() int {
	if n.size == 0 {
		return 0
	}
	return len(n.values) / n.size
}

func (n *tiffNumbers) at(i int) int {
	switch p := n.values[i*n.size:]; n.size {
	case 1:
		return int(p[0])
	case 2:
		return int(n.order.Uint16(p))
	default:
		return int(n.order.Uint32(p))
	}
}

// orientation is the EXIF orientation, 1 to 8; 1 when there is none or it makes no sense.
func (d *tiffDirectory) orientation() int {
	if o := d.number(tagOrientation, 1); o >= 1 && o <= 8 {
		return o
	}
	return 1
}

// exifOrientation reads the orientation from an EXIF block, with or without the prefix
// that JPEG puts before it.
func exifOrientation(exif []byte) int {
	if len(exif) > 6 && string(exif[:6]) == "Exif\x00\x00" {
		exif = exif[6:]
	}
	d, ok := openTIFF(exif)
	if !ok {
		return 1
	}
	return d.orientation()
}

// orient writes src to dst upright, given its EXIF orientation. The two must not share memory.
func orient(dst, src *Image, orientation int) {
	w, h, n := src.Width, src.Height, src.Channels
	if orientation >= 5 {
		dst.Reset(h, w, n)
	} else {
		dst.Reset(w, h, n)
	}
	// Pixel (x, y) of src becomes first + x*right + y*down.
	var first, right, down int
	last, bottom := (dst.Width-1)*n, (dst.Height-1)*dst.Stride
	switch orientation {
	case 2:
		first, right, down = last, -n, dst.Stride
	case 3:
		first, right, down = bottom+last, -n, -dst.Stride
	case 4:
		first, right, down = bottom, n, -dst.Stride
	case 5:
		first, right, down = 0, dst.Stride, n
	case 6:
		first, right, down = last, dst.Stride, -n
	case 7:
		first, right, down = bottom+last, -dst.Stride, -n
	case 8:
		first, right, down = bottom, -dst.Stride, n
	default:
		first, right, down = 0, n, dst.Stride
	}
	// Tiles, because a quarter turn reads along rows what it writes along columns.
	const tile = 32
	for y0 := 0; y0 < h; y0 += tile {
		for x0 := 0; x0 < w; x0 += tile {
			for y := y0; y < min(y0+tile, h); y++ {
				row := src.Row(y)
				at := first + x0*right + y*down
				for x := x0; x < min(x0+tile, w); x++ {
					switch n {
					case 1:
						dst.Pix[at] = row[x]
					case 3:
						p, q := dst.Pix[at:at+3:at+3], row[3*x:3*x+3:3*x+3]
						p[0], p[1], p[2] = q[0], q[1], q[2]
					default: // samples of 16 bits
						copy(dst.Pix[at:at+n], row[n*x:n*x+n])
					}
					at += right
				}
			}
		}
	}
}
