package reader

import (
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// An unordered reader is woken by the end of a file as well as by records: it must not sleep if the
// last file ends between its check and its sleep.
func TestUnorderedReadersWakeAtTheEnd(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 1, 0, 2, 1, 0, 1, 3, 1), Options{Unordered: true})
	epochs := race.Few(4000, 1000)
	records := 0
	for _, err := range set.Interleave(8, 1).Repeat(epochs).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	if want := 9 * epochs; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
}

// A large record does not reserve memory for many small ones.
func TestALargeRecordTakesOnePlace(t *testing.T) {
	const size = 1 << 20
	dir := t.TempDir()
	readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, make([]byte, size), make([]byte, size))
	s := started(t, open(t, dir, Options{Memory: 64 << 10}).Records())
	b, err := nextBlock(s)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if n := b.Size(); len(b.Records) != 1 || n > size+size/8 {
		t.Errorf("%d records of %d bytes, in a block of %d", len(b.Records), size, n)
	}
}
