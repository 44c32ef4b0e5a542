package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// verdictCorpus has sound and damaged images with a complete header: those of the repository, those
// next to the checkout, and sound ones damaged at random.
func verdictCorpus(tb testing.TB) [][]byte {
	tb.Helper()
	var list [][]byte
	for _, glob := range []string{"../../../testdata/pictures/*.j*", "../../../testdata/hostile/*.jpg", "../../../../shared/data/odd/*.j*"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range files {
			data := read(tb, file)
			if h, err := ParseHeader(data); err == nil && h.Width*h.Height <= 1<<22 && len(data) < 150<<10 {
				list = append(list, data)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range sound {
		data := testImage(tb, name)
		scan := firstScan(tb, data)
		for _, d := range damages {
			for range 2 {
				if corrupted := d.do(r, data, scan); corrupted != nil {
					list = append(list, corrupted)
				}
			}
		}
		for _, marker := range []byte{markerDQT, markerDHT} {
			list = append(list, withoutLast(tb, data, marker))
		}
	}
	return list
}

// withoutLast leaves out the last segment of that kind before the first scan.
func withoutLast(tb testing.TB, data []byte, marker byte) []byte {
	tb.Helper()
	at, end := 2, 2
	for pos := 2; ; {
		m, _, next, err := segment(data, pos)
		if err != nil {
			tb.Fatal(err)
		}
		if m == markerSOS {
			return append(bytes.Clone(data[:at]), data[end:]...)
		}
		if m == marker {
			at, end = pos, next
		}
		pos = next
	}
}

// orders are the sets whose verdicts must be the same: with our decoder first and with
// libjpeg-turbo first, where that is installed.
func orders(tb testing.TB) map[string]*Set {
	sets := map[string]*Set{"own": ownSet}
	if turbo := backends(tb)["turbo"]; turbo != nil {
		t := turbo.decoders[0]
		sets["own, turbo"] = &Set{decoders: []decoder{own{}, t}, encoder: ownEncoder{}}
		sets["turbo, own"] = &Set{decoders: []decoder{t, own{}}, encoder: ownEncoder{}}
	}
	return sets
}

// TestVerdicts decodes the corpus, trusted and not, each image after an arbitrary other one: by
// every set, with and without assembly, the verdict is that of Check, to the word.
func TestVerdicts(t *testing.T) {
	race.Skip(t)
	corpus := verdictCorpus(t)
	sample := torture.Sample(t, len(corpus)/3, corpus)
	r := rand.New(rand.NewPCG(5, 6))
	damaged, sound := 0, 0
	sets := orders(t)
	for name, set := range sets {
		pix := make([]byte, 3<<22)
		decode := func(data []byte, trusted bool) error {
			h := header(t, data)
			return set.Decode(pix, h.Width*3, data, h, Request{Format: RGB, Denom: 1, Trusted: trusted})
		}
		for i, data := range sample {
			h := header(t, data)
			want := set.Supports(h)
			if want == nil {
				want = Check(data, h)
			}
			for _, trusted := range []bool{false, true} {
				other := corpus[r.IntN(len(corpus))]
				check := func(assembly string) {
					_ = decode(other, trusted)
					if got := decode(data, trusted); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s, image %d, %s, trusted %v:\n  %v\nand the check says\n  %v", name, i, assembly, trusted, got, want)
					}
				}
				check("assembly")
				withoutAssembly(func() { check("no assembly") })
			}
			if want != nil {
				damaged++
			} else {
				sound++
			}
		}
	}
	t.Logf("%d damaged, %d sound", damaged, sound)
	if damaged < len(sample)/3*len(sets) || sound < len(sample)/8*len(sets) {
		t.Error("too few to prove anything")
	}
}

// TestVerdictsOfParts: of an image of which only a part is wanted and that is trusted, all sets
// look at the same data, and so have the same verdict.
func TestVerdictsOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	unnoticed, noticed := 0, 0
	for i, data := range verdictCorpus(t) {
		h := header(t, data)
		if _, ok := h.sampling(); !ok {
			continue
		}
		part := image.Rect(0, 0, 1+r.IntN(h.Width), 1+r.IntN(h.Height))
		request := Request{Denom: 1 << r.IntN(4), Trusted: true, Part: part}
		want := ownSet.DecodePlanes(new(Planar), data, h, request)
		for name, set := range orders(t) {
			check := func() {
				if got := set.DecodePlanes(new(Planar), data, h, request); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, image %d, %v: %v, and by our decoder %v", name, i, part, got, want)
				}
			}
			check()
			withoutAssembly(check)
		}
		switch whole := Check(data, h); {
		case want == nil && whole != nil:
			unnoticed++
		case want != nil:
			noticed++
		}
	}
	if unnoticed < 20 || noticed < 20 {
		t.Errorf("damage outside the part was passed over in %d images and found in %d: too few to prove anything", unnoticed, noticed)
	}
}

// TestReasonsEqual: the image whose reason once depended on the assembly.
func TestReasonsEqual(t *testing.T) {
	data := hostile(t, "verdict-text-differs.jpg")
	h := header(t, data)
	fast := Check(data, h)
	withoutAssembly(func() {
		if plain := Check(data, h); !errors.Is(plain, ErrDamaged) || plain.Error() != fast.Error() {
			t.Errorf("%v, and with assembly %v", plain, fast)
		}
	})
}

// TestBreakdown: a defect of the decoder is an error, the same from the check and from all sets,
// and what was in use is not used again.
func TestBreakdown(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	h := *header(t, data)
	h.N = 5 // a header that the parser never returns
	for name, f := range map[string]func() error{
		"check":  func() error { return Check(data, &h) },
		"pixels": func() error { return own{}.decode(nil, 0, data, &h, Request{Format: RGB, Denom: 1}) },
		"planes": func() error { return own{}.decodePlanes(new(Planar), data, &h, Request{Denom: 1}) },
	} {
		if err := f(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "crashed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	decodeWith(t, ownSet, data, Request{Format: RGB, Denom: 1})
}
