package reader

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// numbered returns record k of file i: its number, and filler so that records differ in size.
func numbered(i, k int) []byte {
	id := i*1000 + k
	p := binary.LittleEndian.AppendUint64(nil, uint64(id))
	return append(p, bytes.Repeat([]byte{byte(id)}, id*7%61)...)
}

// idOf returns the number of a record made by numbered.
func idOf(r Record) int { return int(binary.LittleEndian.Uint64(r.Data)) }

// writeFile writes records to a new file.
func writeFile(t testing.TB, path string, c tfrecord.Compression, records ...[]byte) {
	t.Helper()
	var b bytes.Buffer
	w, err := tfrecord.NewWriter(&b, tfrecord.WriterOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeShards writes files of numbered records, with the given lengths, and returns their
// directory.
func writeShards(t testing.TB, c tfrecord.Compression, lengths ...int) string {
	t.Helper()
	dir := t.TempDir()
	for i, n := range lengths {
		records := make([][]byte, n)
		for k := range records {
			records[k] = numbered(i, k)
		}
		writeFile(t, shardPath(dir, i), c, records...)
	}
	return dir
}

func shardPath(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("n-%05d.tfrecord", i))
}

// inOrder returns the numbers of all records that writeShards writes.
func inOrder(lengths ...int) []int {
	ids := []int{}
	for i, n := range lengths {
		for k := range n {
			ids = append(ids, i*1000+k)
		}
	}
	return ids
}

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
