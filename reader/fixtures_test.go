package reader

import (
	"context"
	"encoding/binary"
	"io"
	"testing"
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
func rest(t testing.TB, s *RecordStream) []int {
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
