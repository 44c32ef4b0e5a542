package imagefile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	reference "golang.org/x/image/tiff"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/codec/tiff"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// TestTIFF decodes files of all kinds to the pixels that were written, and as
// golang.org/x/image/tiff does where that reads them.
func TestTIFF(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{FloatRange: testRange})
	read := 0
	files := torture.Sample(t, 500, torture.Seeds(2000, 20_000))
	for _, i := range files {
		r := rand.New(rand.NewPCG(i, 2))
		s, at := randomTIFF(r)
		file := s.write(r, at)
		var im bitmap.Image
		if _, err := c.Decode(&im, file, DecodeOptions{Channels: 3}); err != nil {
			t.Fatalf("file %d: %v; %+v", i, err, s)
		}
		for y := range s.height {
			for x := range s.width {
				if got, want := [3]byte(im.Pix[y*im.Stride+3*x:]), s.rgb(at(x, y)); got != want {
					t.Fatalf("file %d: %v at %d,%d of %dx%d, want %v; %+v", i, got, x, y, s.width, s.height, want, s)
				}
			}
		}
		checkDeepTIFF(t, c, file, &s, at)
		m, err := reference.Decode(bytes.NewReader(file))
		if err != nil || s.float || s.difference && !tiff.HasPredictor(s.compression) {
			continue
		}
		read++
		var theirs bitmap.Image
		h := header{Info: Info{Format: sniff.TIFF, Width: s.width, Height: s.height}}
		if err := c.convert(&theirs, m, &h, 3); err != nil || !bytes.Equal(im.Pix, theirs.Pix) {
			t.Fatalf("file %d: other pixels than golang.org/x/image/tiff's, or %v; %+v", i, err, s)
		}
	}
	if read < len(files)/4 {
		t.Errorf("golang.org/x/image/tiff read %d files: too few to prove anything", read)
	}
}

// checkDeepTIFF checks that a file of 16 bits a sample keeps all of them in a PNG.
func checkDeepTIFF(t *testing.T, c *Codec, file []byte, s *tiffSpec, at pixel) {
	t.Helper()
	data, info, err := c.AppendDeepPNG(nil, file)
	if info.Deep != (s.bits == 16) || info.Deep != (err == nil) {
		t.Fatalf("deep: %t, %v; %+v", info.Deep, err, s)
	}
	if err != nil {
		return
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for y := range s.height {
		for x := range s.width {
			r, g, b, _ := m.At(x, y).RGBA()
			if got, want := [3]uint16{uint16(r), uint16(g), uint16(b)}, s.deepRGB(at(x, y)); got != want {
				t.Fatalf("%v at %d,%d, want %v; %+v", got, x, y, want, s)
			}
		}
	}
}

// TestTIFFFloats: the range maps to the levels, its ends included, and nothing is guessed without
// one.
func TestTIFFFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	inf := float32(math.Inf(1))
	row := []float32{-inf, -1, -0.5, 0, 0.25, 0.5, 1, 2, inf}
	s := tiffSpec{order: binary.LittleEndian, width: len(row), height: 1, photometric: tiff.BlackIsZero, bits: 32, samples: 1, float: true, compression: tiff.None}
	file := s.write(r, func(x, y int) []uint32 { return []uint32{math.Float32bits(row[x])} })
	for _, test := range []struct {
		ends [2]float64
		want []byte
	}{
		{[2]float64{0, 1}, []byte{0, 0, 0, 0, 64, 128, 255, 255, 255}},
		{[2]float64{-1, 1}, []byte{0, 0, 64, 128, 159, 191, 255, 255, 255}},
		{[2]float64{0, 255}, []byte{0, 0, 0, 0, 0, 1, 1, 2, 255}},
	} {
		var im bitmap.Image
		if _, err := newCodec(t, CodecOptions{FloatRange: &test.ends}).Decode(&im, file, DecodeOptions{}); err != nil || !bytes.Equal(im.Pix, test.want) {
			t.Errorf("%v: %v, %v, want %v", test.ends, im.Pix, err, test.want)
		}
	}
	if _, err := newCodec(t, CodecOptions{}).Decode(new(bitmap.Image), file, DecodeOptions{}); !errors.Is(err, sniff.ErrUnsupported) || !strings.Contains(err.Error(), "CodecOptions.FloatRange") {
		t.Errorf("without a range: %v", err)
	}
	row[4] = float32(math.NaN())
	file = s.write(r, func(x, y int) []uint32 { return []uint32{math.Float32bits(row[x])} })
	if _, err := newCodec(t, CodecOptions{FloatRange: testRange}).Decode(new(bitmap.Image), file, DecodeOptions{}); !errors.Is(err, sniff.ErrDamaged) || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN: %v", err)
	}
	for _, ends := range [][2]float64{{1, 1}, {1, 0}, {math.NaN(), 1}, {0, math.Inf(1)}, {-1e308, 1e308}} {
		if _, err := NewCodec(CodecOptions{FloatRange: &ends}); err == nil {
			t.Errorf("the range %v was accepted", ends)
		}
	}
}

