package voc

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
	"github.com/tfrec/tfrec/internal/dev/testpng"
)

// put writes a file below a directory.
func put(t *testing.T, data []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// xmlOf is an annotation of n objects, whose number bad, from 1, has no box.
func xmlOf(n, bad int) []byte {
	var b strings.Builder
	b.WriteString("<annotation>")
	for i := range n {
		box := "<bndbox><xmin>0</xmin><ymin>0</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
		if i+1 == bad {
			box = ""
		}
		fmt.Fprintf(&b, "<object><name>c%d</name>%s</object>", i%3, box)
	}
	return []byte(b.String() + "</annotation>")
}

// paletted is a PNG of pixels with a palette, and gray one without.
func paletted(t *testing.T, pix []uint8, w, h int) []byte {
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = color.RGBA{uint8(i), 0, 0, 255}
	}
	return testpng.Encode(&image.Paletted{Pix: pix, Stride: w, Rect: image.Rect(0, 0, w, h), Palette: palette})
}

func gray(t *testing.T, pix []uint8, w, h int) []byte {
	return testpng.Encode(&image.Gray{Pix: pix, Stride: w, Rect: image.Rect(0, 0, w, h)})
}

// TestMasks draws random masks: the region of each object is where its number is, whatever directory
// is read.
func TestMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 31))
	for range 60 {
		root := t.TempDir()
		w, h, n := 1+r.IntN(12), 1+r.IntN(12), 1+r.IntN(5)
		bad := r.IntN(n + 1)
		pix := make([]uint8, w*h)
		for i := range pix {
			if pix[i] = uint8(r.IntN(n + 2)); pix[i] == uint8(n+1) {
				pix[i] = void
			}
		}
		file := paletted
		if r.IntN(2) == 0 {
			file = gray
		}
		put(t, xmlOf(n, bad), root, "Annotations", "a", "1.xml")
		put(t, file(t, pix, w, h), root, "SegmentationObject", "a", "1.png")
		dir := []string{root, filepath.Join(root, "Annotations"), filepath.Join(root, "Annotations", "a")}[r.IntN(3)]
		set, err := Read(context.Background(), dir, annotation.Options{Regions: true})
		if err != nil {
			t.Fatal(err)
		}
		im := &set.Images[0]
		if im.Unreadable != "" || len(set.Faults) > 0 || len(set.Beside) != 1 {
			t.Fatalf("got %+v", set)
		}
		var want []string // objects, the masks of some of which are missing
		masks := 0
		for i := range n {
			if i+1 != bad {
				want = append(want, fmt.Sprintf("object %d", i+1))
				if slices.Contains(pix, uint8(i+1)) {
					masks++
				}
			}
		}
		var got []string
		for _, o := range im.Objects {
			got = append(got, o.Name)
		}
		if !slices.Equal(got, want) || masks+len(im.Faults) != n {
			t.Errorf("pixels of %v: got %v, %v", want, got, im.Faults)
		}
		for _, o := range im.Objects {
			var number uint8
			if _, err := fmt.Sscanf(o.Name, "object %d", &number); err != nil || int(number) == bad {
				t.Fatalf("object %q, of which %d is bad: %v", o.Name, bad, err)
			}
			if o.Region == nil {
				missing := annotation.Fault{Name: o.Name, Source: im.Source, Reason: "SegmentationObject/a/1.png has no pixels of it", Part: annotation.PartMask}
				if !o.NoMask || slices.Contains(pix, number) || !slices.Contains(im.Faults, missing) {
					t.Errorf("%s has no region: %+v", o.Name, im.Faults)
				}
				continue
			}
			want := make([]uint8, w*h)
			for i, v := range pix {
				if v == number {
					want[i] = 1
				}
			}
			got := make([]uint8, w*h)
			if err := region.Fill(got, w, h, o.Region); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: got %v, %v; want %v", o.Name, got, err, want)
			}
		}
		if set, err = Read(context.Background(), dir, annotation.Options{}); err != nil || set.Beside != nil || slices.ContainsFunc(set.Images[0].Objects, func(o annotation.Object) bool { return o.Region != nil }) {
			t.Errorf("without regions: %+v, %v", set, err)
		}
	}
}

