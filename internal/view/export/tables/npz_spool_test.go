package tables

import (
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
)

func TestSpoolGoesToDisk(t *testing.T) {
	s := spool{dir: t.TempDir()}
	a, b := s.array("a", "<i8", 20), s.array("b", "|u1", 10)
	for i := range 10 {
		a.write(appendInt64(appendInt64(nil, int64(i)), int64(i)))
		b.write([]byte{byte(i)})
		if i == 3 || i == 7 {
			s.held = spoolMemory
			if err := s.trim(); err != nil {
				t.Fatal(err)
			}
		}
	}
	exporttest.WantOnly(t, s.dir, "0", "1")
	var got strings.Builder
	if err := a.copyTo(&got); err != nil || int64(got.Len()) != a.bytes || a.written != a.bytes || got.String()[18*8] != 9 {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	got.Reset()
	if err := b.copyTo(&got); err != nil || got.String() != "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09" {
		t.Errorf("%q, %v", got.String(), err)
	}
}
