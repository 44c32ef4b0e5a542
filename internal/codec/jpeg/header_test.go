package jpeg

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseHeader(t *testing.T) {
	tests := []struct {
		file  string
		w, h  int
		color ColorSpace
		check func(h *Header) bool
	}{
		{"made-ok-160x88.jpg", 160, 88, ColorYCbCr, func(h *Header) bool {
			return h.JFIF && h.SOF == markerSOF0 && h.Huffman() && h.Components[0].H == 2 && h.Restart == 0
		}},
		{"made-ok-progressive.jpg", 160, 88, ColorYCbCr, func(h *Header) bool { return h.Progressive() }},
		{"made-rst.jpg", 160, 88, ColorYCbCr, func(h *Header) bool { return h.Restart == 4 }},
		{"made-gray.jpg", 160, 88, ColorGray, func(h *Header) bool { return h.Channels() == 1 }},
		{"go-video-005.gray.q50.2x2.progressive.jpeg", 150, 103, ColorGray, func(h *Header) bool { return h.Components[0].H == 1 }},
		{"made-component-ids-rgb.jpg", 160, 88, ColorRGB, nil},
		{"made-adobe-rgb-transform-0.jpg", 160, 88, ColorRGB, func(h *Header) bool { return h.Adobe == 0 }},
		{"made-no-jfif.jpg", 160, 88, ColorYCbCr, func(h *Header) bool { return h.Adobe == -1 }},
		{"made-cmyk-no-adobe.jpg", 160, 88, ColorCMYK, func(h *Header) bool { return h.Channels() == 3 }},
		{"made-ycck-adobe.jpg", 160, 88, ColorYCCK, nil},
		{"made-dht-missing.jpg", 160, 88, ColorYCbCr, func(h *Header) bool { return h.NoTables }},
		{"made-fill-bytes.jpg", 160, 88, ColorYCbCr, nil},
		{"made-orientation-6-big-endian.jpg", 160, 88, ColorYCbCr, func(h *Header) bool { return strings.HasPrefix(string(h.Exif), "MM\x00*") }},
		{"jpegdecoder-16bit-qtables.jpg", 1, 1, ColorYCbCr, func(h *Header) bool { return h.WideTables && h.SOF == markerSOF1 }},
		{"ljt-testimgari.jpg", 227, 149, ColorYCbCr, func(h *Header) bool { return !h.Huffman() }},
		{"ljt-monkey12.jpg", 149, 227, ColorYCbCr, func(h *Header) bool { return h.Precision == 12 && !h.Huffman() }},
		{"jpegdecoder-jpeg_lossless_sel1.jpg", 256, 256, ColorGray, func(h *Header) bool { return h.SOF == 0xC3 }},
		{"zune-non_interleaved_420_64x64.jpg", 64, 64, ColorYCbCr, func(h *Header) bool { return h.FirstScan == 1 }},
	}
	for _, test := range tests {
		h := header(t, testImage(t, test.file))
		if h.Width != test.w || h.Height != test.h || h.ColorSpace != test.color || test.check != nil && !test.check(h) {
			t.Errorf("%s: %+v", test.file, h)
		}
	}
}

// TestOdd has images with what libjpeg and we take no notice of, and not every decoder in hardware: a
// sequential scan that says it is of some coefficients, and a number of lines before the scan.
func TestOdd(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	h := header(t, data)
	if _, usual := h.Usual(); !usual || h.Odd {
		t.Errorf("%+v", h)
	}
	scan := bytes.Clone(data)
	scan[bytes.Index(scan, []byte{0xFF, markerSOS})+4+1+2*h.N+1] = 62
	lines := slices.Concat(data[:2], []byte{0xFF, markerDNL, 0, 4, 0, 88}, data[2:])
	for i, odd := range [][]byte{scan, lines} {
		h := header(t, odd)
		if _, usual := h.Usual(); usual || !h.Odd || Check(odd, h) != nil {
			t.Errorf("%d: %+v", i, h)
		}
		r := Request{Format: RGB, Denom: 1}
		for _, set := range []*Set{ownSet, backends(t)["turbo"]} {
			if set != nil && !bytes.Equal(decodeWith(t, set, odd, r), decodeWith(t, set, data, r)) {
				t.Errorf("%d: other pixels", i)
			}
		}
	}
}

