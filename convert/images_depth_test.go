package convert

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// deepPNG draws a gray image of 16 bits that differs for every n.
func deepPNG(n int) []byte {
	im := image.NewGray16(image.Rect(0, 0, 5, 4))
	for i := range 20 {
		im.SetGray16(i%5, i/5, color.Gray16{Y: uint16(n*977 + i*2311)})
	}
	return testpng.Encode(im)
}

// describedImage returns the type and encoding of images in a set, as the manifest and features.json
// have them.
func describedImage(t *testing.T, out, key string) string {
	t.Helper()
	m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, manifest.TFDSFeaturesFile))
	if err != nil {
		t.Fatal(err)
	}
	var tfds struct {
		Dict struct {
			Features map[string]struct {
				Image struct {
					DType    string `json:"dtype"`
					Encoding string `json:"encodingFormat"`
				} `json:"image"`
			} `json:"features"`
		} `json:"featuresDict"`
	}
	if err := json.Unmarshal(data, &tfds); err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Features {
		is := tfds.Dict.Features[f.Key].Image
		if f.Key == key && f.DType == is.DType && f.Encoding == is.Encoding {
			return f.DType + " " + f.Encoding
		}
	}
	t.Fatalf("%s: the manifest has %+v, %s %s", key, m.Features, manifest.TFDSFeaturesFile, data)
	return ""
}

// TestDepthOfSets: a set is of 16 bits only if all of its images are, in every run that leads to
// these images, and a note counts those that lose bits.
func TestDepthOfSets(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "deep"), t.TempDir()
	for i := range 8 {
		put(t, src, fmt.Sprintf("a/%d.png", i), deepPNG(i))
	}
	var notes []string
	o := ImageOptions{Options: Options{Shards: 2, Note: func(s string) { notes = append(notes, s) }}, Rename: map[string]string{imagekey.Encoded: "picture"}}
	check := func(want string, status Status, noted string) {
		t.Helper()
		notes = nil
		if s := mustImages(t, src, out, o); s.Status != status || s.Narrowed != 0 {
			t.Errorf("%+v", s)
		}
		if got := describedImage(t, out, "picture"); got != want {
			t.Errorf("described as %s, want %s", got, want)
		}
		if all := strings.Join(notes, "; "); noted == "" && all != "" || !strings.Contains(all, noted) {
			t.Errorf("noted %q, want %q", all, noted)
		}
	}
	check("uint16 png", Written, "")
	if got := records(t, out, "train")["a/3.png"]["picture"].([][]byte)[0]; !bytes.Equal(got, deepPNG(3)) {
		t.Error("an image of 16 bits is not stored as it is")
	}
	check("uint16 png", UpToDate, "")
	put(t, src, "a/9.png", pngOf(9))
	check("uint8 jpeg", Updated, "8 of 9 images have 16 bits a sample")
	if err := os.RemoveAll(filepath.Join(out, shard.StateDir)); err != nil {
		t.Fatal(err)
	}
	check("uint8 jpeg", UpToDate, "8 of 9 images") // known from the manifest alone
	if err := os.Remove(filepath.Join(src, "a/9.png")); err != nil {
		t.Fatal(err)
	}
	check("uint16 png", Updated, "")

	tasks := t.TempDir()
	for i := range 2 {
		o.Task = &Task{Index: i, Count: 2}
		mustImages(t, src, tasks, o)
	}
	mustFinalize(t, tasks)
	sameSet(t, contents(t, tasks), contents(t, out))
}

