package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/tiff"
	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/internal/dev/race"
)

const hostileDir = "../../../testdata/hostile"

// hostileImages are the files of testdata/hostile.
func hostileImages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(hostileDir, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".md" && ext != ".tsv" {
			images = append(images, file)
		}
	}
	if len(images) < 16 {
		t.Fatalf("%d hostile images", len(images))
	}
	return images
}

// verdict is what is said of an image: "ok" and its size, or the reason in the ledger.
func verdict(info Info, err error) string {
	if err != nil {
		return err.Error()
	}
	w, h := info.Oriented()
	return fmt.Sprintf("ok %dx%d", w, h)
}

// cost runs f, and returns how many bytes it allocated and how much CPU the process used. Both are
// 0 under the race detector.
func cost(f func()) (bytes uint64, cpu time.Duration) {
	if race.Enabled {
		f()
		return 0, 0
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cpuload.Used()
	f()
	cpu = cpuload.Used() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, cpu
}

// TestHostile: every decoder has the verdict of VERDICTS.tsv on hostile images, from decoding, from
// checking and from decoding with trust, each within bounds.
func TestHostile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(hostileDir, "VERDICTS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		want[name] = v
	}
	for _, decoder := range []string{"auto", "go", "turbo"} {
		c, err := NewCodec(CodecOptions{Decoder: decoder})
		if err != nil {
			t.Logf("%s: %v", decoder, err)
			continue
		}
		for _, file := range hostileImages(t) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			for way, decode := range map[string]func() (Info, error){
				"decoded":            func() (Info, error) { return c.Decode(new(bitmap.Image), data, DecodeOptions{}) },
				"decoded with trust": func() (Info, error) { return c.Decode(new(bitmap.Image), data, DecodeOptions{Trusted: true}) },
				"reduced": func() (Info, error) {
					return c.Decode(new(bitmap.Image), data, DecodeOptions{MinWidth: 1, MinHeight: 1})
				},
				"checked":            func() (Info, error) { return c.Check(data) },
				"read for a backend": func() (Info, error) { return readJPEG(c, data) },
				"decoded on a colour": func() (Info, error) {
					return withBackground(t, decoder).Decode(new(bitmap.Image), data, DecodeOptions{})
				},
			} {
				var got string
				bytes, cpu := cost(func() { got = verdict(decode()) })
				if got != want[name] && !(way == "read for a backend" && !strings.HasSuffix(name, ".jpg")) {
					t.Errorf("%s: %s, %s: %q, want %q", decoder, name, way, got, want[name])
				}
				if bytes > 600e6 || cpu > 2*time.Second {
					t.Errorf("%s: %s, %s: %d bytes and %v", decoder, name, way, bytes, cpu)
				}
			}
		}
	}
}

// readJPEG reads an image as for a backend that decodes.
func readJPEG(c *Codec, data []byte) (Info, error) {
	info, _, err := CheckJPEG(c, data)
	return info, err
}

func withBackground(t *testing.T, decoder string) *Codec {
	return newCodec(t, CodecOptions{Decoder: decoder, Background: &[3]uint8{1, 2, 3}})
}

// TestHostileArithmetic: where arithmetic coding is allowed, what asks for work out of proportion
// is still refused, on every build, and at once. What was cut out of an image nobody can see.
func TestHostileArithmetic(t *testing.T) {
	for _, decoder := range []string{"auto", "go", "turbo"} {
		c, err := NewCodec(CodecOptions{Decoder: decoder, AllowArithmetic: true})
		if err != nil {
			continue
		}
		reads := decoder == "turbo" || decoder == "auto" && turboInstalled() && os.Getenv("TFREC_NO_TURBO") != "1"
		for name, says := range map[string]string{
			"arith-prog-4-dc-14.jpg": "too few", "arith-prog-gray-ac-101.jpg": "too few", "arith-seq-4.jpg": "too few",
			"ari-cut-10.jpg": "ok 227x149", "../pictures/ljt-testimgari.jpg": "ok 227x149",
		} {
			data, err := os.ReadFile(filepath.Join(hostileDir, name))
			if err != nil {
				t.Fatal(err)
			}
			var got string
			bytes, cpu := cost(func() { got = verdict(c.Decode(new(bitmap.Image), data, DecodeOptions{})) })
			if !reads {
				says = "no decoder here reads "
			}
			if !strings.Contains(got, says) || bytes > 600e6 || cpu > 2*time.Second {
				t.Errorf("%s: %s: %q, %d bytes, %v; want it to say %q", decoder, name, got, bytes, cpu, says)
			}
		}
	}
}

