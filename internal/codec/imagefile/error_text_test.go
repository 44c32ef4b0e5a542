package imagefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// errorTexts damages images, with a fixed seed, and returns the errors of all ways to decode them,
// a line for each image and decoder.
func errorTexts(t *testing.T, perFile int) string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/pictures/*.*")
	if err != nil || len(files) < 80 {
		t.Fatal(files, err)
	}
	codecs := map[string]*Codec{}
	for _, decoder := range []string{"auto", "go"} {
		codecs[decoder] = newCodec(t, CodecOptions{Decoder: decoder, MaxPixels: 1 << 18, FloatRange: testRange})
	}
	r := rand.New(rand.NewPCG(7, 7))
	var out strings.Builder
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) > 1<<15 {
			continue
		}
		for i := range perFile {
			data := damagedAt(r, whole)
			for _, decoder := range []string{"auto", "go"} {
				c := codecs[decoder]
				var im bitmap.Image
				var planes bitmap.Planes
				_, decoded := c.Decode(&im, data, DecodeOptions{})
				_, gray := c.Decode(&im, data, DecodeOptions{Channels: 1, MinWidth: 20, MinHeight: 20})
				_, checked := c.Check(data)
				_, mask := c.DecodeMask(&im, data)
				_, deep, deepErr := c.AppendDeepPNG(nil, data)
				if !deep.Deep {
					deepErr = nil
				}
				info, stat := c.Stat(data)
				var inPlanes error
				if stat == nil && c.TakesPlanes(info) {
					_, inPlanes = c.DecodePlanes(&planes, data, DecodeOptions{Channels: 3})
				}
				fmt.Fprintf(&out, "%s %d, %s: %v; gray %v; check %v; mask %v; deep %v; planes %v; header %v\n", filepath.Base(file), i, decoder, decoded, gray, checked, mask, deepErr, inPlanes, stat)
			}
		}
	}
	return out.String()
}

// damagedAt cuts an image or changes some of its bytes.
func damagedAt(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) < 3 {
		return data
	}
	if r.IntN(3) == 0 {
		data = data[:2+r.IntN(len(data)-2)]
	}
	for range r.IntN(4) {
		data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
	}
	return data
}

// TestErrorTextsOfProcessors: errors of damaged images are the same with assembly and without,
// since errors.jsonl, which is part of a set, has their texts.
func TestErrorTextsOfProcessors(t *testing.T) {
	race.Skip(t)
	const to = "TFREC_TEST_ERROR_TEXTS"
	perFile, args := 40, []string{"-test.run=^" + t.Name() + "$"}
	if torture.On() {
		perFile, args = 1000, append(args, "-torture")
	}
	texts := errorTexts(t, perFile)
	if path := os.Getenv(to); path != "" {
		if err := os.WriteFile(path, []byte(texts), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "texts")
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), to+"="+path, "GODEBUG=cpu.all=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	other, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	here, there := strings.Split(texts, "\n"), strings.Split(string(other), "\n")
	if len(here) != len(there) {
		t.Fatalf("%d lines, and %d without assembly", len(here), len(there))
	}
	for i := range here {
		if here[i] != there[i] {
			t.Fatalf("here\n  %s\nwithout assembly\n  %s", here[i], there[i])
		}
	}
}
