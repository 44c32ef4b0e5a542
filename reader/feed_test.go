package reader

import (
	"context"
	"testing"
	"time"

	"github.com/tfrec/tfrec/tfrecord"
)

// A sloppy reader is woken by the end of a file as by its records: it must not
// sleep when the last file ends between its look and its sleep.
func TestSloppyReadersWakeAtTheEnd(t *testing.T) {
	set := open(t, writeShards(t, tfrecord.None, 1, 0, 2, 1, 0, 1, 3, 1), Options{Sloppy: true})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	records := 0
	for _, err := range set.Interleave(8, 1).Repeat(20000).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	if want := 9 * 20000; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
}
