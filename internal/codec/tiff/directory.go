package tiff

import "encoding/binary"

// Directory is an image file directory of a TIFF file, or of the TIFF structure that
// EXIF is (TIFF 6.0, section 2).
type Directory struct {
	data    []byte
	order   binary.ByteOrder
	entries []byte // 12 bytes each
}

// Tags of TIFF.
const (
	TagWidth        = 256
	TagHeight       = 257
	TagBits         = 258
	TagCompression  = 259
	TagPhotometric  = 262
	TagFillOrder    = 266
	TagStripOffsets = 273
	tagOrientation  = 274
	TagSamples      = 277
	TagStripRows    = 278
	TagStripSizes   = 279
	TagPlanar       = 284
	TagFax          = 292 // T4Options
	TagPredictor    = 317
	TagColorMap     = 320
	TagTileWidth    = 322
	TagTileHeight   = 323
	TagTileOffsets  = 324
	TagTileSizes    = 325
	TagExtra        = 338
	TagFormat       = 339
)

// Open finds the first directory. Entries that the data don't hold are left out.
func Open(data []byte) (Directory, bool) {
	d := Directory{data: data}
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

// Number is the first value of a tag of whole numbers, def when there is none.
func (d *Directory) Number(tag, def int) int {
	if n := d.numbers(tag); n.len() > 0 {
		return n.at(0)
	}
	return def
}

// numbers are the values of a tag of whole numbers.
type numbers struct {
	order  binary.ByteOrder
	values []byte
	size   int // bytes of one: 1, 2 or 4
}

// numbers are the values of a tag, none unless the data hold all of them.
func (d *Directory) numbers(tag int) numbers {
	for e := d.entries; len(e) >= 12; e = e[12:] {
		if int(d.order.Uint16(e)) != tag {
			continue
		}
		n := numbers{order: d.order}
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
	return numbers{}
}

func (n *numbers) len() int {
	if n.size == 0 {
		return 0
	}
	return len(n.values) / n.size
}

func (n *numbers) at(i int) int {
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
func (d *Directory) orientation() int {
	if o := d.Number(tagOrientation, 1); o >= 1 && o <= 8 {
		return o
	}
	return 1
}

// Orientation reads the orientation from an EXIF block, with or without the prefix
// that JPEG puts before it.
func Orientation(exif []byte) int {
	if len(exif) > 6 && string(exif[:6]) == "Exif\x00\x00" {
		exif = exif[6:]
	}
	d, ok := Open(exif)
	if !ok {
		return 1
	}
	return d.orientation()
}
