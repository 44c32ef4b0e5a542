package features

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/swar"
	"github.com/tfrec/tfrec/tfrecord"
)

// entryShape has the bytes of a feature of an earlier record up to its values, and their meaning.
// Most records have the same bytes there, so that only the values need parsing.
type entryShape struct {
	head []byte // from the tag of the entry to the length of the values
	size int    // of the values, in bytes; unknownSize: no shape
	kind tfrecord.Kind
	n    int64 // number of values
}

// unknownSize is larger than any record.
const unknownSize = math.MaxInt / 2

// quickEntry is a feature of a record that differs from its shape.
type quickEntry struct {
	at       int // in Scan.recent
	from, to int // of the entry in the record
	size     int // as in entryShape
	kind     tfrecord.Kind
	n        int64
}

// Quick is a fast path of Add for a record in the usual form (see tfrecord.ScanExample) that has
// the features of the previous record in the same order, as nearly all records do. For any other
// record it returns false without side effects, and the caller uses Add.
func (s *Scan) Quick(record []byte) bool {
	begin, ok := tfrecord.ScanExample(record)
	if !ok || len(s.recent) == 0 {
		return false
	}
	s.found = s.found[:0]
	pos := begin
	for i := range s.shapes {
		e := &s.shapes[i]
		from := pos + len(e.head)
		if to := from + e.size; to <= len(record) && string(record[pos:from]) == string(e.head) && e.holds(record, from, to) {
			pos = to
			continue
		}
		entry, ok := tfrecord.ScanEntry(record, pos)
		if !ok || string(record[entry.KeyFrom:entry.KeyTo]) != s.recent[i].key {
			return false
		}
		kind, values, n, ok := ScanValues(record[entry.From:entry.To])
		if !ok {
			return false
		}
		s.found = append(s.found, quickEntry{i, pos, entry.To, len(values), kind, n})
		pos = entry.To
	}
	if pos < len(record) {
		return false
	}
	s.records++
	for i := range s.found {
		d := &s.found[i]
		s.recent[d.at].noteNumber(d.kind, d.n)
		s.shapes[d.at].learn(record, d)
	}
	pos = begin
	for i, f := range s.recent {
		e := &s.shapes[i]
		pos += len(e.head)
		f.records++
		if e.kind == tfrecord.KindBytes {
			f.noteBytes(record[pos : pos+e.size])
		}
		pos += e.size
	}
	return true
}

// holds reports whether the values record[from:to], which have the right size, have the number of
// the shape.
func (e *entryShape) holds(record []byte, from, to int) bool {
	if e.kind != tfrecord.KindInt64 {
		return true
	}
	if e.n == 1 && e.size <= 8 && from+8 <= len(record) {
		// All bytes of a varint but the last have the upper bit.
		v := binary.LittleEndian.Uint64(record[from:]) << (64 - 8*e.size)
		return v&swar.Highs == uint64(swar.Highs)<<(64-8*e.size)&^(1<<63)
	}
	n, ok := countVarints(record[from:to])
	return ok && n == e.n
}

// ScanValues returns the kind of a Feature message, its n values, which are packed numbers or the
// bytes of its only value, and how many there are. It returns false if there are none or several
// bytes values, or if the message is malformed, or not in the usual form (see tfrecord.ScanFeature).
func ScanValues(feature []byte) (kind tfrecord.Kind, values []byte, n int64, ok bool) {
	kind, values, ok = tfrecord.ScanFeature(feature)
	if !ok || len(values) == 0 {
		return kind, nil, 0, false
	}
	switch kind {
	case tfrecord.KindBytes:
		only, rest, ok := tfrecord.ScanBytes(values)
		return kind, only, 1, ok && len(rest) == 0
	case tfrecord.KindFloat:
		return kind, values, int64(len(values) / 4), len(values)%4 == 0
	default:
		n, ok = countVarints(values)
		return kind, values, n, ok
	}
}

// learn keeps the shape of an entry.
func (e *entryShape) learn(record []byte, d *quickEntry) {
	e.head = append(e.head[:0], record[d.from:d.to-d.size]...)
	e.size, e.kind, e.n = d.size, d.kind, d.n
}

// maxPlainVarint is the maximum length in bytes of a non-negative varint.
const maxPlainVarint = 9

// countVarints counts packed numbers. It returns false if they are malformed, or some have more than
// maxPlainVarint bytes, as negative ones do.
func countVarints(values []byte) (n int64, ok bool) {
	run := 0
	for _, b := range values {
		if run++; run > maxPlainVarint {
			return 0, false
		}
		if b < 0x80 {
			n, run = n+1, 0
		}
	}
	return n, run == 0
}
