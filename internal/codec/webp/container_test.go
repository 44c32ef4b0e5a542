package webp

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestContent: a file is as long as its header says, and its chunks fill that.
func TestContent(t *testing.T) {
	riff := func(size int, chunks ...string) string {
		return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(size))) + "WEBP" + strings.Join(chunks, "")
	}
	chunk := func(size int, body string) string {
		return "abcd" + string(binary.LittleEndian.AppendUint32(nil, uint32(size))) + body
	}
	for _, c := range []struct{ file, says string }{
		{riff(4), ""},
		{riff(14, chunk(2, "xx")), ""},
		{riff(14, chunk(2, "xx"), "trailing"), ""},
		{riff(14, chunk(1, "x\x00")), ""},
		{riff(22, chunk(2, "xx"), chunk(0, "")), ""},
		{"RIFF\x04\x00\x00\x00WEB", "invalid format"},
		{"RIFF\x04\x00\x00\x00WAVE", "invalid format"},
		{riff(3), "a length of 11 bytes in its header"},
		{riff(15, chunk(2, "xx")), "the file ends after 22 of 23 bytes"},
		{riff(1<<32-1, chunk(2, "xx")), "the file ends after 22 of 4294967303 bytes"},
		{riff(13, chunk(1, "x")), `chunk "abcd" at byte 12 ends without its padding`},
		{riff(17, chunk(2, "xx"), "abc"), "3 bytes at byte 22 are no chunk"},
		{riff(14, chunk(3, "xx")), `chunk "abcd" at byte 12 has 3 bytes, and 2 are left`},
		{riff(22, chunk(2, "xx"), chunk(1<<32-1, "")), `chunk "abcd" at byte 22 has 4294967295 bytes, and 0 are left`},
		{riff(30, chunk(2, "xx"), chunk(9, "12345678")), `chunk "abcd" at byte 22 has 9 bytes, and 8 are left`},
	} {
		_, err := Content([]byte(c.file))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.file, err, c.says)
		}
	}
}

// TestCut: no beginning of a file is accepted, and whatever follows one is ignored.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	var d Decoder
	for i := range 30 {
		data := generate(r, i%3)
		for len(data) > 0 {
			data = data[:len(data)-1-r.IntN(min(len(data), 9))]
			if _, err := d.Decode(data); err == nil {
				t.Fatalf("%d bytes were accepted", len(data))
			}
		}
	}
	for name, data := range realFiles(t) {
		_, before := d.Decode(data)
		if _, after := d.Decode(append(bytes.Clone(data), "RIFF"...)); before == nil && after != nil {
			t.Errorf("%s, with more bytes: %v", name, after)
		}
	}
}
