package spill

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Row is a row in a bucket: what its owner has to know of it, and the position of its payload.
type Row struct {
	// Key and Number are the owner's sort key.
	Key    uint64
	Number int64
	// Tag and Flag are the owner's.
	Tag  int64
	Flag bool
	// From and To are the bounds of the payload in the bucket; only Parse sets them.
	From, To int
}

// A row begins with a byte of flags, the length of its payload, and its key, number and tag unless
// they are zero, as varints.
const (
	hasFlag = 1 << iota
	hasKey
	hasNumber
	hasTag
)

// maxHeader is the longest header of a row in bytes.
const maxHeader = 1 + 4*binary.MaxVarintLen64

// Batch collects rows for several buckets. The zero Batch is ready for use.
type Batch struct {
	// Data is where payloads are appended to, between Begin and End.
	Data   []byte
	rows   []batchRow
	starts []int32 // of byBucket
	order  []int32
}

// batchRow is a row whose payload is Data[from:header] and then rest, with its header in
// Data[header:to].
type batchRow struct {
	bucket, from, header, to int
	rest                     []byte
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// maxKept is the largest batch that Free keeps for others.
const maxKept = 4 << 20

// GetBatch returns an empty batch; Free gives it back.
func GetBatch() *Batch {
	b := batches.Get().(*Batch)
	b.Reset()
	return b
}

// Free gives a batch of GetBatch back.
func (b *Batch) Free() {
	if cap(b.Data) <= maxKept {
		batches.Put(b)
	}
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	clear(b.rows) // what they refer to
	b.Data, b.rows = b.Data[:0], b.rows[:0]
}

// Begin starts a row: its payload, of less than 4 GiB, is to be appended to Data.
func (b *Batch) Begin() { b.rows = append(b.rows, batchRow{from: len(b.Data)}) }

// End ends the row and adds it to the given bucket. rest is the end of its payload, which is not
// copied: it must not change before the batch has been added.
func (b *Batch) End(bucket int, row Row, rest []byte) {
	r := &b.rows[len(b.rows)-1]
	r.bucket, r.header, r.rest = bucket, len(b.Data), rest
	b.Data = row.appendHeader(b.Data, r.header-r.from+len(rest))
	r.to = len(b.Data)
}

// byBucket returns the numbers of the rows, grouped by bucket and otherwise in order.
func (b *Batch) byBucket(buckets int) []int32 {
	b.starts = slices.Grow(b.starts[:0], buckets+1)[:buckets+1]
	clear(b.starts)
	for i := range b.rows {
		b.starts[b.rows[i].bucket+1]++
	}
	for i := range buckets {
		b.starts[i+1] += b.starts[i]
	}
	b.order = slices.Grow(b.order[:0], len(b.rows))[:len(b.rows)]
	for i := range b.rows {
		at := &b.starts[b.rows[i].bucket]
		b.order[*at] = int32(i)
		*at++
	}
	return b.order
}

// appendHeader appends what comes before a payload of that size.
func (row *Row) appendHeader(h []byte, size int) []byte {
	at := len(h)
	h = binary.AppendUvarint(append(h, 0), uint64(size))
	if row.Flag {
		h[at] |= hasFlag
	}
	if row.Key != 0 {
		h[at] |= hasKey
		h = binary.AppendUvarint(h, row.Key)
	}
	if row.Number != 0 {
		h[at] |= hasNumber
		h = binary.AppendVarint(h, row.Number)
	}
	if row.Tag != 0 {
		h[at] |= hasTag
		h = binary.AppendVarint(h, row.Tag)
	}
	return h
}

// Parse reads the row at a position of a bucket that was taken, and returns
// where the next one begins.
func Parse(data []byte, at int) (row Row, next int) {
	flags := data[at]
	size, at := uvarint(data, at+1)
	row.Flag = flags&hasFlag != 0
	if flags&hasKey != 0 {
		row.Key, at = uvarint(data, at)
	}
	if flags&hasNumber != 0 {
		row.Number, at = varint(data, at)
	}
	if flags&hasTag != 0 {
		row.Tag, at = varint(data, at)
	}
	row.From, row.To = at, at+int(size)
	return row, row.To
}

func uvarint(data []byte, at int) (v uint64, next int) {
	v, n := binary.Uvarint(data[at:])
	return v, at + n
}

func varint(data []byte, at int) (v int64, next int) {
	v, n := binary.Varint(data[at:])
	return v, at + n
}
