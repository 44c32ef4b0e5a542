package export

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// withOrientation puts an EXIF orientation into a PNG, after its header.
func withOrientation(png []byte, orientation int) []byte {
	exif := []byte("eXIfMM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[23] = byte(orientation)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, exif...), crc32.ChecksumIEEE(exif))
	const header = 33
	return append(append(append([]byte(nil), png[:header]...), chunk...), png[header:]...)
}

// Boxes, masks and sizes are those of the image as programs show it: what decoding makes of an
// object that is drawn in the stored image.
func TestObjectsAreExportedAsShown(t *testing.T) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{40, 30}, {30, 30}} {
		w, h := size[0], size[1]
		mask := augment.Image{Pix: make([]uint8, w*h), Width: w, Height: h, Channels: 1, Stride: w}
		for y := 2; y < 7; y++ {
			for x := 3; x < 13; x++ {
				mask.Pix[y*w+x] = 255
			}
		}
		png, err := augment.AppendPNG(nil, &mask)
		if err != nil {
			t.Fatal(err)
		}
		for orientation := 1; orientation <= 8; orientation++ {
			photo := withOrientation(png, orientation)
			var shown augment.Image
			if _, err := codec.Decode(&shown, photo, augment.DecodeOptions{Channels: 1}); err != nil {
				t.Fatal(err)
			}
			// The smallest box around what is not 0.
			x0, y0, x1, y1 := shown.Width, shown.Height, 0, 0
			for i, v := range shown.Pix {
				if x, y := i%shown.Width, i/shown.Width; v != 0 {
					x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
				}
			}
			in := exporttest.WriteRecords(t, "train.tfrecord", drawn("1.png", w, h, []object{{1, "a", [4]float64{3, 2, 13, 7}}},
				with(imagekey.Encoded, string(photo)), with(objects.KeyMask, string(png)), with(objects.KeySegmentation, string(png))))
			name := fmt.Sprintf("%d x %d, %d", w, h, orientation)
			has := func(format spec.Format, file string, want ...string) (dir string) {
				dir, _ = exportObjects(t, format, in)
				got := contentOf(t, dir, file)
				for _, s := range want {
					if !strings.Contains(got, s) {
						t.Errorf("%s, %s: %s is not in %s", name, format, s, got)
					}
				}
				return dir
			}
			counts := region.AppendCompressed(nil, region.Runs(shown.Pix, shown.Width, shown.Height))
			has(spec.COCO, "annotations/instances_train.json", fmt.Sprintf(`"width":%d,"height":%d`, shown.Width, shown.Height),
				fmt.Sprintf(`"bbox":[%d,%d,%d,%d],"area":50`, x0, y0, x1-x0, y1-y0), fmt.Sprintf(`"size":[%d,%d],"counts":%q`, shown.Height, shown.Width, counts))
			dir := has(spec.VOC, "Annotations/1.xml", fmt.Sprintf("<width>%d</width>\n\t\t<height>%d</height>", shown.Width, shown.Height),
				fmt.Sprintf("<xmin>%d</xmin>\n\t\t\t<ymin>%d</ymin>\n\t\t\t<xmax>%d</xmax>\n\t\t\t<ymax>%d</ymax>", x0, y0, x1, y1))
			var semantic augment.Image
			if _, err := codec.DecodeMask(&semantic, []byte(contentOf(t, dir, "SegmentationClass/1.png"))); err != nil || string(semantic.Pix) != string(shown.Pix) || semantic.Width != shown.Width {
				t.Errorf("%s: the semantic mask differs: %v", name, err)
			}
			dir, _ = exportObjects(t, spec.YOLO, in)
			var class int
			var cx, cy, bw, bh float64
			line := contentOf(t, dir, "labels/train/1.txt")
			if _, err := fmt.Sscan(line, &class, &cx, &cy, &bw, &bh); err != nil {
				t.Fatal(err)
			}
			for _, c := range [][3]float64{{cx - bw/2, float64(x0), float64(shown.Width)}, {cy - bh/2, float64(y0), float64(shown.Height)},
				{cx + bw/2, float64(x1), float64(shown.Width)}, {cy + bh/2, float64(y1), float64(shown.Height)}} {
				if d := c[0]*c[2] - c[1]; d < -1e-4 || d > 1e-4 {
					t.Errorf("%s: yolo has %s, %v of %v", name, line, c[0]*c[2], c[1])
				}
			}
		}
	}
}
