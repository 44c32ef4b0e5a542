package imagefile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// oddImage is a line of INDEX.tsv: an image and what Pillow makes of it, upright and in RGB.
type oddImage struct {
	file, category string
	refused        bool // Pillow gives an error
	width, height  int
	mean           [3]float64
}

// readIndex reads INDEX.tsv in a directory of images, and skips the test where there is none.
func readIndex(t *testing.T, dir string) []oddImage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "INDEX.tsv"))
	if os.IsNotExist(err) {
		t.Skipf("no %s here", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []oddImage
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		p := oddImage{file: columns[0], category: columns[1]}
		if verdict := columns[len(columns)-1]; strings.HasPrefix(verdict, "error") {
			p.refused = true
		} else if _, err := fmt.Sscanf(verdict, "ok %dx%d mean=%f,%f,%f", &p.width, &p.height, &p.mean[0], &p.mean[1], &p.mean[2]); err != nil {
			t.Fatalf("%s: %q: %v", p.file, verdict, err)
		}
		list = append(list, p)
	}
	return list
}

// deviations are the images that are not damaged in Pillow's eyes and come out otherwise
// than Pillow's, with the reason.
var deviations = map[string]string{
	"goimage-video-001-gray-16bit.tiff": "16 bits scale to 8, Pillow clips",
	"pillow-16bit.cropped.tif":          "16 bits scale to 8, Pillow clips",
	"pillow-i_trns.png":                 "16 bits scale to 8, Pillow clips",
	"pngsuite-basn0g16.png":             "16 bits scale to 8, Pillow clips",

	"jpegdecoder-partial_progressive.jpg":    "a scan ends too early",
	"jpegdecoder-progressive-missing-dc.jpg": "a scan is missing",
	"made-dri-no-rst.jpg":                    "restart markers missing",
	"made-many-scans.jpg":                    "scans repeated",
	"made-rst-missing.jpg":                   "restart marker missing",
	"made-rst-segment-missing.jpg":           "restart marker missing",
	"made-rst-wrong-number.jpg":              "restart marker out of order",
	"made-sampling-3x1.jpg":                  "the header lies, so the data don't add up",

	"made-float.tiff":       "floats have no range unless it is given",
	"pillow-no_palette.gif": "image/gif wants a colour table",
	"ljt-testimgari.jpg":    "arithmetic coding has to be allowed",
}

// readAnyway are those that Pillow refuses and that are read here, with the reason.
var readAnyway = map[string]string{
	"pillow-png_decompression_dos.png": "the text that would unpack to gigabytes is skipped",
}

// TestOddImages compares size and mean colour with Pillow's, for every image of the repository's
// own set and of the larger one next to the checkout.
func TestOddImages(t *testing.T) {
	race.Skip(t)
	for _, dir := range []string{"../../../testdata/pictures", "../../../../shared/data/odd"} {
		for _, decoder := range []string{"auto", "go"} {
			t.Run(filepath.Base(dir)+"/"+decoder, func(t *testing.T) { oddImages(t, decoder, dir) })
		}
	}
}

func oddImages(t *testing.T, decoder, dir string) {
	codec, err := NewCodec(CodecOptions{Decoder: decoder})
	if err != nil {
		t.Fatal(err)
	}
	hasTurbo := decoder != "go" && turboInstalled()
	var im bitmap.Image
	same, total := 0, 0
	for _, p := range readIndex(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, p.file))
		if err != nil {
			t.Fatal(err)
		}
		if !hasTurbo && len(data) > 150<<10 {
			continue // large photographs, sixteen times over: one decoder is enough
		}
		_, err = codec.Decode(&im, data, DecodeOptions{Channels: 3})
		checkVerdicts(t, codec, p.file, data, err)
		if p.refused {
			if err == nil && readAnyway[p.file] == "" {
				t.Errorf("%s was read, which Pillow refuses", p.file)
			}
			continue
		}
		if strings.Contains(p.category, "broken") || strings.Contains(p.category, "fuzzed") || strings.Contains(p.category, "truncated") {
			continue // Pillow fills in what is missing
		}
		total++
		differs := ""
		if err != nil {
			differs = err.Error()
		} else if mean := meanColor(&im); im.Width != p.width || im.Height != p.height || apart(mean, p.mean) > 3 {
			differs = fmt.Sprintf("%dx%d with mean %.1f, want %dx%d with %.1f", im.Width, im.Height, mean, p.width, p.height, p.mean)
		}
		switch expected := deviations[p.file] != ""; {
		case differs == "":
			same++
			if expected {
				t.Errorf("%s is as Pillow's now: strike it off the list", p.file)
			}
		case !expected:
			t.Errorf("%s: %s", p.file, differs)
		}
	}
	t.Logf("%d of %d undamaged images are as Pillow's", same, total)
}

// turboInstalled says whether libjpeg-turbo is installed.
func turboInstalled() bool {
	_, err := NewCodec(CodecOptions{Decoder: "turbo"})
	return err == nil
}

// checkVerdicts compares what Check and Stat say with what Decode said.
func checkVerdicts(t *testing.T, codec *Codec, file string, data []byte, err error) {
	t.Helper()
	known := 0
	for _, sentinel := range []error{sniff.ErrDamaged, sniff.ErrUnsupported, sniff.ErrTooManyPixels, sniff.ErrNotImage} {
		if errors.Is(err, sentinel) {
			known++
		}
	}
	if err != nil && known != 1 {
		t.Errorf("%s: %v wraps %d sentinels", file, err, known)
	}
	if _, checked := codec.Check(data); (checked == nil) != (err == nil) {
		t.Errorf("%s: decoding says %v, the check %v", file, err, checked)
	}
	info, statErr := codec.Stat(data)
	if statErr != nil && err == nil {
		t.Errorf("%s: the header says %v, decoding nothing", file, statErr)
	}
	if info.Keepable && info.Format != sniff.JPEG && info.Format != sniff.PNG {
		t.Errorf("%s: a %s to keep", file, info.Format)
	}
}

func meanColor(im *bitmap.Image) (mean [3]float64) {
	for i, v := range im.Pix {
		mean[i%3] += float64(v)
	}
	for i := range mean {
		mean[i] /= float64(im.Width * im.Height)
	}
	return mean
}

func apart(a, b [3]float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}
