package jpeg

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

var update = flag.Bool("update", false, "write the golden hashes of decoded pictures with libjpeg-turbo")

// ownSet is the decoder of this package alone.
var ownSet = &Set{decoders: []decoder{own{}}, encoder: ownEncoder{}}

// imageFiles are the files of the repository's own images and photographs.
func imageFiles(tb testing.TB) []string {
	var files []string
	for _, glob := range []string{"../../../testdata/pictures/*.j*", "../../../testdata/demo/photos/*/*.jpg"} {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) == 0 {
			tb.Fatal("no pictures", err)
		}
		files = append(files, found...)
	}
	return files
}

// comparable says whether data is a sound image of which libjpeg-turbo makes what the own
// decoder does.
func comparable(turbo *Set, data []byte) (*Header, bool) {
	h, err := ParseHeader(data)
	if err != nil || !h.Huffman() || turbo.Supports(&h) != nil {
		return nil, false
	}
	c := takeChecker()
	c.reset(data, &h)
	defer c.release()
	if c.run() != nil {
		return nil, false
	}
	// libjpeg smoothes progressive images that lack their last scans.
	for _, p := range c.planes[:h.N] {
		for _, precision := range p.precision[:10] {
			if h.Progressive() && precision != 0 {
				return nil, false
			}
		}
	}
	return &h, true
}

// eachForm calls f for every form in which a set decodes an image to pixels.
func eachForm(s *Set, h *Header, f func(r Request)) {
	for _, denom := range []int{1, 2, 4, 8} {
		for _, format := range []Format{Gray, RGB} {
			if s.Reduces(h, format, denom) {
				f(Request{Format: format, Denom: denom})
			}
		}
	}
}

// golden holds a line for each image and form with the hash of what libjpeg-turbo 2.1.5 made
// of it.
const golden = "../../../testdata/jpeg/decoded.txt"

// goldenLine decodes an image.
func goldenLine(t *testing.T, s *Set, file string, r Request) string {
	sum := sha256.Sum256(decodeWith(t, s, read(t, file), r))
	return fmt.Sprintf("%s 1/%d %s %x", strings.TrimPrefix(filepath.ToSlash(file), "../../../testdata/"), r.Denom, [...]string{"gray", "rgb"}[r.Format], sum[:6])
}

// TestGolden compares with the hashes of what libjpeg-turbo made.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	lines := strings.Split(strings.TrimSpace(string(read(t, golden))), "\n")
	for _, line := range lines {
		var file, format, hash string
		var r Request
		if _, err := fmt.Sscanf(line, "%s 1/%d %s %s", &file, &r.Denom, &format, &hash); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if format == "rgb" {
			r.Format = RGB
		}
		if got := goldenLine(t, ownSet, "../../../testdata/"+file, r); got != line {
			t.Errorf("decoded %s, libjpeg-turbo's is %s", got, hash)
		}
	}
	if len(lines) < 500 {
		t.Errorf("%d lines: too few to prove anything", len(lines))
	}
}

// writeGolden asks libjpeg-turbo.
func writeGolden(t *testing.T) {
	turbo := backends(t)["turbo"]
	if turbo == nil {
		t.Fatal("the hashes are libjpeg-turbo's")
	}
	var text strings.Builder
	for _, file := range imageFiles(t) {
		if h, ok := comparable(turbo, read(t, file)); ok {
			eachForm(turbo, h, func(r Request) { fmt.Fprintln(&text, goldenLine(t, turbo, file, r)) })
		}
	}
	if err := os.WriteFile(golden, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOwnEqualsTurbo decodes what both read to the same bytes, in planes as in pixels.
func TestOwnEqualsTurbo(t *testing.T) {
	race.Skip(t)
	turbo := backends(t)["turbo"]
	if turbo == nil {
		t.Skip("without libjpeg-turbo")
	}
	type image struct {
		what string
		data []byte
	}
	var images []image
	for i, data := range corruptedImages(t) { // many of which are sound all the same
		images = append(images, image{fmt.Sprintf("picture %d", i), data})
	}
	files := imageFiles(t)
	for _, glob := range []string{"../../../../shared/data/photos/*/*1.jpg", "../../../../shared/data/odd/*.j*"} { // if they are next to the checkout
		found, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		images = append(images, image{filepath.Base(file), read(t, file)})
	}
	images = torture.Sample(t, len(images)/3, images)
	compared := 0
	for _, im := range images {
		what, data := im.what, im.data
		h, ok := comparable(turbo, data)
		if !ok || h.Width*h.Height > 1<<20 {
			continue
		}
		eachForm(turbo, h, func(r Request) {
			if got, want := decodeWith(t, ownSet, data, r), decodeWith(t, turbo, data, r); !bytes.Equal(got, want) {
				largest, rms := distance(got, want)
				t.Errorf("%s in format %d at 1/%d: %.2f off, %d at most; %s", what, r.Format, r.Denom, rms, largest, h.coding())
			}
			compared++
			if _, ok := turbo.Planes(h); !ok || r.Format != RGB {
				return
			}
			got, want := planesWith(t, ownSet, data, r.Denom), planesWith(t, turbo, data, r.Denom)
			for i := range got.Pix {
				w, ht := got.size(i)
				for y := range ht {
					if !bytes.Equal(got.Pix[i][y*got.Stride[i]:][:w], want.Pix[i][y*want.Stride[i]:][:w]) {
						t.Errorf("%s at 1/%d: row %d of plane %d", what, r.Denom, y, i)
						break
					}
				}
			}
		})
	}
	t.Logf("%d images and forms compared", compared)
	if compared < len(images) {
		t.Errorf("%d images and forms compared: too few to prove anything", compared)
	}
}
