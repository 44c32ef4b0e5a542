package deflate

import "encoding/binary"

// bitWriter appends bits, the first of a byte lowest.
type bitWriter struct {
	out   []byte
	bits  uint64
	count uint // of bits, below 8 after flush
}

// add adds n bits. Between two flushes it may get 56 of them.
func (w *bitWriter) add(v uint64, n uint) {
	w.bits |= v << (w.count & 63)
	w.count += n
}

// flush moves whole bytes to out.
func (w *bitWriter) flush() {
	n := w.count / 8
	w.out = binary.LittleEndian.AppendUint64(w.out, w.bits)
	w.out = w.out[:len(w.out)-8+int(n)]
	w.bits >>= 8 * n
	w.count &= 7
}

// write adds n bits, 32 at most.
func (w *bitWriter) write(v uint32, n uint) {
	w.add(uint64(v), n)
	w.flush()
}

// align fills the last byte with zeros.
func (w *bitWriter) align() {
	w.count = (w.count + 7) &^ 7
	w.flush()
}

// end returns all, in whole bytes.
func (w *bitWriter) end() []byte {
	w.align()
	return w.out
}
