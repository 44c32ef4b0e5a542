// Package readertest writes files of records for the tests of package reader and its rooms.
package readertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// Numbered returns record k of file i: its number, and filler so that records differ in size.
func Numbered(i, k int) []byte {
	id := i*1000 + k
	p := binary.LittleEndian.AppendUint64(nil, uint64(id))
	return append(p, bytes.Repeat([]byte{byte(id)}, id*7%61)...)
}

// WriteFile writes records to a new file.
func WriteFile(t testing.TB, path string, c tfrecord.Compression, records ...[]byte) {
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

// WriteShards writes files of numbered records, with the given lengths, and returns their
// directory.
func WriteShards(t testing.TB, c tfrecord.Compression, lengths ...int) string {
	t.Helper()
	dir := t.TempDir()
	for i, n := range lengths {
		records := make([][]byte, n)
		for k := range records {
			records[k] = Numbered(i, k)
		}
		WriteFile(t, ShardPath(dir, i), c, records...)
	}
	return dir
}

func ShardPath(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("n-%05d.tfrecord", i))
}

// InOrder returns the numbers of all records that writeShards writes.
func InOrder(lengths ...int) []int {
	ids := []int{}
	for i, n := range lengths {
		for k := range n {
			ids = append(ids, i*1000+k)
		}
	}
	return ids
}

// Offsets returns the offsets of the frames of a plain file, and its end.
func Offsets(t testing.TB, path string) []int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	at := 0
	for at < len(data) {
		all = append(all, int64(at))
		at += int(binary.LittleEndian.Uint64(data[at:])) + tfrecord.Overhead
	}
	return append(all, int64(at))
}

// Change rewrites a file with the result of f.
func Change(t testing.TB, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func Flip(t testing.TB, path string, at int64) {
	Change(t, path, func(data []byte) []byte {
		data[at] ^= 0x20
		return data
	})
}
