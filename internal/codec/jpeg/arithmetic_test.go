package jpeg

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
)

// arithmeticSet is libjpeg-turbo, with arithmetic coding allowed.
func arithmeticSet(tb testing.TB) *Set {
	tb.Helper()
	set := backends(tb)["turbo"]
	if set == nil {
		tb.Skip("without libjpeg-turbo")
	}
	set.Arithmetic = true
	return set
}

// hostile reads an image of testdata/hostile.
func hostile(tb testing.TB, name string) []byte {
	tb.Helper()
	return read(tb, filepath.Join("../../../testdata/hostile", name))
}

// decodeGray decodes an image to gray, whatever its size.
func decodeGray(s *Set, data []byte) error {
	h, err := ParseHeader(data)
	if err != nil {
		return err
	}
	return s.Decode(make([]byte, h.Width*h.Height), h.Width, data, &h, Request{Format: Gray, Denom: 1})
}

// TestArithmeticRefused: unless it is allowed, no set reads arithmetic coding.
func TestArithmeticRefused(t *testing.T) {
	for name, set := range backends(t) {
		for _, file := range []string{"../pictures/ljt-testimgari.jpg", "ari-cut-10.jpg", "arith-seq-4.jpg"} {
			if err := decodeGray(set, hostile(t, file)); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "CodecOptions.AllowArithmetic") {
				t.Errorf("%s, %s: %v", name, file, err)
			}
		}
	}
}

// TestArithmetic decodes arithmetic coding: whole, cut without an end, without tables.
func TestArithmetic(t *testing.T) {
	set := arithmeticSet(t)
	data := testImage(t, "ljt-testimgari.jpg")
	decodeWith(t, set, data, Request{Format: RGB, Denom: 1})
	for _, n := range []int{len(data) - 2, len(data) / 2, len(data) - 500} {
		if err := decodeGray(set, data[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	table := bytes.Index(data, []byte{0xFF, markerDQT})
	n := 2 + int(data[table+2])<<8 + int(data[table+3])
	bare := append(bytes.Clone(data[:table]), data[table+n:]...)
	if err := decodeGray(set, bare); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "quantisation table 0") {
		t.Errorf("without quantisation tables: %v", err)
	}
}

// TestArithmeticWork: what asks for more work than its data can be worth is refused at once, and
// without memory for its pixels.
func TestArithmeticWork(t *testing.T) {
	for _, file := range []string{"arith-seq-4.jpg", "arith-prog-4-dc-14.jpg", "arith-prog-gray-ac-101.jpg"} {
		data := hostile(t, file)
		began := cpuload.Used()
		allocated := testing.AllocsPerRun(1, func() {
			if err := Check(data, header(t, data)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "too few") {
				t.Errorf("%s: %v", file, err)
			}
		})
		if took := cpuload.Used() - began; took > 20*time.Second || allocated > 100 {
			t.Errorf("%s: %v and %.0f allocations", file, took, allocated)
		}
	}
}

// flatArithmetic makes a progressive gray image of that size in arithmetic coding, all gray: scans
// need no data for that. It has scans of details, each followed by a number of bytes.
func flatArithmetic(w, h, details, bytesEach int) []byte {
	start := slices.Concat([]byte{0xFF, markerSOI, 0xFF, markerDQT, 0, 67, 0}, bytes.Repeat([]byte{16}, 64),
		[]byte{0xFF, 0xCA, 0, 11, 8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 1, 1, 0x11, 0},
		[]byte("\xFF\xDA\x00\x08\x01\x01\x00\x00\x00\x00\x00"))
	for k := range details {
		band := byte(1 + k%63)
		start = slices.Concat(start, []byte{0xFF, markerSOS, 0, 8, 1, 1, 0, band, band, 0}, make([]byte, bytesEach))
	}
	return append(start, 0xFF, markerEOI)
}

// TestArithmeticScans: libjpeg-turbo never gets an image that makes it process many blocks again
// and again, whether the scans repeat or not.
func TestArithmeticScans(t *testing.T) {
	set := arithmeticSet(t)
	for _, test := range []struct {
		w, h, scans, bytes int
		want               string
	}{
		{16, 16, 10, 0, ""},
		{16, 16, 63, 0, ""},
		{16, 16, 64, 0, "does not continue coefficient 1"},
		{8000, 8000, 0, 0, ""},
		{8000, 8000, 10, 0, "too few"},
		{8000, 8000, 10, 63_000, ""},
	} {
		data := flatArithmetic(test.w, test.h, test.scans, test.bytes)
		err := Check(data, header(t, data))
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v", test, err)
		}
		if test.w < 100 {
			if decoded := decodeGray(set, data); (decoded == nil) != (err == nil) {
				t.Errorf("%+v: the check says %v, decoding %v", test, err, decoded)
			}
		}
	}
}

// TestArithmeticChecked corrupts what can be checked around arithmetic-coded data.
func TestArithmeticChecked(t *testing.T) {
	data := testImage(t, "ljt-testimgari.jpg")
	scan := firstScan(t, data)
	sos := bytes.LastIndex(data[:scan], []byte{0xFF, markerSOS})
	insert := func(at int, b ...byte) []byte { return slices.Concat(data[:at], b, data[at:]) }
	for name, test := range map[string]struct {
		data []byte
		says string
	}{
		"restart marker without interval": {insert(scan+1000, 0xFF, markerRST0), "where none such belongs"},
		"restart marker missing":          {insert(sos, 0xFF, markerDRI, 0, 4, 0, 1), "restart marker 0 is missing"},
		"bad conditioning":                {insert(sos, 0xFF, markerDAC, 0, 4, 0x00, 0x1D), "conditioning"},
		"conditioning cut short":          {insert(sos, 0xFF, markerDAC, 0, 3, 0x00), "cut short"},
		"no end":                          {data[:len(data)-2], "the file ends"},
		"scan repeated":                   {slices.Concat(data[:len(data)-2], data[sos:]), "a second time"},
	} {
		err := Check(test.data, header(t, test.data))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, test.says)
		}
	}
	if err := Check(data, header(t, data)); err != nil {
		t.Errorf("as it is: %v", err)
	}
}
