package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// spoolMemory is the number of bytes of arrays to keep in memory before they go to disk.
const spoolMemory = 16 << 20

// spool collects arrays that grow together, for a file that holds them one
// after another: in memory, and beyond a limit each in a file of its own.
type spool struct {
	dir    string
	arrays []*array
	held   int // bytes in memory
}

// array is one of NumPy's.
type array struct {
	spool   *spool
	number  int
	name    string
	descr   string // NumPy's word for the type of the elements
	shape   []int64
	bytes   int64 // that it will have
	written int64
	held    []byte // the last of them
}

// array begins an array. Its size is known before its elements.
func (s *spool) array(name, descr string, shape ...int64) *array {
	a := &array{spool: s, number: len(s.arrays), name: name, descr: descr, shape: shape}
	a.bytes = elementSize(descr)
	for _, n := range shape {
		a.bytes *= n
	}
	s.arrays = append(s.arrays, a)
	return a
}

// elementSize returns the size of an element in bytes: the number in its type, times four for
// characters.
func elementSize(descr string) int64 {
	n, _ := strconv.ParseInt(descr[2:], 10, 64) // we wrote it
	if descr[1] == 'U' {
		n *= 4
	}
	return n
}

func (a *array) write(b []byte) {
	a.held = append(a.held, b...)
	a.written += int64(len(b))
	a.spool.held += len(b)
}

// path is the file of an array that does not fit into memory.
func (a *array) path() string { return filepath.Join(a.spool.dir, strconv.Itoa(a.number)) }

// trim keeps memory within the limit.
func (s *spool) trim() error {
	if s.held < spoolMemory {
		return nil
	}
	for _, a := range s.arrays {
		if err := a.flush(); err != nil {
			return err
		}
	}
	s.held = 0
	return nil
}

// flush appends the buffered elements to the array's file, which is open only during the call:
// there may be more arrays than files that may be open.
func (a *array) flush() error {
	if len(a.held) == 0 {
		return nil
	}
	f, err := os.OpenFile(a.path(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(a.held)
	a.held = nil
	return errors.Join(err, f.Close())
}

// copyTo writes all elements.
func (a *array) copyTo(w io.Writer) error {
	f, err := os.Open(a.path())
	if err == nil {
		_, err = io.Copy(w, f)
		err = errors.Join(err, f.Close())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil // all of it is in memory
	}
	if err != nil {
		return err
	}
	_, err = w.Write(a.held)
	return err
}

// header returns the bytes before the elements in a .npy file, version 1.0: a multiple of 64 bytes.
func (a *array) header() []byte {
	var sides []string
	for _, n := range a.shape {
		sides = append(sides, strconv.FormatInt(n, 10))
	}
	shape := strings.Join(sides, ", ")
	if len(sides) == 1 {
		shape += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a.descr, shape)
	const magic = "\x93NUMPY\x01\x00"
	size := (len(magic) + 2 + len(text) + 1 + 63) / 64 * 64
	b := slices.Grow([]byte(magic), size)
	b = binary.LittleEndian.AppendUint16(b, uint16(size-len(magic)-2))
	b = append(b, text...)
	for len(b) < size-1 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}