// TestOddMasks: what cannot be used has a name and a reason.
func TestOddMasks(t *testing.T) {
	huge := paletted(t, []uint8{1}, 1, 1)
	huge = slices.Concat(huge[:16], []byte{0, 0x10, 0, 0, 0, 0x10, 0, 0}, huge[24:])
	for _, c := range []struct {
		name        string
		mask        []byte
		all, reason string // faults of all masks, or of object 3
	}{
		{"one object more", gray(t, []uint8{1, 2, 3, 255}, 2, 2), "", "SegmentationObject/1.png has pixels of it, and the annotation no such object"},
		{"no PNG", []byte("\xff\xd8 a JPEG"), "SegmentationObject/1.png: it cannot be read as a PNG", ""},
		{"cut short", gray(t, make([]uint8, 400), 20, 20)[:50], "SegmentationObject/1.png: it cannot be read as a PNG", ""},
		{"colours", testpng.Encode(image.NewRGBA(image.Rect(0, 0, 2, 2))), "SegmentationObject/1.png: want a PNG with a palette, or grayscale", ""},
		{"16 bits", testpng.Encode(image.NewGray16(image.Rect(0, 0, 2, 2))), "SegmentationObject/1.png: want a PNG with a palette, or grayscale", ""},
		{"a bomb", huge, "SegmentationObject/1.png: it ", ""},
	} {
		root := t.TempDir()
		put(t, xmlOf(2, 0), root, "Annotations", "1.xml")
		put(t, c.mask, root, "SegmentationObject", "1.png")
		put(t, paletted(t, []uint8{0}, 1, 1), root, "SegmentationObject", "other.png")
		set, err := Read(context.Background(), filepath.Join(root, "Annotations"), annotation.Options{Regions: true})
		if err != nil {
			t.Fatal(err)
		}
		im := &set.Images[0]
		if im.Unreadable != "" || len(im.Objects) != 2 || len(im.Faults) != 1 {
			t.Fatalf("%s: got %+v", c.name, im)
		}
		if c.all != "" {
			if f := im.Faults[0]; !strings.HasPrefix(f.Reason, c.all) || f.Name != "" || f.Part != annotation.PartMask || !im.Objects[0].NoMask || !im.Objects[1].NoMask {
				t.Errorf("%s: got %+v", c.name, im)
			}
			continue
		}
		if reason := ""; c.reason != "" || len(im.Faults) > 0 {
			if len(im.Faults) == 1 {
				reason = im.Faults[0].Reason
			}
			if reason != c.reason || im.Faults[0].Name != "object 3" {
				t.Errorf("%s: got %v", c.name, im.Faults)
			}
		}
		if len(set.Faults) != 1 || set.Faults[0].Source != "SegmentationObject/other.png" {
			t.Errorf("%s: got %v", c.name, set.Faults)
		}
	}
}

// TestMasksWithoutAnnotations: PNGs without an XML are named, up to a limit, and not decoded.
func TestMasksWithoutAnnotations(t *testing.T) {
	const more = 7
	root := t.TempDir()
	put(t, xmlOf(1, 0), root, "Annotations", "1.xml")
	put(t, gray(t, []uint8{1}, 1, 1), root, "SegmentationObject", "1.png")
	for i := range maxStrangers + more {
		put(t, []byte("no PNG"), root, "SegmentationObject", fmt.Sprintf("other%04d.png", i))
	}
	set, err := Read(context.Background(), filepath.Join(root, "Annotations"), annotation.Options{Regions: true})
	if err != nil {
		t.Fatal(err)
	}
	if im := set.Images[0]; len(im.Objects) != 1 || im.Unreadable != "" {
		t.Errorf("got %+v", im)
	}
	if len(set.Faults) != maxStrangers+1 {
		t.Fatalf("%d faults, want %d", len(set.Faults), maxStrangers+1)
	}
	for i, f := range set.Faults[:maxStrangers] {
		want := annotation.Fault{Source: fmt.Sprintf("SegmentationObject/other%04d.png", i), Reason: "a mask of objects without an annotation of its name"}
		if f != want {
			t.Fatalf("got %+v, want %+v", f, want)
		}
	}
	want := annotation.Fault{Source: "SegmentationObject", Reason: "7 more masks of objects without annotations of their names"}
	if last := set.Faults[maxStrangers]; last != want {
		t.Errorf("got %+v, want %+v", last, want)
	}
}