// webpChunks makes a WebP file.
func webpChunks(chunks ...[]byte) []byte {
	file := append([]byte("RIFF\x00\x00\x00\x00WEBP"), slices.Concat(chunks...)...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// TestHostileWebP: the limit applies to the size that is decoded, whatever other chunks say.
func TestHostileWebP(t *testing.T) {
	const flags = 0x12 // animated, with alpha
	header := func(flags byte, w, h int) []byte {
		w, h = w-1, h-1
		return []byte{'V', 'P', '8', 'X', 10, 0, 0, 0, flags, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)}
	}
	huge, small := stillWebP(16384, 16384)[12:], stillWebP(8, 8)[12:]
	alpha := append([]byte("ALPH\x08\x00\x00\x00\x01"), huge[8+5:8+12]...)
	frame := slices.Concat([]byte{0, 0, 0, 0, 0, 0, 7, 0, 0, 7, 0, 0, 0, 0, 0, 0}, huge, small)
	animation := binary.LittleEndian.AppendUint32([]byte("ANMF"), uint32(len(frame)))
	c := newCodec(t, CodecOptions{})
	for name, data := range map[string][]byte{
		"a small header after huge pixels":         webpChunks(huge, header(0, 8, 8)),
		"small pixels after huge ones":             webpChunks(huge, small),
		"a small header after a huge one":          webpChunks(header(16, 16384, 16384), alpha, header(0, 8, 8), small),
		"huge pixels in a small frame":             webpChunks(header(flags, 8, 8), append(animation, frame...)),
		"huge pixels after a small header":         webpChunks(header(0, 8, 8), huge),
		"a huge header alone":                      webpChunks(header(0, 16384, 16384)),
		"a huge header before small pixels":        webpChunks(header(0, 16384, 16384), small),
		"a huge header of an animation, one frame": webpChunks(header(flags, 16384, 16384), append(bytes.Clone(animation), frame...)),
	} {
		var err error
		taken, cpu := cost(func() { _, err = c.Decode(new(bitmap.Image), data, DecodeOptions{}) })
		if err == nil || taken > 10<<20 || cpu > time.Second {
			t.Errorf("%s: %v, %d bytes and %v", name, err, taken, cpu)
		}
	}
	for name, data := range map[string][]byte{
		"pixels":                  webpChunks(small),
		"a header and pixels":     webpChunks(header(0, 8, 8), small),
		"other pixels after them": webpChunks(small, huge),
		"a frame with other pixels after its own": webpChunks(header(flags, 8, 8), func() []byte {
			f := slices.Concat(frame[:16], small, huge)
			return append(binary.LittleEndian.AppendUint32([]byte("ANMF"), uint32(len(f))), f...)
		}()),
	} {
		if info, err := c.Decode(new(bitmap.Image), data, DecodeOptions{}); err != nil || info.Width != 8 {
			t.Errorf("%s: %dx%d, %v", name, info.Width, info.Height, err)
		}
	}
}

// stripsTIFF makes a gray TIFF file of one column of pixels, in strips of one row each. The strips
// begin step bytes apart in data and are of size bytes, as far as the data go.
func stripsTIFF(compression, strips, step, size int, data []byte) []byte {
	var offsets, sizes []int
	for i := range strips {
		offsets = append(offsets, 8+i*step)
		sizes = append(sizes, min(size, len(data)-i*step))
	}
	s := tiffSpec{order: binary.LittleEndian}
	return s.directory(append([]byte("II*\x00\x00\x00\x00\x00"), data...), map[int][]int{
		tiff.TagWidth: {1}, tiff.TagHeight: {strips}, tiff.TagBits: {8}, tiff.TagSamples: {1}, tiff.TagPhotometric: {tiff.BlackIsZero}, tiff.TagCompression: {compression},
		tiff.TagStripRows: {1}, tiff.TagStripOffsets: offsets, tiff.TagStripSizes: sizes,
	})
}

// TestHostileTIFF: codes that yield no pixels take time in proportion to the file, however strips
// share them. A strip may reach a little into the next one, as where a writer rounds sizes up.
func TestHostileTIFF(t *testing.T) {
	race.Skip(t)
	const strips = 1 << 15
	fill := func(code string, n int) []byte { return bytes.Repeat([]byte(code), n) }
	const (
		noOp   = "\x80"                                 // of PackBits
		clears = "\x80\x40\x20\x10\x08\x04\x02\x01\x00" // 8 codes of LZW
		empty  = "\x00\x00\x00\xff\xff"                 // a stored block of deflate
		all    = 1 << 30
	)
	c := newCodec(t, CodecOptions{})
	for name, test := range map[string]struct {
		data []byte
		says string
	}{
		"run lengths of nothing, shared":          {stripsTIFF(tiff.PackBits, strips, 1, all, append(fill(noOp, strips), 0, 77)), "blocks overlap"},
		"run lengths of nothing, shared by parts": {stripsTIFF(tiff.PackBits, strips, 1, 1000, append(fill(noOp, strips), 0, 77)), "blocks overlap"},
		"clear codes, shared":                     {stripsTIFF(tiff.LZW, strips, 9, all, fill(clears, strips)), "blocks overlap"},
		"empty blocks, shared":                    {stripsTIFF(tiff.Deflate, 8192, 7, all, append(fill("\x78\x9c"+empty, 8192), 0)), "blocks overlap"},
		"run lengths of nothing":                  {stripsTIFF(tiff.PackBits, 1, 1, all, fill(noOp, 4<<20)), "unexpected EOF"},
		"clear codes":                             {stripsTIFF(tiff.LZW, 1, 1, all, fill(clears, 1<<19)), "unexpected EOF"},
		"empty blocks":                            {stripsTIFF(tiff.Deflate, 1, 1, all, append([]byte("\x78\x9c"), fill(empty, 1<<20)...)), "unexpected EOF"},
		"small strips":                            {stripsTIFF(tiff.PackBits, strips, 2, 2, fill("\x00\x4d", strips)), ""},
		"sizes that are rounded up":               {stripsTIFF(tiff.PackBits, strips, 2, 4, fill("\x00\x4d", strips)), ""},
		"sizes beyond the strips, uncompressed":   {stripsTIFF(tiff.None, strips, 1, all, fill("\x4d", strips)), ""},
	} {
		var im bitmap.Image
		var err error
		taken, cpu := cost(func() { _, err = c.Decode(&im, test.data, DecodeOptions{}) })
		if test.says == "" && (err != nil || im.Pix[0] != 77) || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
		if limit := time.Second + time.Duration(len(test.data))*time.Microsecond/5; taken > 64<<20 || cpu > limit {
			t.Errorf("%s: %d bytes of file took %d bytes and %v", name, len(test.data), taken, cpu)
		}
	}
}