// TestNarrowed: what loses bits is counted in summaries and noted, for kept shards as well.
func TestNarrowed(t *testing.T) {
	src := filepath.Join(t.TempDir(), "deep")
	for i := range 6 {
		put(t, src, fmt.Sprintf("a/%d.png", i), deepPNG(i))
		put(t, src, fmt.Sprintf("b/%d.png", i), pngOf(i))
	}
	floats := filepath.Join(t.TempDir(), "floats")
	float, err := os.ReadFile("../testdata/pictures/made-float.tiff")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, floats, fmt.Sprintf("a/%d.tiff", i), float)
		put(t, floats, fmt.Sprintf("b/%d.png", i), pngOf(i))
	}
	policy, err := augment.ParsePolicy("mixup")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    ImageOptions
		want int64
	}{
		"floats":         {ImageOptions{Codec: augment.CodecOptions{FloatRange: &[2]float64{-1, 300.5}}}, 3},
		"resized floats": {ImageOptions{Codec: augment.CodecOptions{FloatRange: &[2]float64{0, 1}}, Resize: augment.ResizeSpec{Square: 3, NoAntialias: true}}, 3},
		"resized":        {ImageOptions{Resize: augment.ResizeSpec{Square: 3, NoAntialias: true}}, 6},
		"png":            {ImageOptions{Encode: EncodeSpec{Format: PNG}}, 6},
		"float32":        {ImageOptions{Encode: EncodeSpec{Format: Float32}}, 6},
		"kept":           {ImageOptions{}, 0},
		"unchecked":      {ImageOptions{Encode: EncodeSpec{NoCheck: true}}, 0},
		"mixed":          {ImageOptions{Augment: AugmentSpec{Policy: policy, KeepOriginal: true}, Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			for _, status := range []Status{Written, UpToDate} {
				var notes []string
				c.o.Note = func(s string) { notes = append(notes, s) }
				c.o.Shards = 3
				from := src
				if c.o.Codec.FloatRange != nil {
					from = floats
				}
				s := mustImages(t, from, out, c.o)
				if c.want < 0 && s.Narrowed > 12 { // 6 originals of 12, and more variants than these have such partners
					c.want = s.Narrowed
				}
				if s.Status != status || s.Narrowed != c.want {
					t.Errorf("%+v, want %d narrowed", s, c.want)
				}
				noted := strings.Contains(strings.Join(notes, "; "), fmt.Sprintf("%d images reduced to 8 bits a sample", c.want))
				accounted := slices.ContainsFunc(s.LeftOut, func(l LeftOut) bool { return l.Reason == "narrowed" && l.Count == c.want })
				if noted != (c.want > 0) || accounted != noted {
					t.Errorf("noted %q, account %+v", notes, s.LeftOut)
				}
				if got := describedImage; c.o.Encode.Format != Float32 && got(t, out, imagekey.Encoded) == "uint16 png" {
					t.Error("described as images of 16 bits")
				}
				if err := os.RemoveAll(filepath.Join(out, shard.StateDir)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestAlphaDropped draws images of 8 and 16 bits, gray and in colours, with an alpha channel, a
// transparent colour or neither: those that lose it are counted and noted, for kept shards as well, and
// none with a background.
func TestAlphaDropped(t *testing.T) {
	rng := torture.Rand(t)
	src, want := filepath.Join(t.TempDir(), "alpha"), int64(0)
	for i := range 24 {
		kind, bits := rng.IntN(5), 8<<rng.IntN(2)
		put(t, src, fmt.Sprintf("c/%d.png", i), plainPNG(rng, []byte{0, 2, 4, 6, 0}[kind], byte(bits), kind == 4))
		if kind >= 2 {
			want++
		}
	}
	background := [3]uint8{1, 2, 3}
	for name, c := range map[string]struct {
		o    ImageOptions
		want int64
	}{
		"kept":       {ImageOptions{}, want},
		"raw":        {ImageOptions{Encode: EncodeSpec{Format: Raw}}, want},
		"resized":    {ImageOptions{Resize: augment.ResizeSpec{Square: 3, NoAntialias: true}}, want},
		"background": {ImageOptions{Codec: augment.CodecOptions{Background: &background}}, 0},
	} {
		out := t.TempDir()
		for _, status := range []Status{Written, UpToDate} {
			said := notes(&c.o.Options)
			c.o.Shards = 3
			s := mustImages(t, src, out, c.o)
			if s.Status != status || s.AlphaDropped != c.want {
				t.Errorf("%s: %+v, want %d without alpha", name, s, c.want)
			}
			if noted := strings.Contains(strings.Join(*said, "; "), fmt.Sprintf("colour of %s dropped", plural.Of(c.want, "image"))); noted != (c.want > 0) {
				t.Errorf("%s: noted %q", name, *said)
			}
		}
	}
}

// plainPNG draws a PNG of 4x3 random pixels of a kind (0 gray, 2 RGB, 4 and 6 with alpha), with black as
// transparent colour or without.
func plainPNG(rng *rand.Rand, kind, bits byte, transparent bool) []byte {
	const w, h = 4, 3
	row := 1 + w*[]int{1, 0, 3, 0, 2, 0, 4}[kind]*int(bits)/8
	var pixels bytes.Buffer
	z := zlib.NewWriter(&pixels)
	for range h {
		b := make([]byte, row)
		for i := range b[1:] {
			b[1+i] = byte(rng.Uint32())
		}
		_, _ = z.Write(b)
	}
	z.Close()
	file := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, data []byte) {
		file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
		data = append([]byte(name), data...)
		file = binary.BigEndian.AppendUint32(append(file, data...), crc32.ChecksumIEEE(data))
	}
	chunk("IHDR", []byte{0, 0, 0, w, 0, 0, 0, h, bits, kind, 0, 0, 0})
	if transparent {
		chunk("tRNS", []byte{0, 0})
	}
	chunk("IDAT", pixels.Bytes())
	chunk("IEND", nil)
	return file
}

// grayTIFF draws a gray image of 4x2 pixels with an orientation, whose samples are the upper bits of
// the same values.
func grayTIFF(depth, orientation int) []byte {
	le := binary.LittleEndian
	file := []byte("II*\x00\x00\x00\x00\x00")
	for i := range 8 {
		if v := uint16(i*7919 + 300); depth == 16 {
			file = le.AppendUint16(file, v)
		} else {
			file = append(file, byte(v>>8))
		}
	}
	le.PutUint32(file[4:], uint32(len(file)))
	tags := [][2]int{{256, 4}, {257, 2}, {258, depth}, {259, 1}, {262, 1}, {273, 8}, {274, orientation}, {277, 1}, {278, 2}, {279, depth}}
	file = le.AppendUint16(file, uint16(len(tags)))
	for _, tag := range tags {
		file = le.AppendUint16(le.AppendUint16(file, uint16(tag[0])), 4)
		file = le.AppendUint32(le.AppendUint32(file, 1), uint32(tag[1]))
	}
	return append(file, 0, 0, 0, 0)
}

// TestDeepIsUpright: an image that becomes a PNG of 16 bits is stored as shown, with its boxes and
// masks, as those of 8 bits are.
func TestDeepIsUpright(t *testing.T) {
	for orientation := 1; orientation <= 8; orientation++ {
		var got [2]map[string]any
		for i, depth := range []int{8, 16} {
			dir := t.TempDir()
			put(t, dir, "src/x.tif", grayTIFF(depth, orientation))
			mask := image.NewGray(image.Rect(0, 0, 4, 2))
			mask.Pix[1], mask.Pix[6] = 7, 9
			if orientation >= 5 {
				mask.Rect, mask.Stride = image.Rect(0, 0, 2, 4), 2
			}
			put(t, dir, "masks/x.png", testpng.Encode(mask))
			put(t, dir, "a.json", fmt.Appendf(nil, `{"images": [{"id": 1, "file_name": "x.tif", "width": %d, "height": %d}],
				"categories": [{"id": 1, "name": "dot"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 0, 1, 2], "area": 2, "iscrowd": 0}]}`,
				mask.Rect.Dx(), mask.Rect.Dy()))
			o := with(filepath.Join(dir, "a.json"), ImageOptions{})
			o.Annotations.Masks = filepath.Join(dir, "masks")
			out := t.TempDir()
			mustImages(t, filepath.Join(dir, "src"), out, o)
			got[i] = records(t, out, "train")["x.tif"]
			stored, err := png.Decode(bytes.NewReader(got[i][imagekey.Encoded].([][]byte)[0]))
			if err != nil {
				t.Fatal(err)
			}
			if _, deep := stored.(*image.Gray16); deep != (depth == 16) {
				t.Errorf("%d bits are stored as %T", depth, stored)
			}
			var pixels []byte
			for k := range stored.Bounds().Dx() * stored.Bounds().Dy() {
				v, _, _, _ := stored.At(k%stored.Bounds().Dx(), k/stored.Bounds().Dx()).RGBA()
				pixels = append(pixels, byte(v>>8))
			}
			got[i]["pixels"] = pixels
			delete(got[i], imagekey.Encoded)
			delete(got[i], objects.KeySHA256)
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("orientation %d, 8 and 16 bits differ:\n%s", orientation, diff)
		}
	}
}
