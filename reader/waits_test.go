package reader

import (
	"bytes"
	"io"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestRecordsPassNothingOneByOne: stages wait for locks and channels for a few blocks of records at
// a time, not for each record.
func TestRecordsPassNothingOneByOne(t *testing.T) {
	const files, each, procs = 16, 10_000, 8
	dir := t.TempDir()
	records := make([][]byte, each)
	for i := range records {
		records[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8), 7, 77}, 40)
	}
	for i := range files {
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	for name, build := range map[string]func(*Set) Pipe{
		"sequential": (*Set).Records,
		"interleave": func(s *Set) Pipe { return s.Interleave(16, 1) },
		"shuffle":    func(s *Set) Pipe { return s.Interleave(16, 1).Shuffle(10_000) },
		"global":     func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
	} {
		read := 0
		waits := settest.Waits(t, procs, func() {
			s, err := build(open(t, dir, Options{})).Start(t.Context(), From{})
			settest.Check(t, err)
			defer s.Close()
			for {
				b, err := nextBlock(s)
				if err == io.EOF {
					break
				}
				settest.Check(t, err)
				read += len(b.Records)
				b.Release()
			}
		})
		t.Logf("%s: %d waits", name, waits)
		if read != files*each || waits > int64(read)/20 {
			t.Errorf("%s: %d records of %d wait %d times", name, read, files*each, waits)
		}
	}
}
