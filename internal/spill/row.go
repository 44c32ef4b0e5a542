package spill

import (
	"encoding/binary"
	"sync"
)

// Row is a row in a bucket: what its owner has to know of it, and the position of its payload.
type Row struct {
	// Key and Number are what the owner sorts by.
	Key    uint64
	Number int64
	// Tag and Flag are the owner's.
	Tag  int64
	Flag bool
	// From and To are where the payload begins and ends in the bucket; only Parse
	// fills them in.
	From, To int
}

// rowHeader is how many bytes a row has before its payload: key, number, tag,
// length of the payload, and a byte that is 1 for the flag.
const rowHeader = 8 + 8 + 8 + 4 + 1

// Batch collects rows for several buckets. The zero Batch is ready for use.
type Batch struct {
	// Data is where payloads are appended to, between Begin and End.
	Data []byte
	rows []batchRow
}

type batchRow struct{ bucket, from, to int }

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
func (b *Batch) Reset() { b.Data, b.rows = b.Data[:0], b.rows[:0] }

// Begin starts a row: its payload, of less than 4 GiB, is to be appended to Data.
func (b *Batch) Begin() {
	b.rows = append(b.rows, batchRow{from: len(b.Data)})
	b.Data = append(b.Data, make([]byte, rowHeader)...)
}

// End ends the row and adds it to the given bucket.
func (b *Batch) End(bucket int, row Row) {
	r := &b.rows[len(b.rows)-1]
	r.bucket, r.to = bucket, len(b.Data)
	row.header(b.Data[r.from:], r.to-r.from-rowHeader)
}

// header writes what comes before a payload of that size.
func (row Row) header(h []byte, size int) {
	binary.LittleEndian.PutUint64(h, row.Key)
	binary.LittleEndian.PutUint64(h[8:], uint64(row.Number))
	binary.LittleEndian.PutUint64(h[16:], uint64(row.Tag))
	binary.LittleEndian.PutUint32(h[24:], uint32(size))
	h[28] = 0
	if row.Flag {
		h[28] = 1
	}
}

// Parse reads the row at a position of a bucket that was taken, and returns
// where the next one begins.
func Parse(data []byte, at int) (Row, int) {
	h := data[at : at+rowHeader]
	row := Row{
		Key: binary.LittleEndian.Uint64(h), Number: int64(binary.LittleEndian.Uint64(h[8:])),
		Tag: int64(binary.LittleEndian.Uint64(h[16:])), Flag: h[28] == 1, From: at + rowHeader,
	}
	row.To = row.From + int(binary.LittleEndian.Uint32(h[24:]))
	return row, row.To
}
