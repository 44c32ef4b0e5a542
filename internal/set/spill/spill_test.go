package spill

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
			s := New(buckets, buckets, limit, func() (File, error) {
				if file != nil {
					t.Fatal("a second file")
				}
				var err error
				file, err = os.Create(filepath.Join(t.TempDir(), "spill"))
				return file, err
			})
			want := make([][]string, buckets)
			var batch Batch
			for range 50 {
				batch.Reset()
				for range rng.IntN(20) {
					bucket := rng.IntN(buckets - 1) // the last one stays empty
					payload := bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, rng.IntN(3000))
					row := Row{Key: rng.Uint64(), Number: rng.Int64(), Tag: rng.Int64() - 1<<62, Flag: rng.IntN(2) == 0}
					want[bucket] = append(want[bucket], fmt.Sprintf("%x %d %d %v %s", row.Key, row.Number, row.Tag, row.Flag, payload))
					if len(payload) > 2500 {
						if err := s.Add(&batch); err != nil {
							t.Fatal(err)
						}
						batch.Reset()
						if err := s.AddRow(bucket, row, payload); err != nil {
							t.Fatal(err)
						}
						continue
					}
					batch.Begin()
					batch.Data = append(batch.Data, payload...)
					batch.End(bucket, row, nil)
				}
				if err := s.Add(&batch); err != nil {
					t.Fatal(err)
				}
			}
			if (file != nil) != (limit < 1<<20) {
				t.Errorf("limit %d: file %v", limit, file)
			}
			for bucket := range buckets {
				data, err := s.Take(bucket, []byte("before"))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.HasPrefix(data, []byte("before")) {
					t.Fatal("take does not append")
				}
				var got []string
				for at := len("before"); at < len(data); {
					var row Row
					row, at = Parse(data, at)
					got = append(got, fmt.Sprintf("%x %d %d %v %s", row.Key, row.Number, row.Tag, row.Flag, data[row.From:row.To]))
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
	s := New(1, 1, 0, func() (File, error) { return nil, full })
	var batch Batch
	batch.Begin()
	batch.Data = append(batch.Data, make([]byte, 1<<20)...)
	batch.End(0, Row{}, nil)
	if err := s.Add(&batch); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

// TestSpillIsShared has goroutines add rows of all sizes to the same buckets, and holds the Spill to
// its memory, and to writing each row once at most.
func TestSpillIsShared(t *testing.T) {
	const (
		buckets, workers = 9, 4
		limit            = 512 << 10
	)
	file, err := os.Create(filepath.Join(t.TempDir(), "spill"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(buckets, buckets, limit, func() (File, error) { return file, nil })
	payload := func(worker, i int) []byte {
		rng := rand.New(rand.NewPCG(uint64(worker), uint64(i)))
		size := rng.IntN(300)
		if i%100 == 99 {
			size = rng.IntN(200 << 10)
		}
		return bytes.Repeat([]byte{byte(rng.IntN(256))}, size)
	}
	const each = 1500
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			batch := GetBatch()
			defer batch.Free()
			for i := range each {
				row := Row{Key: uint64(worker), Number: int64(i)}
				p := payload(worker, i)
				if len(p) > 64<<10 {
					if err := s.AddRow(i%buckets, row, p[:100], p[100:]); err != nil {
						t.Error(err)
					}
					continue
				}
				batch.Begin()
				half := len(p) / 2
				batch.Data = append(batch.Data, p[:half]...)
				batch.End(i%buckets, row, p[half:])
				if i%50 == 0 {
					if err := s.Add(batch); err != nil {
						t.Error(err)
					}
					batch.Reset()
				}
			}
			if err := s.Add(batch); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	st, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	seen := map[[2]int]bool{}
	for bucket := range buckets {
		data, err := s.Take(bucket, nil)
		if err != nil {
			t.Fatal(err)
		}
		total += len(data)
		for at := 0; at < len(data); {
			var row Row
			row, at = Parse(data, at)
			worker, i := int(row.Key), int(row.Number)
			if i%buckets != bucket || seen[[2]int{worker, i}] || !bytes.Equal(data[row.From:row.To], payload(worker, i)) {
				t.Fatalf("bucket %d: row %d of %d is not what was added, or comes twice", bucket, i, worker)
			}
			seen[[2]int{worker, i}] = true
		}
	}
	if len(seen) != workers*each {
		t.Errorf("%d rows, want %d", len(seen), workers*each)
	}
	if least := int64(total - limit); st.Size() < least || st.Size() > int64(total) {
		t.Errorf("%d bytes of %d are in the file, want %d or more, and each once", st.Size(), total, least)
	}
}
