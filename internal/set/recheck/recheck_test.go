package recheck

import (
	"context"
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/tfrecord"
)

// Frame is called for every record that is copied: it must not allocate.
func TestFrameDoesNotAllocate(t *testing.T) {
	race.Skip(t)
	f, err := os.Open("recheck_test.go")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := osfile.NewReader(context.Background(), f)
	frame := tfrecord.AppendFrame(nil, make([]byte, 200))
	framing := tfrecord.Framing{Checksum: tfrecord.ChecksumFull, MaxRecord: 1 << 20}
	allocs := testing.AllocsPerRun(100, func() {
		if size, v, err := Frame(framing, in, frame, 0); size != len(frame) || v != tfrecord.FrameWhole || err != nil {
			t.Fatalf("%d, %v, %v", size, v, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a frame", allocs)
	}
}