// TestShortJFIF: a JFIF segment that is cut short does not make colours YCbCr, as it doesn't for
// libjpeg.
func TestShortJFIF(t *testing.T) {
	const jfif = "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
	turbo := backends(t)["turbo"]
	for _, name := range []string{"made-component-ids-rgb.jpg", "made-adobe-rgb-transform-0.jpg"} {
		data := testImage(t, name)
		for n, want := range map[int]ColorSpace{5: ColorRGB, 13: ColorRGB, 14: ColorYCbCr} {
			other := slices.Concat(data[:2], []byte{0xFF, markerAPP0, 0, byte(2 + n)}, []byte(jfif[:n]), data[2:])
			if got := header(t, other).ColorSpace; got != want {
				t.Errorf("%s with %d bytes of JFIF: colour space %d, want %d", name, n, got, want)
			}
			r := Request{Format: RGB, Denom: 1}
			if turbo != nil && !bytes.Equal(decodeWith(t, ownSet, other, r), decodeWith(t, turbo, other, r)) {
				t.Errorf("%s with %d bytes of JFIF: other pixels than libjpeg-turbo's", name, n)
			}
		}
	}
}

func TestParseHeaderRefuses(t *testing.T) {
	sof := func(m byte, rest string) string {
		return "\xFF" + string([]byte{m, 0, byte(len(rest) + 2)}) + rest
	}
	tests := []struct {
		name, data string
		want       error
		says       string
	}{
		{"nothing", "", ErrDamaged, "no start of image"},
		{"something else", "GIF89a", ErrDamaged, "no start of image"},
		{"only a start", "\xFF\xD8\xFF", ErrDamaged, "inside a marker"},
		{"an end without a scan", "\xFF\xD8\xFF\xD9", ErrDamaged, "without any scan"},
		{"two starts", "\xFF\xD8\xFF\xD8\xFF\xD9", ErrDamaged, "second start"},
		{"segment without its length", "\xFF\xD8\xFF\xE0\x00", ErrDamaged, "ends inside the segment"},
		{"segment of no length", "\xFF\xD8\xFF\xE0\x00\x00\x00\x00", ErrDamaged, "says that it has 0 bytes"},
		{"segment past the end", "\xFF\xD8\xFF\xE0\x00\x10....", ErrDamaged, "runs past the end"},
		{"no marker", "\xFF\xD8\xFF\xE0\x00\x02abc", ErrDamaged, "where a marker should be"},
		{"reserved marker", "\xFF\xD8" + sof(0x06, "JFIF"), ErrDamaged, "no meaning"},
		{"extension marker", "\xFF\xD8" + sof(0xF0, "JFIF"), ErrDamaged, "no meaning"},
		{"scan before frame", "\xFF\xD8" + sof(0xDA, "\x01\x01\x00\x00\x3F\x00"), ErrDamaged, "before any frame"},
		{"empty frame", "\xFF\xD8" + sof(0xC0, "\x08\x00\x10\x00\x00\x01\x01\x11\x00"), ErrDamaged, "a frame of 0x16"},
		{"height to come", "\xFF\xD8" + sof(0xC0, "\x08\x00\x00\x00\x10\x01\x01\x11\x00"), ErrUnsupported, "DNL"},
		{"five components", "\xFF\xD8" + sof(0xC0, "\x08\x00\x10\x00\x10\x05"+strings.Repeat("\x01\x11\x00", 5)), ErrUnsupported, "5 components"},
		{"components missing", "\xFF\xD8" + sof(0xC0, "\x08\x00\x10\x00\x10\x03\x01\x11\x00"), ErrDamaged, "frame header"},
		{"sampling 0", "\xFF\xD8" + sof(0xC0, "\x08\x00\x10\x00\x10\x01\x01\x00\x00"), ErrDamaged, "sampling 0x0"},
		{"twins", "\xFF\xD8" + sof(0xC0, "\x08\x00\x10\x00\x10\x02\x01\x11\x00\x01\x11\x00"), ErrDamaged, "both called"},
		{"two frames", "\xFF\xD8" + strings.Repeat(sof(0xC0, "\x08\x00\x10\x00\x10\x01\x01\x11\x00"), 2), ErrDamaged, "second frame"},
	}
	for _, test := range tests {
		_, err := ParseHeader([]byte(test.data))
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestScaled(t *testing.T) {
	h := Header{Width: 17, Height: 8}
	for denom, want := range map[int][2]int{1: {17, 8}, 2: {9, 4}, 4: {5, 2}, 8: {3, 1}} {
		if w, ht := h.Scaled(denom); [2]int{w, ht} != want {
			t.Errorf("1/%d: %dx%d", denom, w, ht)
		}
	}
}
