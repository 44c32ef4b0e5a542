package plan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/tfrecord"
)

// Of shards that take longer to write than to make, several are written at a time, as many as make
// up for it; of others one. All become what they are otherwise.
func TestSlowShardsTakeTurns(t *testing.T) {
	type run struct {
		workers     int
		make, write time.Duration // a piece, and of several pieces at once
		least, most int64         // shards at a time, with those that end
	}
	for _, is := range torture.Sample(t, 3, []run{
		{8, 8 * time.Millisecond, 3 * time.Millisecond, 1, 2}, // one begins while the last one ends
		{8, 8 * time.Millisecond, 12 * time.Millisecond, 3, 8},
		{8, 0, 40 * time.Millisecond, 8, 24},
		{2, 0, 40 * time.Millisecond, 2, 4},
		{1, 0, 40 * time.Millisecond, 1, 2},
	}) {
		t.Run(fmt.Sprintf("%d workers, %v to make, %v to write", is.workers, is.make, is.write), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &copies{shards: 24, pieces: 150, each: 1, record: bytes.Repeat([]byte("r"), 70<<10), takes: is.make}
				slow := settest.SlowWrites{Takes: is.write}
				ctx := inject.With(t.Context(), slow.Hook)
				out := t.TempDir()
				began := time.Now()
				if err := c.write(ctx, out, is.workers); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				ideal := max(time.Duration(c.shards*c.pieces)*is.make, time.Duration(slow.Writes.Load())*is.write) / time.Duration(is.workers)
				t.Logf("%d shards at a time, %v, %.2f times the ideal", slow.Most.Load(), took, took.Seconds()/ideal.Seconds())
				if n := slow.Most.Load(); n < is.least || n > is.most {
					t.Errorf("%d shards at a time, want %d to %d", n, is.least, is.most)
				}
				if took.Seconds() > 1.3*ideal.Seconds() {
					t.Errorf("%v, %.2f times the ideal", took, took.Seconds()/ideal.Seconds())
				}
				want := bytes.Repeat(tfrecord.AppendFrame(nil, c.record), c.pieces)
				for _, j := range c.jobs() {
					if got, err := os.ReadFile(filepath.Join(out, j.Name.String())); err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%s: %d bytes, want others; %v", j.Name, len(got), err)
					}
				}
			})
		})
	}
}