// TestTIFFDamaged: what is wrong with a file is found, before memory is taken for what is not
// there.
func TestTIFFDamaged(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	r := rand.New(rand.NewPCG(3, 4))
	flat := func(x, y int) []uint32 { return []uint32{uint32(x), 0, 0} }
	gray := tiffSpec{order: binary.LittleEndian, width: 100, height: 100, photometric: tiff.BlackIsZero, bits: 8, samples: 1, compression: tiff.Deflate}
	with := func(change func(s *tiffSpec)) tiffSpec {
		s := gray
		change(&s)
		return s
	}
	set := func(tag int, values ...int) tiffSpec {
		return with(func(s *tiffSpec) { s.change = func(tags map[int][]int) { tags[tag] = values } })
	}
	for name, test := range map[string]struct {
		spec tiffSpec
		want error
		says string
	}{
		"cut":                 {with(func(s *tiffSpec) { s.cutShort = true }), sniff.ErrDamaged, "unexpected EOF"},
		"cut, uncompressed":   {with(func(s *tiffSpec) { s.cutShort, s.compression = true, tiff.None }), sniff.ErrDamaged, "unexpected EOF"},
		"cut, LZW":            {with(func(s *tiffSpec) { s.cutShort, s.compression = true, tiff.LZW }), sniff.ErrDamaged, "unexpected EOF"},
		"cut, run lengths":    {with(func(s *tiffSpec) { s.cutShort, s.compression = true, tiff.PackBits }), sniff.ErrDamaged, "unexpected EOF"},
		"checksum":            {with(func(s *tiffSpec) { s.badSums = true }), sniff.ErrDamaged, "checksum"},
		"shared strips":       {with(func(s *tiffSpec) { s.shareBlocks, s.blockHeight = true, 10 }), sniff.ErrDamaged, "two blocks begin at byte 8"},
		"shared tiles":        {with(func(s *tiffSpec) { s.shareBlocks, s.tiled, s.blockWidth, s.blockHeight = true, true, 16, 16 }), sniff.ErrDamaged, "two blocks"},
		"too few strips":      {set(tiff.TagStripRows, 1), sniff.ErrDamaged, "100 blocks"},
		"no strips":           {set(tiff.TagStripOffsets), sniff.ErrDamaged, "the offsets of 0"},
		"strips past the end": {set(tiff.TagStripOffsets, 1<<30), sniff.ErrDamaged, "unexpected EOF"},
		"palette too small":   {with(func(s *tiffSpec) { s.photometric, s.palette = tiff.Palette, make([]uint16, 30) }), sniff.ErrDamaged, "of a palette of 10"},
		"no palette":          {set(tiff.TagPhotometric, tiff.Palette), sniff.ErrDamaged, "of a palette of 0"},
		"tiny tiles":          {set(tiff.TagTileWidth, 1), sniff.ErrDamaged, "tiles of 1x0"},
		"bits of others":      {set(tiff.TagBits, 8, 8), sniff.ErrDamaged, "the bits of 2"},
		"fax with eight bits": {set(tiff.TagCompression, tiff.Group4), sniff.ErrDamaged, "fax coding"},
		"JPEG":                {set(tiff.TagCompression, 7), sniff.ErrUnsupported, "compression 7"},
		"planes":              {set(tiff.TagPlanar, 2), nil, ""}, // of one sample
		"planes of three": {with(func(s *tiffSpec) {
			s.change = func(tags map[int][]int) {
				tags[tiff.TagPlanar], tags[tiff.TagSamples], tags[tiff.TagBits] = []int{2}, []int{3}, []int{8}
			}
		}), sniff.ErrUnsupported, "plane of its own"},
		"predictor of floats": {set(tiff.TagPredictor, 3), sniff.ErrUnsupported, "predictor 3"},
		"signed":              {set(tiff.TagFormat, 2), sniff.ErrUnsupported, "signed samples"},
		"unknown format":      {set(tiff.TagFormat, 4), sniff.ErrUnsupported, "sample format 4"},
		"floats of 8 bits":    {set(tiff.TagFormat, 3), sniff.ErrUnsupported, "floats of 8 bits"},
		"two formats": {with(func(s *tiffSpec) {
			s.photometric, s.samples = tiff.RGB, 3
			s.change = func(tags map[int][]int) { tags[tiff.TagFormat] = []int{1, 3, 1} }
		}), sniff.ErrUnsupported, "samples of formats 1 and 3"},
		"bits in other order": {set(tiff.TagFillOrder, 2), sniff.ErrUnsupported, "fill order 2"},
		"samples of two kinds": {with(func(s *tiffSpec) {
			s.change = func(tags map[int][]int) { tags[tiff.TagSamples], tags[tiff.TagBits] = []int{2}, []int{8, 4} }
		}), sniff.ErrUnsupported, "8 and of 4 bits"},
		"65535 samples": {set(tiff.TagSamples, 65535), sniff.ErrUnsupported, "65535 samples"},
		"YCbCr":         {set(tiff.TagPhotometric, 6), sniff.ErrUnsupported, "photometric interpretation 6"},
	} {
		_, err := c.Decode(new(bitmap.Image), test.spec.write(r, flat), DecodeOptions{})
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, test.want, test.says)
		}
	}
}

