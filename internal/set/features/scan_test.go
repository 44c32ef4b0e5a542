package features

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Unknown fields of any wire type are counted, whatever else is in the records, however the scans
// are divided, and also by scans that come from another process.
func TestUnknownFieldsAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		scans := []*Scan{NewScan(), NewScan(), NewScan()}
		counts := map[int]int{}
		const records = 30
		for range records {
			r := exampleOf(rng)
			numbers := map[int]bool{}
			for range rng.IntN(3) {
				number := 4 + rng.IntN(5)
				numbers[number] = true
				r = appendUnknown(rng, r, number)
			}
			for number := range numbers {
				counts[number]++
			}
			if scan := scans[rng.IntN(len(scans))]; !scan.Quick(r) {
				scan.Add(r)
			}
		}
		stored, err := json.Marshal(scans[1])
		if err != nil {
			t.Fatal(err)
		}
		read := new(Scan)
		if err := json.Unmarshal(stored, read); err != nil {
			t.Fatal(err)
		}
		total := NewScan()
		for _, scan := range []*Scan{scans[0], read, scans[2]} {
			total.Merge(scan)
		}
		if kind, _, _ := total.Describe(); kind != manifest.RecordExample {
			t.Fatalf("records are %q", kind)
		}
		got := map[int]int{}
		for _, f := range total.tally.Unknown() {
			got[f.Number] += int(f.Records)
		}
		for number := range 10 {
			// A record that has the field in several wire types counts for each of them.
			if got[number] < counts[number] || (got[number] == 0) != (counts[number] == 0) {
				t.Errorf("field %d in %d records, want %d", number, got[number], counts[number])
			}
		}
		if (len(counts) > 0) != (len(total.Notes()) > 0) {
			t.Errorf("notes %q of %v", total.Notes(), counts)
		}
	}
}

func appendUnknown(rng *rand.Rand, r []byte, number int) []byte {
	tag := func(wire int) []byte { return binary.AppendUvarint(nil, uint64(number<<3|wire)) }
	value := []byte(fmt.Sprintf("%08d", rng.IntN(1e8)))
	switch rng.IntN(5) {
	case 0:
		return append(append(r, tag(0)...), 5)
	case 1:
		return append(append(r, tag(1)...), value...)
	case 2:
		return append(append(append(r, tag(2)...), 8), value...)
	case 3:
		return append(append(append(r, tag(3)...), 8, 1), tag(4)...)
	}
	return append(append(r, tag(5)...), value[:4]...)
}

// BMPs of 24 bits a pixel are images, alone and among others; what TensorFlow decodes to another
// number of channels is not described as one.
func TestFormatsOfImages(t *testing.T) {
	bmp := func(depth byte) string {
		b := make([]byte, 54)
		copy(b, "BM")
		b[14], b[26], b[28] = 40, 1, depth
		return string(b)
	}
	const jpeg, png = "\xff\xd8\xff", "\x89PNG\r\n\x1a\n"
	for _, c := range []struct {
		values   []string
		class    manifest.FeatureClass
		encoding string
	}{
		{[]string{bmp(24), bmp(24)}, manifest.ClassImage, ""},
		{[]string{bmp(24), jpeg}, manifest.ClassImage, ""},
		{[]string{png, bmp(24)}, manifest.ClassImage, ""},
		{[]string{bmp(24), bmp(8)}, manifest.ClassScalar, ""},
		{[]string{bmp(32)}, manifest.ClassScalar, ""},
		{[]string{"II*\x00\x08\x00\x00\x00"}, manifest.ClassScalar, ""},
		{[]string{jpeg, jpeg}, manifest.ClassImage, "jpeg"},
		{[]string{jpeg, png}, manifest.ClassImage, ""},
		{[]string{png}, manifest.ClassImage, "png"},
		{[]string{"GIF89a\x00"}, manifest.ClassScalar, ""},
	} {
		total := NewScan()
		for i, v := range c.values {
			var b tfrecord.Builder
			b.Bytes("image", []byte(v))
			scan := NewScan()
			if record := b.Append(nil); i%2 == 0 || !scan.Quick(record) {
				scan.Add(record)
			}
			total.Merge(scan)
		}
		_, features, _ := total.Describe()
		if len(features) != 1 || features[0].Class != c.class || features[0].Encoding != c.encoding {
			t.Errorf("%q: %+v, want the class %q and encoding %q", c.values, features, c.class, c.encoding)
		}
	}
}
