package jpeg

import (
	"bytes"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestCheckNames looks at what the check says of images with one known fault.
func TestCheckNames(t *testing.T) {
	tests := []struct{ file, says string }{
		{"made-no-eoi.jpg", "the file ends"},
		{"made-cut-50.jpg", "the file ends"},
		{"made-cut-progressive-50.jpg", "the file ends"},
		{"made-eoi-in-scan.jpg", "data missing"},
		{"made-soi-in-scan.jpg", "data missing"},
		{"made-hole-in-scan.jpg", "data missing"},
		{"made-dri-no-rst.jpg", "surplus"},
		{"made-rst-missing.jpg", "surplus"},
		{"made-rst-wrong-number.jpg", "restart marker 1 is missing or out of order"},
		{"made-rst-segment-missing.jpg", "restart marker 1 is missing or out of order"},
		{"made-sampling-3x1.jpg", "past the end of a block"},
		{"made-dqt-missing.jpg", "quantisation table 0, which is not defined"},
		{"jpegdecoder-progressive-missing-dc.jpg", "before its means"},
		{"jpegdecoder-partial_progressive.jpg", "data missing"},
		{"fuzz-jpeg-44395b2ac5.jpg", "past the end of a block"},
	}
	for _, test := range tests {
		data := testImage(t, test.file)
		err := Check(data, header(t, data))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want it to say %q", test.file, err, test.says)
		}
	}
}

// TestCheckPasses checks sound images, and oddities that are not damage.
func TestCheckPasses(t *testing.T) {
	for _, name := range append([]string{
		"made-trailing-garbage.jpg", "made-two-in-one.jpg", "made-fill-bytes.jpg", "made-dht-missing.jpg",
		"made-1x1.jpg", "made-7x9.jpg", "made-15x33.jpg", "made-17x16.jpg", "go-video-001.221212.jpeg",
		"jpegdecoder-progressive-missing-ac.jpg", "zune-weird_sampling_2.jpeg", "zune-tiny_non_interleaved_444.jpg",
	}, sound...) {
		data := testImage(t, name)
		if err := Check(data, header(t, data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckPhotographs checks all photographs next to the checkout: none is damaged.
func TestCheckPhotographs(t *testing.T) {
	var files []string
	for _, glob := range []string{"../../../testdata/demo/photos/*/*.jpg", "../../../../shared/data/cc0/*.jpg", "../../../../shared/data/photos/*/*.jpg"} {
		found, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		data := read(t, file)
		if err := Check(data, header(t, data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestScansRepeated puts the last scan of a progressive image into it again, many times.
func TestScansRepeated(t *testing.T) {
	data := testImage(t, "made-ok-progressive.jpg")
	last := bytes.LastIndex(data, []byte{0xFF, markerSOS})
	scan := data[last : len(data)-2]
	again := append(bytes.Clone(data[:len(data)-2]), bytes.Repeat(scan, 400)...)
	again = append(again, 0xFF, markerEOI)
	err := Check(again, header(t, again))
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "does not continue") {
		t.Errorf("%v", err)
	}
}

// TestBombs makes sure that a check takes memory for what data there are, not for what a header
// says.
func TestBombs(t *testing.T) {
	for _, name := range []string{"made-bomb-16000x16000.jpg", "made-bomb-65500x65500-progressive.jpg"} {
		data := testImage(t, name)
		h := header(t, data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Check(data, h)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes taken", name, n)
		}
	}
}

func TestStandardTables(t *testing.T) {
	// The sums of codes, and a code of each kind, from ITU-T T.81, tables K.3 to K.6.
	for id, tables := range standardTables {
		for class, table := range tables {
			n := 0
			for _, count := range table[:16] {
				n += int(count)
			}
			if want := []int{12, 162}[class]; n != want || len(table) != 16+n {
				t.Errorf("table %d of class %d: %d codes, %d symbols, want %d", id, class, n, len(table)-16, want)
			}
		}
	}
	var ac huffTable
	ac.set(standardTables[0][1][:16], standardTables[0][1][16:])
	if err := ac.derive(true); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		code   string
		symbol byte
	}{{"1010", 0x00}, {"00", 0x01}, {"11111111001", 0xF0}, {"1111111110000010", 0x09}, {"1111111111111110", 0xFA}} {
		var bits int32
		for _, c := range test.code {
			bits = bits<<1 | (c - '0')
		}
		bits <<= 16 - len(test.code)
		e := ac.one[bits>>(16-lookBits)]
		if e == unknown {
			e = ac.long(bits, true)
		}
		if byte(e>>24) != test.symbol || int(e>>16&0xFF) != len(test.code) {
			t.Errorf("%s: symbol %02X of %d bits, want %02X", test.code, e>>24, e>>16&0xFF, test.symbol)
		}
	}
	if e := ac.long(0xFFFF, true); e != unknown {
		t.Errorf("sixteen ones are %08X", e)
	}
}

func TestBadTables(t *testing.T) {
	for name, counts := range map[string][]byte{
		"three codes of one bit": {3},
		"a code of all ones":     {2},
		"too many of two bits":   {1, 3},
	} {
		var table huffTable
		spec := make([]byte, 16)
		n := 0
		for i, c := range counts {
			spec[i] = c
			n += int(c)
		}
		table.set(spec, make([]byte, n))
		if err := table.derive(true); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
