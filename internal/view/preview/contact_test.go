package preview

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestContacts looks where on a sheet images and texts are.
func TestContacts(t *testing.T) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 13 {
		var red augment.Image
		red.Reset(100, 50, 3)
		for j := range red.Pix {
			red.Pix[j] = []uint8{200, uint8(i), 0}[j%3]
		}
		records = append(records, previewtest.Example(previewtest.EncodePNG(t, &red), fmt.Sprintf("folder/%d.png", i), "łabel", nil))
	}
	records = append(records, previewtest.Example([]byte("none"), "bad.png", "x", nil))
	path := filepath.Join(dir, "a.tfrecord")
	previewtest.WriteFile(t, path, tfrecord.CompressionNone, records...)
	sum, err := stats.Inspect(t.Context(), []string{path}, stats.InspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o, out := options(t), filepath.Join(dir, "sheet.png")
	report, err := WriteContacts(t.Context(), sum, out, o)
	if err != nil {
		t.Fatal(err)
	}
	if *report != (ContactReport{Images: 13, Unreadable: 1, Records: 14}) {
		t.Errorf("report %+v", *report)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var im augment.Image
	if _, err := o.Codec.Decode(&im, data, augment.DecodeOptions{}); err != nil {
		t.Fatal(err)
	}
	if w, h := perRow*(sample.CellSide+cellGap)+cellGap, 2*(cellHeight+cellGap)+cellGap; im.Width != w || im.Height != h {
		t.Fatalf("the sheet is %d x %d, want %d x %d", im.Width, im.Height, w, h)
	}
	pixel := func(x, y int) [3]uint8 { return [3]uint8(im.Row(y)[3*x:]) }
	for i := range 13 {
		x, y := cellGap+i%perRow*(sample.CellSide+cellGap), cellGap+i/perRow*(cellHeight+cellGap)
		if got, want := pixel(x+sample.CellSide/2, y+sample.CellSide/2), [3]uint8{200, uint8(i), 0}; got != want {
			t.Errorf("image %d is %v in its middle, want %v", i, got, want)
		}
		if got := pixel(x+sample.CellSide/2-51, y+sample.CellSide/2); got != [3]uint8{0xf0, 0xf0, 0xf0} {
			t.Errorf("beside image %d is %v", i, got)
		}
		dark := 0
		for ty := y + sample.CellSide + 4; ty < y+cellHeight; ty++ {
			for tx := x; tx < x+sample.CellSide; tx++ {
				if pixel(tx, ty)[0] < 0x80 {
					dark++
				}
			}
		}
		if dark < 100 {
			t.Errorf("beneath image %d are %d dark pixels: no text", i, dark)
		}
	}
	if _, err := WriteContacts(t.Context(), sum, out, o); err != nil {
		t.Errorf("the same sheet again: %v", err)
	}
	o.Samples = 2
	if _, err := WriteContacts(t.Context(), sum, out, o); err == nil {
		t.Error("a sheet takes the place of another")
	}
}

// TestImagesInLists shows the first image of a list, and labels by their ids.
func TestImagesInLists(t *testing.T) {
	dir := t.TempDir()
	var b tfrecord.SequenceBuilder
	b.Context.Int64("video/label", 3)
	b.Context.String("id", "clip-7")
	b.Bytes("frames", previewtest.EncodePNG(t, previewtest.Noise(1, 20, 10, 3)))
	b.Bytes("frames", previewtest.EncodePNG(t, previewtest.Noise(2, 20, 10, 3)))
	previewtest.WriteFile(t, filepath.Join(dir, "a.tfrecord"), tfrecord.CompressionNone, b.Append(nil))
	page, report := writePage(t, dir, options(t))
	if report.Images != 1 {
		t.Errorf("%d images, want 1", report.Images)
	}
	for _, want := range []string{"clip-7", `alt="3: clip-7"`, "20 × 10 PNG", "2 steps, first: PNG"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
