package records

import (
	"io"
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// The lost rest of a compressed file is reported once: by the piece that reads up to there, or
// begins after it, and not by one that continues from there.
func TestALostRestIsToldOnce(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionGzip, 3, 900)
	whole, err := os.ReadFile(readertest.ShardPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(readertest.ShardPath(dir, 1), whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	set := open(t, dir, pipeline.Options{SkipBad: pipeline.SkipBad{Count: 1}})
	feeder := &started(t, set, Interleave(set, 2, 1)).(*interleave).feeder
	// read returns the number of faults from a cursor on, and the end.
	read := func(from pipeline.Cursor) (faults int, end pipeline.Cursor) {
		f := feeder.start(fileset.Piece{File: 1, End: fileset.NoEnd}, from, 0)
		for b := range f.blocks {
			faults += len(b.Faults)
			end = b.End
			b.Release()
		}
		if f.err != nil && f.err != io.EOF {
			t.Fatalf("from %d: %v", from.Number, f.err)
		}
		return faults, end
	}
	faults, end := read(pipeline.Cursor{})
	if faults != 1 {
		t.Fatalf("%d faults from the beginning, want 1", faults)
	}
	if faults, _ := read(end); faults != 0 {
		t.Errorf("%d faults behind record %d, where it ended", faults, end.Number)
	}
	faults, behind := read(pipeline.Cursor{Number: end.Number + 50})
	if faults != 1 {
		t.Errorf("%d faults of a part behind it, want 1", faults)
	}
	if faults, _ := read(behind); faults != 0 {
		t.Errorf("%d faults behind that part", faults)
	}
}

// A wait for a block is for that block and no other.
func TestAWaitIsForOneBlock(t *testing.T) {
	f := &feeder{run: &pipeline.Run{Engine: &pipeline.Engine{Budget: pipeline.NewBudget(1, func() {})}}}
	d, e := &feed{}, &feed{}
	d.onTurn.Store(true)
	e.onTurn.Store(true)
	for i, step := range []struct {
		do   func()
		d, e bool // whether they are needed
	}{
		{func() {}, false, false},
		{func() { f.waitFor(d) }, true, false},
		{func() { d.making++ }, false, false}, // before it is taken
		{func() { d.taking++ }, false, false},
		{func() { d.making++; f.waitFor(d) }, false, false}, // which is already made
		{func() { d.taking++; f.waitFor(d) }, true, false},
		{func() { d.making++; d.taking++ }, false, false},
		{func() { f.waitFor(nil) }, true, false}, // d asks first
		{func() { d.making++ }, false, false},
	} {
		step.do()
		if needed := f.needed(d); needed != step.d {
			t.Errorf("step %d: the one is needed: %v", i, needed)
		}
		if needed := f.needed(e); needed != step.e {
			t.Errorf("step %d: the other is needed: %v", i, needed)
		}
	}
}
