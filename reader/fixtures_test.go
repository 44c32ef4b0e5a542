package reader

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// idOf returns the number of a record made by numbered.
func idOf(r Record) int { return int(binary.LittleEndian.Uint64(r.Data)) }

func open(t testing.TB, path string, o Options) *Set {
	t.Helper()
	_, timed := t.(*testing.B)
	o.PoisonRecycled = !timed // what is used too late is noticed
	set, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// idsOf reads all of a pipe.
func idsOf(t testing.TB, p Pipe) []int {
	t.Helper()
	ids := []int{}
	for r, err := range p.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, idOf(r))
	}
	return ids
}

// rest reads the remaining records of a stream.
func rest(t testing.TB, s *Stream[Record]) []int {
	t.Helper()
	ids := []int{}
	for {
		r, err := s.Next()
		if err == io.EOF {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, idOf(r))
	}
}

// nextBlock returns the next block of the stages, as flows get it.
func nextBlock(s *Stream[Record]) (*pipeline.Block, error) { return s.run.(*stages.Stream).NextBlock() }

// cloneRecords returns copies of records that stay valid.
func cloneRecords(records []Record) []Record {
	all := slices.Clone(records)
	for i, r := range all {
		all[i] = r.Clone()
	}
	return all
}
