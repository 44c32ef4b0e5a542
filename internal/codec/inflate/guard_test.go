//go:build linux && amd64 && !noasm

package inflate

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// guarded is memory of n bytes up to an inaccessible page.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := unix.Getpagesize()
	room := (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, room+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	if err := unix.Mprotect(all[room:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return all[room-n : room : room]
}

// guardedPieces is a Source whose pieces end at inaccessible pages.
type guardedPieces struct {
	pieces
	room []byte
}

func (g *guardedPieces) Piece() ([]byte, error) {
	piece, err := g.pieces.Piece()
	return g.room[len(g.room)-copy(g.room[len(g.room)-len(piece):], piece):], err
}

// TestGuard decompresses within the piece and the buffer, whole streams and damaged ones.
func TestGuard(t *testing.T) {
	r := torture.Rand(t)
	buffer, room := guarded(t, bufferSize), guarded(t, 10_000)
	for name, content := range contents(r) {
		var packed bytes.Buffer
		z, _ := flate.NewWriter(&packed, 6)
		z.Write(content)
		z.Close()
		for i := range 6 {
			data := bytes.Clone(packed.Bytes())
			if i >= 3 {
				data[r.IntN(len(data))] ^= byte(1 << r.IntN(8))
			}
			reader := Reader{buffer: buffer}
			reader.Reset(&guardedPieces{pieces{data, r, []int{10_000, 100, 24}[i%3]}, room}, Raw)
			if n, err := io.Copy(io.Discard, &reader); i < 3 && (err != nil || n != int64(len(content))) {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
		}
	}
}
