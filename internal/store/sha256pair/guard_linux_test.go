package sha256pair

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGuard hashes data up to an inaccessible page.
func TestGuard(t *testing.T) {
	page := unix.Getpagesize()
	all, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(all) }()
	if err := unix.Mprotect(all[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		p := all[page-n : page]
		a, b := sha256.New(), sha256.New()
		write(a, b, p, p)
		want := sha256.Sum256(p)
		if !bytes.Equal(a.Sum(nil), want[:]) || !bytes.Equal(b.Sum(nil), want[:]) {
			t.Fatalf("%d bytes: not the sums of crypto/sha256", n)
		}
	}
}
