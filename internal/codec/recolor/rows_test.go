package recolor

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestTurnRow: a row is turned as its pixels are, one by one.
func TestTurnRow(t *testing.T) {
	race.Skip(t)
	row, got := make([]uint8, 3*256), make([]uint8, 3*256)
	for r := 0; r < 256; r += 3 {
		for g := range 256 {
			for b := range 256 {
				row[3*b], row[3*b+1], row[3*b+2] = uint8(r), uint8(g), uint8(b)
			}
			turn := uint8(7*r + 13*g)
			turnRow(got, row, turn)
			for b := range 256 {
				wr, wg, wb := turnHue(uint8(r), uint8(g), uint8(b), turn)
				if p := got[3*b:]; p[0] != wr || p[1] != wg || p[2] != wb {
					t.Fatalf("%d,%d,%d turned by %d is %v, want %d,%d,%d", r, g, b, turn, p[:3], wr, wg, wb)
				}
			}
		}
	}
}

// TestTurnRowRounds: adding a half rounds as nearest8 does whatever levels there may be between
// the largest and the smallest, which the assembly relies on.
func TestTurnRowRounds(t *testing.T) {
	into := map[float32]bool{}
	for _, w := range wheel {
		into[w.at] = true
	}
	tables := hueTables()
	check := func(v float64) {
		if got := uint8(v + 0.5); got != nearest8(v) {
			t.Fatalf("%v is rounded to %d and to %d", v, got, nearest8(v))
		}
	}
	for _, s := range tables.part {
		for most := range 256 {
			check(float64(float64(most) * (1 - float64(s))))
		}
		for at := range into {
			for most := range 256 {
				check(float64(float64(most) * (1 - float64(float32(s*at)))))
				check(float64(float64(most) * (1 - float64(float64(s)*(1-float64(at))))))
			}
		}
	}
}

// TestColorRowReference compares the assembly with its reference implementation on rows of all
// lengths.
func TestColorRowReference(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for n := 1; n < 200; n++ {
		src := imagetest.Noise(n, 1, 3).Pix
		if n%3 == 0 {
			for i := range src {
				src[i] = uint8(int8(src[i]) >> 7)
			}
		}
		checkColorRowReference(t, src, [...]float64{0, 1, 1e6, 3 * r.Float64(), r.Float64()}[r.IntN(5)])
	}
}

// FuzzColorRowReference is TestColorRowReference for any rows.
func FuzzColorRowReference(f *testing.F) {
	for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 33} {
		f.Add(imagetest.Noise(n, 1, 3).Pix, 1.3)
	}
	f.Fuzz(func(t *testing.T, src []byte, factor float64) {
		if len(src) >= 3 && factor >= 0 && factor <= 1e6 {
			checkColorRowReference(t, src[:len(src)/3*3], factor)
		}
	})
}

// checkColorRowReference takes a row of RGB, in place, too. Nothing after the results may be
// written.
func checkColorRowReference(t *testing.T, src []uint8, factor float64) {
	t.Helper()
	n := len(src) / 3
	var b Blender
	b.Fill(factor)
	fast, plain := bytes.Repeat([]uint8{9}, 3*n+40), bytes.Repeat([]uint8{9}, 3*n+40)
	saturateRow(fast[:3*n], src, &b)
	saturateRowPlain(plain[:3*n], src, &b)
	if !bytes.Equal(fast, plain) {
		t.Fatalf("%d pixels mixed with factor %v: other bytes", n, factor)
	}
	inPlace := slices.Clone(src)
	saturateRow(inPlace, inPlace, &b)
	if !bytes.Equal(inPlace, plain[:3*n]) {
		t.Fatalf("%d pixels mixed in place with factor %v: other bytes", n, factor)
	}
	turn := uint8(int(factor*100) + n)
	turnRow(fast[:3*n], src, turn)
	hueTables().turnRowPlain(plain[:3*n], src, turn)
	if !bytes.Equal(fast, plain) {
		t.Fatalf("%d pixels turned by %d: other bytes", n, turn)
	}
	inPlace = slices.Clone(src)
	turnRow(inPlace, inPlace, turn)
	if !bytes.Equal(inPlace, plain[:3*n]) {
		t.Fatalf("%d pixels turned in place by %d: other bytes", n, turn)
	}
	LuminanceRow(fast[:n], src)
	luminanceRowPlain(plain[:n], src)
	if !bytes.Equal(fast[:n], plain[:n]) || fast[n] != plain[n] {
		t.Fatalf("%d levels of gray: other bytes", n)
	}
	inPlace = slices.Clone(src)
	LuminanceRow(inPlace[:n], inPlace)
	if !bytes.Equal(inPlace[:n], plain[:n]) {
		t.Fatalf("%d levels of gray in place: other bytes", n)
	}
}

// TestLuminanceRow: every colour has the level of gray that luminance says.
func TestLuminanceRow(t *testing.T) {
	row, got := make([]uint8, 3*256), make([]uint8, 256)
	for r := 0; r < 256; r++ {
		for g := r % 3; g < 256; g += 3 {
			for b := range 256 {
				row[3*b], row[3*b+1], row[3*b+2] = uint8(r), uint8(g), uint8(b)
			}
			LuminanceRow(got, row)
			for b, v := range got {
				if want := Luminance(uint8(r), uint8(g), uint8(b)); v != want {
					t.Fatalf("%d,%d,%d is %d, want %d", r, g, b, v, want)
				}
			}
		}
	}
}
