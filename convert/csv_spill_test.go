package convert

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpill puts rows of many lengths into few buckets with little memory, and
// takes them out again.
func TestSpill(t *testing.T) {
	for _, limit := range []int64{0, 4 << 10, 40 << 10, 4 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			const buckets = 7
			var file *os.File
			s := newSpill(buckets, buckets, limit, func() (spillFile, error) {
				if file != nil {
					t.Fatal("a second file")
				}
				var err error
				file, err = os.Create(filepath.Join(t.TempDir(), "spill"))
				return file, err
			})
			want := make([][]string, buckets)
			var batch spillBatch
			for range 50 {
				batch.reset()
				for range rng.IntN(20) {
					bucket := rng.IntN(buckets - 1) // the last one stays empty
					payload := bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, rng.IntN(3000))
					row := spilled{hash: rng.Uint64(), row: rng.Int64(), label: int32(rng.IntN(9)) - 1, bad: rng.IntN(2) == 0}
					want[bucket] = append(want[bucket], fmt.Sprintf("%x %d %d %v %s", row.hash, row.row, row.label, row.bad, payload))
					batch.begin()
					batch.data = append(batch.data, payload...)
					batch.end(bucket, row)
				}
				if err := s.add(&batch); err != nil {
					t.Fatal(err)
				}
			}
			if (file != nil) != (limit < 1<<20) {
				t.Errorf("limit %d: file %v", limit, file)
			}
			for bucket := range buckets {
				data, err := s.take(bucket, []byte("before"))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.HasPrefix(data, []byte("before")) {
					t.Fatal("take does not append")
				}
				var got []string
				for at := len("before"); at < len(data); {
					var row spilled
					row, at = parseSpilled(data, at)
					got = append(got, fmt.Sprintf("%x %d %d %v %s", row.hash, row.row, row.label, row.bad, data[row.from:row.to]))
				}
				if strings.Join(got, "\n") != strings.Join(want[bucket], "\n") {
					t.Fatalf("bucket %d: %d rows, want %d", bucket, len(got), len(want[bucket]))
				}
			}
			if file != nil {
				if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
					t.Errorf("the file is still open: %v", err)
				}
			}
		})
	}
}

func TestSpillSaysWhatFails(t *testing.T) {
	full := errors.New("disk full")
	s := newSpill(1, 1, 0, func() (spillFile, error) { return nil, full })
	var batch spillBatch
	batch.begin()
	batch.data = append(batch.data, make([]byte, 1<<20)...)
	batch.end(0, spilled{})
	if err := s.add(&batch); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
