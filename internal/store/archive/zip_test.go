package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// Self-extracting archives are zip files behind a program, whether or not the offsets in the
// directory count its bytes.
func TestZipBehindAProgram(t *testing.T) {
	files := []file{{"a.jpg", []byte("data")}, {"b.jpg", bytes.Repeat([]byte("data"), 100)}}
	var shifted bytes.Buffer
	w := zip.NewWriter(&shifted)
	w.SetOffset(int64(len(program)))
	shifted.WriteString(program)
	for _, f := range files {
		m, err := w.Create(f.name)
		if err == nil {
			_, err = m.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.SetComment(strings.Repeat("a comment, ", 50))
	w.Close()
	for name, data := range map[string][]byte{
		"prepended": append([]byte(program), zipOf(t, files...)...),
		"adjusted":  shifted.Bytes(),
	} {
		checkFiles(t, name, data, files)
		for n := len(program); n < len(data); n++ {
			if _, err := read(t, data[:n]); err == nil {
				t.Errorf("%s, cut to %d of %d bytes, is read as if it were whole", name, n, len(data))
			}
		}
	}
}

var program = "MZ" + strings.Repeat("a program, ", 100)

// No zip expands to more than maxRatio times its size, whatever its directory claims: members that
// overlap are an error before any is expanded.
func TestZipMembersThatOverlap(t *testing.T) {
	rng := torture.Rand(t)
	for range 200 {
		var files []file
		for i := range 2 + rng.IntN(20) {
			files = append(files, file{fmt.Sprintf("%d.jpg", i), bytes.Repeat([]byte{byte(i)}, rng.IntN(5000))})
		}
		data := zipOf(t, files...)
		// In the directory, one member gets the offset of another, or an offset inside of it.
		const offset = 42
		entries := entriesOf(data)
		one, other := rng.IntN(len(entries)), rng.IntN(len(entries)-1)
		if other >= one {
			other++
		}
		from := binary.LittleEndian.Uint32(data[entries[other]+offset:])
		packed := binary.LittleEndian.Uint32(data[entries[other]+20:])
		at := from + uint32(rng.IntN(1+int(packed)))
		binary.LittleEndian.PutUint32(data[entries[one]+offset:], at)
		if rng.IntN(2) == 0 {
			data = append([]byte(program), data...)
		}
		a, err := open(t, data)
		if err != nil {
			t.Fatal(err)
		}
		err = a.Walk(t.Context(), func(m *Member) error {
			t.Errorf("member %s is listed", m.Name)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "overlap") || !strings.Contains(err.Error(), files[one].name) {
			t.Errorf("member %d at byte %d of member %d: %v", one, at-from, other, err)
		}
	}
}

// entriesOf returns the offsets of the directory's entries.
func entriesOf(data []byte) (at []int) {
	for i := 0; ; {
		next := bytes.Index(data[i:], []byte("PK\x01\x02"))
		if next < 0 {
			return at
		}
		at, i = append(at, i+next), i+next+4
	}
}
