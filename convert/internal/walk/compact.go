package walk

import (
	"encoding/binary"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/swar"
)

// compactImages are the images of a directory tree while it is listed. A growing list would be copied,
// and take more than twice its memory each time; these take some 20 bytes for an image of a sorted
// listing, until their number is known. An image is four integers and two strings: the
// lengths of the prefixes that its path and its version share with the image before, the size, the
// difference of times, and the rest of path and version, each after its length.
type compactImages struct {
	blocks [][]byte // of whole images
	n      int
	// of the last image
	path, version string
	modTime       int64
}

// compactBlock is the size of a block in bytes, unless an image needs more.
const compactBlock = 64 << 10

// add adds an image.
func (f *compactImages) add(path, version string, size, modTime int64) {
	const integers = 6 * binary.MaxVarintLen64
	if k := len(f.blocks); k == 0 || cap(f.blocks[k-1])-len(f.blocks[k-1]) < integers+len(path)+len(version) {
		f.blocks = append(f.blocks, make([]byte, 0, max(compactBlock, integers+len(path)+len(version))))
	}
	b := f.blocks[len(f.blocks)-1]
	samePath, sameVersion := swar.Common(path, f.path), swar.Common(version, f.version)
	b = binary.AppendUvarint(b, uint64(samePath))
	b = binary.AppendUvarint(b, uint64(sameVersion))
	b = binary.AppendVarint(b, size)
	b = binary.AppendVarint(b, modTime-f.modTime)
	b = appendText(b, path[samePath:])
	b = appendText(b, version[sameVersion:])
	f.blocks[len(f.blocks)-1] = b
	f.path, f.version, f.modTime = path, version, modTime
	f.n++
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// list returns the images in a list of exactly their number, and forgets them.
func (f *compactImages) list() []origin.Image {
	images := make([]origin.Image, 0, f.n)
	var kept texts
	var path, version []byte // of the last image
	var as origin.Version
	var modTime int64
	for i, b := range f.blocks {
		number := func() int64 {
			v, n := binary.Varint(b)
			b = b[n:]
			return v
		}
		length := func() int {
			v, n := binary.Uvarint(b)
			b = b[n:]
			return int(v)
		}
		text := func(last []byte, same int) []byte {
			n := length()
			last = append(last[:same], b[:n]...)
			b = b[n:]
			return last
		}
		for len(b) > 0 {
			samePath, sameVersion, size := length(), length(), number()
			modTime += number()
			path, version = text(path, samePath), text(version, sameVersion)
			as = origin.VersionAs(version, as)
			images = append(images, origin.Image{Path: kept.keep(path), Version: as, Size: size, ModTime: modTime})
		}
		f.blocks[i] = nil
	}
	*f = compactImages{}
	return images
}

// texts stores copies of strings in blocks, without overhead per string.
type texts struct{ block *strings.Builder }

// textBlock is the size of a block of texts in bytes.
const textBlock = 64 << 10

func (t *texts) keep(s []byte) string {
	if len(s) == 0 {
		return ""
	}
	if t.block == nil || t.block.Cap()-t.block.Len() < len(s) {
		t.block = new(strings.Builder) // the strings keep the full block alive
		t.block.Grow(max(textBlock, len(s)))
	}
	from := t.block.Len()
	t.block.Write(s)
	return t.block.String()[from:]
}
