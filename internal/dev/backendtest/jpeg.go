package backendtest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
)

// fillCoded makes the task another one, of a JPEG. Its results stay, to be written over.
func (m *maker) fillCoded(t *augment.Task) {
	m.empty(t)
	data, orientation, gray := m.jpeg()
	if err := t.ReadJPEG(m.codec, data); err != nil {
		panic(err)
	}
	if got := t.JPEGInfo.Orientation; got != orientation {
		panic(fmt.Sprintf("orientation %d; want %d", got, orientation))
	}
	w, h := t.JPEGInfo.Oriented()
	planar := orientation == 1 && !gray && m.chance(0.5)
	t.JPEGChannels, t.JPEGPlanes = 0, planar
	if !planar {
		t.JPEGChannels = []int{0, 1, 3}[m.r.IntN(3)]
	}
	m.wish(t, w, h, planar)
}

// jpeg is a file: any subsampling and quality, some of them turned.
func (m *maker) jpeg() (data []byte, orientation int, gray bool) {
	subsampling := []string{"420", "422", "440", "444", "gray"}[m.r.IntN(5)]
	gray = subsampling == "gray"
	channels := 3
	if gray && m.chance(0.5) {
		channels = 1
	}
	data, err := m.codec.AppendJPEG(nil, m.image(m.side(), m.side(), channels), 1+m.r.IntN(100), subsampling)
	if err != nil {
		panic(err)
	}
	orientation = 1
	if m.chance(0.5) {
		orientation = 1 + m.r.IntN(8)
		data = Turned(data, orientation)
	}
	return data, orientation, gray
}

// Turned returns a JPEG with an EXIF segment for the given orientation, 1 to 8.
func Turned(data []byte, orientation int) []byte {
	exif := append([]byte("\xFF\xE1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), byte(orientation), 0, 0, 0, 0, 0, 0)
	return slices.Insert(bytes.Clone(data), 2, exif...)
}