// TestTIFFFax decodes what libtiff made of three rows of 16 pixels, "1" for white: a white run is
// white in one photometric interpretation, and black in the other (TIFF 6.0, section 10).
func TestTIFFFax(t *testing.T) {
	rows := []string{"1111100011111111", "0000000000000000", "1010101010101010"}
	for _, test := range []struct {
		compression, photometric, options int
		data                              string
		unsupported                       bool
	}{
		{compression: tiff.Group3, photometric: tiff.WhiteIsZero, data: "001ca60026a0b8008e8743a1d0e8743a1d00"},
		{compression: tiff.Group3, photometric: tiff.BlackIsZero, data: "001353814006a0013543a1d0e8743a1d0e87"},
		{compression: tiff.Group4, photometric: tiff.WhiteIsZero, data: "3949a82eca1ca1ca1ca1ca1ca1c250010010"},
		{compression: tiff.Group4, photometric: tiff.BlackIsZero, data: "26a66051280dc9aa23a23a23a23a23a23a0940040040"},
		{compression: tiff.Group3, photometric: tiff.WhiteIsZero, options: tiff.FaxTwoDimensions, data: "001e5300113505c0063a1d0e8743a1d0e874", unsupported: true},
		{compression: tiff.Group3, photometric: tiff.WhiteIsZero, options: tiff.FaxFill, data: "0001ca60013505c0011d0e8743a1d0e8743a", unsupported: true},
	} {
		data, err := hex.DecodeString(test.data)
		if err != nil {
			t.Fatal(err)
		}
		file := append([]byte("MM\x00*\x00\x00\x00\x00"), data...)
		file = (&tiffSpec{order: binary.BigEndian}).directory(file, map[int][]int{
			tiff.TagWidth: {16}, tiff.TagHeight: {3}, tiff.TagBits: {1}, tiff.TagSamples: {1}, tiff.TagStripRows: {3}, tiff.TagStripOffsets: {8}, tiff.TagStripSizes: {len(data)},
			tiff.TagCompression: {test.compression}, tiff.TagPhotometric: {test.photometric}, tiff.TagFax: {test.options},
		})
		var im bitmap.Image
		_, err = newCodec(t, CodecOptions{}).Decode(&im, file, DecodeOptions{})
		if test.unsupported {
			if !errors.Is(err, sniff.ErrUnsupported) || !strings.Contains(err.Error(), "fax coding") {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", test, err)
		}
		for y, row := range rows {
			for x, c := range row {
				if got, want := im.Row(y)[x], byte(255*(c-'0')); got != want {
					t.Fatalf("%+v: %d at %d,%d, want %d", test, got, x, y, want)
				}
			}
		}
	}
}

// TestTIFFPadding: tiles may reach beyond the image, not many times its size.
func TestTIFFPadding(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{})
	r := rand.New(rand.NewPCG(5, 6))
	flat := func(x, y int) []uint32 { return []uint32{uint32(y)} }
	for _, test := range []struct {
		w, h, tile int
		ok         bool
	}{{1, 1, 256, true}, {100, 3000, 512, true}, {3, 40_000, 256, true}, {1, 40_000, 512, false}, {10_000, 2, 2048, false}} {
		s := tiffSpec{
			order: binary.BigEndian, width: test.w, height: test.h, photometric: tiff.BlackIsZero, bits: 8, samples: 1,
			compression: tiff.Deflate, tiled: true, blockWidth: test.tile, blockHeight: test.tile,
		}
		_, err := c.Decode(new(bitmap.Image), s.write(r, flat), DecodeOptions{})
		if test.ok != (err == nil) || err != nil && !(errors.Is(err, sniff.ErrDamaged) && strings.Contains(err.Error(), "tiles of")) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// FuzzTIFF compares with golang.org/x/image/tiff: what both read has the same pixels, except for
// faxes where black is 0, which it inverts, and predictors that it undoes where there are none.
func FuzzTIFF(f *testing.F) {
	seeds(f, "*.tif*")
	r := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		s, at := randomTIFF(r)
		f.Add(s.write(r, at))
	}
	c, err := NewCodec(CodecOptions{MaxPixels: 1 << 16, FloatRange: testRange})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := c.header(data)
		if err != nil || h.Format != sniff.TIFF {
			return
		}
		d, _ := tiff.Open(data)
		compression := d.Number(tiff.TagCompression, tiff.None)
		if d.Number(tiff.TagPredictor, 1) == tiff.Difference && !tiff.HasPredictor(compression) {
			return
		}
		fax := slices.Contains([]int{tiff.Group3, tiff.Group4}, compression)
		var ours, theirs bitmap.Image
		if err := c.decode(&ours, data, &h, DecodeOptions{Channels: 3}); err != nil {
			mustWrap(t, err)
			return
		}
		var m image.Image
		func() {
			defer func() { _ = recover() }()
			m, _ = reference.Decode(bytes.NewReader(data))
		}()
		if m == nil || d.Number(tiff.TagFormat, tiff.Whole) == tiff.Float || c.convert(&theirs, m, &h, 3) != nil {
			return
		}
		if fax && d.Number(tiff.TagPhotometric, 0) == tiff.BlackIsZero {
			for i := range theirs.Pix {
				theirs.Pix[i] = 255 - theirs.Pix[i]
			}
		}
		if !bytes.Equal(ours.Pix, theirs.Pix) {
			t.Errorf("%dx%d: other pixels than golang.org/x/image/tiff's", h.Width, h.Height)
		}
	})
}
