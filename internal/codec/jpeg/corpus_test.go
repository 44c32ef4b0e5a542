package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// image reads a sound or odd image of the repository's own set.
func testImage(tb testing.TB, name string) []byte {
	tb.Helper()
	return read(tb, filepath.Join("../../../testdata/pictures", name))
}

func read(tb testing.TB, file string) []byte {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// header parses the header of an image whose header is sound.
func header(tb testing.TB, data []byte) *Header {
	tb.Helper()
	h, err := ParseHeader(data)
	if err != nil {
		tb.Fatal(err)
	}
	return &h
}

// backends gives a set for each backend alone, and libjpeg-turbo's only when it can be loaded.
func backends(tb testing.TB) map[string]*Set {
	sets := map[string]*Set{
		"own": ownSet,
		"std": {decoders: []decoder{stdDecoder{}}, encoder: ownEncoder{}},
	}
	if s, err := Open(Turbo); err == nil {
		sets["turbo"] = &Set{decoders: s.decoders[:1], encoder: s.encoder}
	} else {
		tb.Logf("without libjpeg-turbo: %v", err)
	}
	return sets
}

// sound are the images that the corpus is made of: every way in which entropy-coded data are laid
// out.
var sound = []string{
	"../demo/photos/tulips/17324469461_2b318aff8d_m.jpg",
	"made-ok-160x88.jpg", "made-ok-progressive.jpg", "made-rst.jpg", "made-rst-rows.jpg", "made-gray.jpg",
	"made-quality-100.jpg", "made-quality-1.jpg", "made-cmyk-adobe.jpg", "made-ycck-adobe.jpg", "made-adobe-rgb-transform-0.jpg",
	"go-video-001.q50.410.jpeg", "go-video-001.q50.411.progressive.jpeg", "go-video-001.q50.422.jpeg", "go-video-001.q50.440.jpeg",
	"go-video-001.separate.dc.progression.jpeg", "jpegdecoder-non-interleaved-mcu.jpg", "zune-non_interleaved_420_64x64.jpg",
}

// damage is one way to corrupt an image. scan is where its first entropy-coded data begin. It
// returns nil if the image cannot be corrupted in that way.
type damage struct {
	name string
	bad  bool // every decoder must see it
	do   func(r *rand.Rand, data []byte, scan int) []byte
}

var damages = []damage{
	{"cut", true, func(r *rand.Rand, data []byte, scan int) []byte {
		return data[:scan+r.IntN(len(data)-1-scan)]
	}},
	{"cut with an end", false, func(r *rand.Rand, data []byte, scan int) []byte {
		at := scan + r.IntN(len(data)-8-scan)
		if data[at-1] == 0xFF {
			at++
		}
		return append(bytes.Clone(data[:at]), 0xFF, markerEOI)
	}},
	{"no end", true, func(_ *rand.Rand, data []byte, _ int) []byte { return data[:len(data)-2] }},
	{"trailing bytes", false, func(r *rand.Rand, data []byte, _ int) []byte {
		return append(bytes.Clone(data), randomBytes(r, 1+r.IntN(100))...)
	}},
	{"fill bytes", false, func(_ *rand.Rand, data []byte, _ int) []byte {
		return append(bytes.Clone(data[:len(data)-2]), 0xFF, 0xFF, 0xFF, 0xFF, markerEOI)
	}},
	{"surplus", true, func(r *rand.Rand, data []byte, _ int) []byte {
		out := bytes.Clone(data[:len(data)-2])
		for range 1 + r.IntN(20) {
			out = append(out, byte(r.IntN(255)))
		}
		return append(out, 0xFF, markerEOI)
	}},
	{"bit flipped", false, func(r *rand.Rand, data []byte, scan int) []byte {
		data = bytes.Clone(data)
		data[scan+r.IntN(len(data)-2-scan)] ^= 1 << r.IntN(8)
		return data
	}},
	{"bytes random", false, func(r *rand.Rand, data []byte, scan int) []byte {
		data = bytes.Clone(data)
		for range 1 + r.IntN(20) {
			data[scan+r.IntN(len(data)-2-scan)] = byte(r.IntN(256))
		}
		return data
	}},
	{"run of bytes random", false, func(r *rand.Rand, data []byte, scan int) []byte {
		data = bytes.Clone(data)
		at := scan + r.IntN(len(data)-2-scan)
		copy(data[at:len(data)-2], randomBytes(r, 200))
		return data
	}},
	{"hole", false, func(r *rand.Rand, data []byte, scan int) []byte {
		at := scan + r.IntN(len(data)-2-scan)
		n := min(1+r.IntN(50), len(data)-2-at)
		return append(bytes.Clone(data[:at]), data[at+n:]...)
	}},
	{"restart marker removed", true, func(r *rand.Rand, data []byte, scan int) []byte {
		at := restartMarkers(data, scan)
		if len(at) == 0 {
			return nil
		}
		i := at[r.IntN(len(at))]
		return append(bytes.Clone(data[:i]), data[i+2:]...)
	}},
	{"restart marker renumbered", true, func(r *rand.Rand, data []byte, scan int) []byte {
		at := restartMarkers(data, scan)
		if len(at) == 0 {
			return nil
		}
		data = bytes.Clone(data)
		i := at[r.IntN(len(at))] + 1
		data[i] = markerRST0 | (data[i]+byte(1+r.IntN(7)))&7
		return data
	}},
	{"restart marker inserted", true, func(r *rand.Rand, data []byte, scan int) []byte {
		at := scan + 1 + r.IntN(len(data)-8-scan)
		if data[at-1] == 0xFF {
			at++
		}
		out := append(bytes.Clone(data[:at]), 0xFF, markerRST0+byte(r.IntN(8)))
		return append(out, data[at:]...)
	}},
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return b
}

// restartMarkers finds the restart markers after the first scan's header.
func restartMarkers(data []byte, scan int) []int {
	var at []int
	for i := scan; i+1 < len(data); i++ {
		if data[i] == 0xFF && data[i+1]&0xF8 == markerRST0 {
			at = append(at, i)
		}
	}
	return at
}

// firstScan finds where the first entropy-coded data begin.
func firstScan(tb testing.TB, data []byte) int {
	tb.Helper()
	for pos := 2; ; {
		m, _, next, err := segment(data, pos)
		if err != nil {
			tb.Fatal(err)
		}
		if m == markerSOS {
			return next
		}
		pos = next
	}
}

// verdict decodes as a user of the package does and says whether the image is damaged.
// ok is false when the set does not read such images at all.
func verdict(tb testing.TB, s *Set, data []byte) (bad, ok bool) {
	tb.Helper()
	h, err := ParseHeader(data)
	if err == nil {
		if s.Supports(&h) != nil {
			return false, false
		}
		err = s.Decode(make([]byte, h.Width*h.Height*3), h.Width*3, data, &h, Request{Format: RGB, Denom: 1})
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		tb.Errorf("%v is no verdict on damage", err)
	}
	return err != nil, true
}

// TestVerdictsAgree corrupts sound images in many ways. All backends must give the same verdict,
// and libjpeg's own warnings, as an independent reference, may find nothing that the check missed.
func TestVerdictsAgree(t *testing.T) {
	race.Skip(t)
	sets := backends(t)
	const rounds = 8
	var bad, good, silent int
	for _, name := range sound {
		data := testImage(t, name)
		scan := firstScan(t, data)
		for i, d := range damages {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for round := range rounds {
				corrupted := d.do(r, data, scan)
				if corrupted == nil {
					continue
				}
				what := fmt.Sprintf("%s, %s, round %d", name, d.name, round)
				verdicts := map[string]bool{}
				for backend, s := range sets {
					if v, ok := verdict(t, s, corrupted); ok {
						verdicts[backend] = v
						if d.bad && !v {
							t.Errorf("%s: %s sees no damage", what, backend)
						}
					}
				}
				for a, v := range verdicts {
					for b, w := range verdicts {
						if a < b && v != w {
							t.Errorf("%s: %s says damaged: %v, %s says %v", what, a, v, b, w)
						}
					}
				}
				own, asked := turboSees(sets["turbo"], corrupted)
				switch {
				case !asked:
				case own && !verdicts["turbo"]:
					t.Errorf("%s: libjpeg warns, the check does not", what)
				case !own && verdicts["turbo"]:
					silent++
				}
				if verdicts["own"] || verdicts["std"] || verdicts["turbo"] {
					bad++
				} else {
					good++
				}
			}
		}
	}
	t.Logf("%d damaged, %d good; libjpeg said nothing of %d", bad, good, silent)
	if bad < 1000 || good < 300 {
		t.Errorf("%d damaged and %d good: the corpus proves little", bad, good)
	}
}

// turboSees asks libjpeg-turbo alone.
func turboSees(s *Set, data []byte) (bad, ok bool) {
	h, err := ParseHeader(data)
	if s == nil || err != nil {
		return false, false
	}
	return turboSays(s, data, &h) != nil, true
}

// turboSays is what libjpeg-turbo alone says of an image, warnings included.
func turboSays(s *Set, data []byte, h *Header) error {
	r := native(h, Request{Format: RGB, Denom: 1})
	n := h.Width * r.Format.Bytes()
	return s.decoders[0].decode(make([]byte, n*h.Height), n, data, h, r)
}

// TestEveryCut cuts sound images at every byte. With an end put after the cut, only a progressive
// image may pass, where the cut falls between two scans.
func TestEveryCut(t *testing.T) {
	race.Skip(t)
	for _, name := range []string{"made-ok-160x88.jpg", "made-rst.jpg", "made-ok-progressive.jpg", "zune-non_interleaved_420_64x64.jpg"} {
		data := testImage(t, name)
		check := func(data []byte) error {
			h, err := ParseHeader(data)
			if err != nil {
				return err
			}
			return Check(data, &h)
		}
		if err := check(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		passed := 0
		for n := range data {
			if err := check(data[:n]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s cut to %d bytes: %v", name, n, err)
			}
			if err := check(append(bytes.Clone(data[:n]), 0xFF, markerEOI)); err == nil {
				passed++
			}
		}
		limit := 2 // the whole image without its own end, or with half of it
		if h := header(t, data); h.Progressive() {
			limit = 40 // ten scans and the tables between them
		}
		if passed > limit {
			t.Errorf("%s: %d cuts with an end behind them passed, more than %d", name, passed, limit)
		}
	}
}
