package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// mutateImage corrupts an image: its segments, their order, or its data.
func mutateImage(r *rand.Rand, data []byte) []byte {
	type part struct {
		marker   byte
		at, next int
	}
	data = bytes.Clone(data)
	for range 1 + r.IntN(3)*r.IntN(3) {
		var parts []part
		for pos := 2; ; {
			m, _, next, err := segment(data, pos)
			if err != nil || m == markerEOI {
				break
			}
			parts = append(parts, part{m, pos, next})
			if m == markerSOS {
				for next+1 < len(data) && (data[next] != 0xFF || data[next+1] == 0 || data[next+1]&0xF8 == markerRST0) {
					next++
				}
			}
			pos = next
		}
		if len(parts) == 0 || len(data) < 16 {
			break
		}
		p := parts[r.IntN(len(parts))]
		body := data[p.at+2 : p.next]
		switch r.IntN(8) {
		case 0: // a byte of a segment, its length and numbers among them
			body[r.IntN(len(body))] = []byte{byte(r.Uint32()), byte(r.IntN(5)), 0x11, byte(r.IntN(64))}[r.IntN(4)]
		case 1: // a bit
			body[r.IntN(len(body))] ^= 1 << r.IntN(8)
		case 2: // a segment twice
			at := parts[r.IntN(len(parts))].at
			data = append(data[:at:at], append(bytes.Clone(data[p.at:p.next]), data[at:]...)...)
		case 3: // or removed
			data = append(data[:p.at:p.at], data[p.next:]...)
		case 4: // a restart interval
			v := r.IntN(100) * r.IntN(2)
			data = append(data[:p.at:p.at], append([]byte{0xFF, markerDRI, 0, 4, byte(v >> 8), byte(v)}, data[p.at:]...)...)
		case 5, 6: // the data
			from := min(parts[len(parts)-1].next, len(data)-3)
			at := from + r.IntN(len(data)-2-from)
			switch r.IntN(4) {
			case 0:
				data[at] ^= 1 << r.IntN(8)
			case 1:
				copy(data[at:len(data)-2], randomBytes(r, 1+r.IntN(60)))
			case 2:
				data = append(data[:at:at], append([]byte{0xFF, byte(markerRST0 + r.IntN(8))}, data[at:]...)...)
			case 3:
				data = append(data[:at:at], data[min(len(data)-2, at+1+r.IntN(30)):]...)
			}
		case 7: // the end
			data = append(data[:len(data)-1-r.IntN(min(len(data)-8, 100))], 0xFF, markerEOI)
		}
	}
	return data
}

// TestGenerated decodes sound images of every kind, and what mutation makes of them: a sound one is
// sound, assembly and plain Go make the same pixels and have the same verdicts, to the word, and
// libjpeg-turbo makes the same pixels where it can be compared.
func TestGenerated(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(11, 12))
	turbo := backends(t)["turbo"]
	var sound, damaged, compared int
	for i := range 1500 {
		data := generate(r)
		if h, err := ParseHeader(data); err != nil {
			t.Fatalf("image %d: %v", i, err)
		} else if err := Check(data, &h); err != nil {
			t.Fatalf("image %d, %s: %v", i, h.coding(), err)
		}
		for mutation := range 3 {
			if mutation > 0 {
				data = mutateImage(r, data)
			}
			h, err := ParseHeader(data)
			if err != nil || ownSet.Supports(&h) != nil || h.Width*h.Height > 1<<16 {
				continue
			}
			request := Request{Format: []Format{Gray, RGB}[r.IntN(2)], Denom: 1 << r.IntN(4)}
			w, ht := h.Scaled(request.Denom)
			row := w * request.Format.Bytes()
			var pix [3][]byte
			var errs [2]error
			decode := func(k int) {
				pix[k] = make([]byte, row*ht)
				errs[k] = ownSet.Decode(pix[k], row, data, &h, request)
			}
			decode(0)
			withoutAssembly(func() { decode(1) })
			what := fmt.Sprintf("image %d, mutation %d, %s, %+v", i, mutation, h.coding(), request)
			if check := Check(data, &h); fmt.Sprint(errs[0]) != fmt.Sprint(check) || fmt.Sprint(errs[1]) != fmt.Sprint(check) {
				t.Fatalf("%s: %v, without assembly %v, and the check says %v", what, errs[0], errs[1], check)
			}
			if errs[0] != nil {
				damaged++
				continue
			}
			sound++
			if !bytes.Equal(pix[0], pix[1]) {
				t.Fatalf("%s: other pixels without assembly", what)
			}
			if turbo == nil || !turbo.Reduces(&h, request.Format, request.Denom) || wild(data, &h) {
				continue
			}
			if _, ok := comparable(turbo, data); !ok {
				continue
			}
			pix[2] = make([]byte, row*ht)
			if turbo.Decode(pix[2], row, data, &h, request) == nil {
				if compared++; !bytes.Equal(pix[0], pix[2]) {
					t.Fatalf("%s: other pixels than libjpeg-turbo's", what)
				}
			}
		}
	}
	t.Logf("%d sound, %d damaged, %d compared with libjpeg-turbo", sound, damaged, compared)
	if sound < 1500 || damaged < 500 || turbo != nil && compared < 300 {
		t.Errorf("%d sound, %d damaged, %d compared: too few to prove anything", sound, damaged, compared)
	}
}