// TestMissingMasks: an image may have no PNG, which is one fault of its masks; not all may.
func TestMissingMasks(t *testing.T) {
	for name, c := range map[string]struct {
		annotations string
		objects     int
		masks       []string
		want        string // the error, or the one fault of 1.xml
	}{
		"one":            {"Annotations", 2, []string{"2.png"}, "there is no SegmentationObject/1.png"},
		"all":            {"Annotations", 2, nil, "no PNG with the masks of objects is in ROOT/SegmentationObject: leave AnnotationSpec.InstanceMasks out"},
		"only a text":    {"Annotations", 2, []string{"2.txt"}, "no PNG with the masks of objects is in ROOT/SegmentationObject: leave"},
		"no Annotations": {"xml", 2, []string{"1.png"}, "ROOT/xml: masks of objects are in SegmentationObject beside a directory Annotations, in which these files are not: leave"},
		"no objects":     {"Annotations", 0, nil, ""},
		"too many":       {"Annotations", 1001, []string{"2.png"}, "there is no SegmentationObject/1.png"},
	} {
		root := t.TempDir()
		put(t, xmlOf(c.objects, 0), root, c.annotations, "1.xml")
		put(t, xmlOf(0, 0), root, c.annotations, "2.xml")
		for _, mask := range c.masks {
			put(t, gray(t, []uint8{0}, 1, 1), root, "SegmentationObject", mask)
		}
		set, err := Read(context.Background(), filepath.Join(root, c.annotations), annotation.Options{Regions: true})
		if want := strings.ReplaceAll(c.want, "ROOT", filepath.ToSlash(root)); err != nil {
			if len(c.masks) > 0 && c.masks[0] == "2.png" || c.want == "" || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		im := &set.Images[0]
		if len(im.Objects) != c.objects || len(im.Faults) != min(c.objects, 1) || im.Unreadable != "" {
			t.Errorf("%s: got %d objects, %d faults, %q", name, len(im.Objects), len(im.Faults), im.Unreadable)
		}
		for _, f := range im.Faults {
			if f.Name != "" || f.Reason != c.want || f.Part != annotation.PartMask || !im.Objects[0].NoMask {
				t.Errorf("%s: got %+v", name, f)
			}
		}
	}
}

// TestKindsOfMasks: each kind of PNG is read as it is or refused, interlaced or not, with or without
// a transparent value.
func TestKindsOfMasks(t *testing.T) {
	const w, h = 5, 3
	samples := map[uint8]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4} // of a pixel, by kind
	for kind, depths := range map[uint8][]uint8{0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}} {
		for _, depth := range depths {
			for i := range 8 {
				interlaced, transparent, late := i&1 != 0, i&2 != 0, i&4 != 0
				if transparent && kind >= 4 {
					continue
				}
				data, want := kindOfPNG(w, h, kind, depth, samples[kind], interlaced, transparent, late)
				var im annotation.Image
				err := parseMask(&im, data)
				good := !late && (kind == 3 || kind == 0 && depth == 8 && !transparent)
				if !good {
					if err == nil || !strings.HasPrefix(err.Error(), "want a PNG with a palette, or grayscale with 8 bits a sample and no transparency") {
						t.Errorf("kind %d of %d bits, %d: %v", kind, depth, i, err)
					}
					continue
				}
				got := make([]uint8, w*h)
				for _, o := range im.Objects {
					one := make([]uint8, w*h)
					var number uint8
					if _, err := fmt.Sscanf(o.Name, "object %d", &number); err != nil {
						t.Fatal(err)
					}
					if err := region.Fill(one, w, h, o.Region); err != nil {
						t.Fatal(err)
					}
					for k, v := range one {
						got[k] += v * number
					}
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("kind %d of %d bits, %d: got %v, %v; want %v", kind, depth, i, got, err, want)
				}
			}
		}
	}
}

// kindOfPNG returns a PNG of a kind and depth, and its pixels, if they have one sample of at most 8
// bits. With late, another chunk is before its header.
func kindOfPNG(w, h int, kind, depth uint8, samples int, interlaced, transparent, late bool) (data, pix []uint8) {
	r := rand.New(rand.NewPCG(uint64(kind), uint64(depth)))
	pix = make([]uint8, w*h)
	for i := range pix {
		pix[i] = uint8(r.IntN(min(6, 1<<min(depth, 8))))
	}
	passes := [][4]int{{0, 0, 1, 1}}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	header = append(header, depth, kind, 0, 0, 0)
	if interlaced {
		header[12] = 1
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var lines bytes.Buffer
	z := zlib.NewWriter(&lines)
	for _, p := range passes {
		for y := p[1]; y < h && p[0] < w; y += p[3] {
			line, bits, n := []byte{0}, 0, 0
			for x := p[0]; x < w; x += p[2] {
				for range samples {
					for bit := int(depth) - 1; bit >= 0; bit-- {
						bits = bits<<1 | int(pix[y*w+x])>>bit&1
						if n++; n == 8 {
							line, bits, n = append(line, byte(bits)), 0, 0
						}
					}
				}
			}
			if n > 0 {
				line = append(line, byte(bits<<(8-n)))
			}
			_, _ = z.Write(line) // to memory
		}
	}
	_ = z.Close()
	data = []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, content []byte) {
		data = binary.BigEndian.AppendUint32(data, uint32(len(content)))
		from := len(data)
		data = append(append(data, name...), content...)
		data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data[from:]))
	}
	if late {
		chunk("teXt", []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x08\x03\x00\x00\x00")) // as in a header
	}
	chunk("IHDR", header)
	if kind == 3 {
		chunk("PLTE", make([]byte, 3<<depth))
	}
	if transparent {
		chunk("tRNS", make([]byte, map[uint8]int{0: 2, 2: 6, 3: 1}[kind]))
	}
	chunk("IDAT", lines.Bytes())
	chunk("IEND", nil)
	return data, pix
}
