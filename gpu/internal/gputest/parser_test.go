package gputest_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

var parser = flag.String("parser", "", "a program, with its first argument, that prints what nvJPEG's parsers make of files: make check-ptx")

// parsed is what nvJPEG's parsers make of a file: statuses, and the size that the header has.
type parsed struct{ header, whole, width, height int }

// parseAll has nvJPEG parse files.
func parseAll(t *testing.T, files []string) map[string]parsed {
	t.Helper()
	command := strings.Fields(*parser)
	all := map[string]parsed{}
	for chunk := range slices.Chunk(files, 500) {
		c := exec.Command(command[0], append(command[1:], chunk...)...)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			var p parsed
			var file string
			if _, err := fmt.Sscan(lines.Text(), &p.header, &p.whole, &p.width, &p.height, &file); err != nil {
				t.Fatal(lines.Text(), err)
			}
			all[file] = p
		}
	}
	return all
}

// TestParseHeader shows, with the real nvJPEG, that reading headers suffices where the chip decodes:
// of many odd, damaged and hostile images, the search for damage, which precedes nvJPEG, refuses all
// that nvJPEG's own parser of whole images refuses. The two agree on the size of the others.
func TestParseHeader(t *testing.T) {
	if *parser == "" {
		t.Skip("no -parser given: make check-ptx")
	}
	rng := rand.New(rand.NewPCG(15, 16))
	files := []string{}
	dir := t.TempDir()
	for _, pattern := range []string{"../../../testdata/pictures/*", "../../../testdata/demo/photos/*/*", "../../../../shared/data/odd/*", "../../../../shared/data/hostile/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil || len(data) < 3 || len(data) > 1<<20 || !bytes.HasPrefix(data, []byte{0xFF, 0xD8}) {
				continue
			}
			versions := [][]byte{data}
			for range 30 {
				damaged := bytes.Clone(data)
				switch at := rng.IntN(len(data)); rng.IntN(4) {
				case 0: // cut
					damaged = damaged[:at]
				case 1: // any byte, more often in the header
					damaged[min(at, rng.IntN(700))] = byte(rng.IntN(256))
				case 2: // a marker
					damaged = slices.Concat(data[:at], []byte{0xFF, byte(0xC0 + rng.IntN(64))}, data[at:])
				default: // a hole
					damaged = slices.Concat(data[:at], data[min(len(data), at+1+rng.IntN(40)):])
				}
				versions = append(versions, damaged)
			}
			for _, v := range versions {
				file := filepath.Join(dir, fmt.Sprintf("%d-%s", len(files), strings.ReplaceAll(filepath.Base(name), " ", "_")))
				if err := os.WriteFile(file, v, 0o644); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
		}
	}
	var decoded, late int
	for file, p := range parseAll(t, files) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p.header == 0 && p.whole != 0 {
			late++ // what the header alone does not show
		}
		h, err := jpeg.ParseHeader(data)
		if err != nil {
			continue
		}
		if _, usual := h.Usual(); !usual || h.SOF != 0xC0 || jpeg.Check(data, &h) != nil {
			continue // the chip's decoder does not get it
		}
		decoded++
		if p.header != 0 || p.whole != 0 {
			t.Errorf("%s: for nvJPEG, its header has status %d and the whole has %d", filepath.Base(file), p.header, p.whole)
		}
		if p.width != h.Width || p.height != h.Height {
			t.Errorf("%s: %dx%d; nvJPEG has it as %dx%d", filepath.Base(file), h.Width, h.Height, p.width, p.height)
		}
	}
	t.Logf("%d images, of which the chip gets %d; nvJPEG refuses %d whose header it takes", len(files), decoded, late)
	if decoded < 300 || late < 100 {
		t.Errorf("%d images reach the chip, and of %d nvJPEG refuses more than the header: the test shows nothing", decoded, late)
	}
}
