//go:build !noasm

package jpeg

import "testing"

// TestWithoutAVX512 repeats tests of colours as on a processor that lacks AVX-512.
func TestWithoutAVX512(t *testing.T) {
	if !hasAVX512 {
		t.Skip("so it is everywhere else")
	}
	defer func() { hasAVX512 = true }()
	hasAVX512 = false
	for name, test := range map[string]func(*testing.T){
		"ConvertRow": TestConvertRow, "RowReference": TestRowReference, "PlanarRGBBytes": TestPlanarRGBBytes,
		"PlanarRGBReference": TestPlanarRGBReference,
	} {
		t.Run(name, test)
	}
}
