package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Limits of messages and schemas.
const (
	maxMetadata = 64 << 20 // bytes of a message without its body
	maxBody     = 2 << 30  // bytes of a record batch or dictionary, as stored
	maxMemory   = 4 << 30  // bytes of one uncompressed
	maxNodes    = 1 << 16  // columns, structs and lists of a schema
	maxDepth    = 48       // of a schema
	maxText     = 64 << 20 // bytes of names and custom metadata
)

var errMetadata = errors.New("damaged metadata")

// flat is a table of FlatBuffers. The library takes offsets on trust, and follows ones that are
// shared as often as they are named, so sizes are looked up here first.
type flat struct {
	b  []byte
	at int
}

// root returns the table of a message.
func root(b []byte) (flat, error) { return flat{b, 0}.follow(0) }

// uint32 reads a number, and fails outside of the buffer.
func (f flat) uint32(at int) (uint32, error) {
	if at < 0 || at > len(f.b)-4 {
		return 0, errMetadata
	}
	return binary.LittleEndian.Uint32(f.b[at:]), nil
}

// follow returns the table at the target of the offset at a position.
func (f flat) follow(at int) (flat, error) {
	n, err := f.uint32(at)
	if err != nil || n == 0 || int64(n) > int64(len(f.b)-at) {
		return flat{}, errMetadata
	}
	return flat{f.b, at + int(n)}, nil
}

// field returns the position of a field, 0 if the table does not have it.
func (f flat) field(i int) (int, error) {
	back, err := f.uint32(f.at)
	if err != nil {
		return 0, err
	}
	v := f.at - int(int32(back))
	if v < 0 || v > len(f.b)-4 {
		return 0, errMetadata
	}
	size := int(binary.LittleEndian.Uint16(f.b[v:]))
	if 4+2*i >= size { // as the library looks, which matters where the size is odd
		return 0, nil
	}
	if v > len(f.b)-(4+2*i+2) {
		return 0, errMetadata
	}
	if n := int(binary.LittleEndian.Uint16(f.b[v+4+2*i:])); n > 0 {
		return f.at + n, nil
	}
	return 0, nil
}

// number returns a field of 1 or 8 bytes, 0 if the table does not have it.
func (f flat) number(i, size int) (int64, error) {
	at, err := f.field(i)
	if err != nil || at == 0 {
		return 0, err
	}
	if at > len(f.b)-size {
		return 0, errMetadata
	}
	if size == 1 {
		return int64(f.b[at]), nil
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:])), nil
}

// table returns a field that is a table, and whether there is one.
func (f flat) table(i int) (flat, bool, error) {
	at, err := f.field(i)
	if err != nil || at == 0 {
		return flat{}, false, err
	}
	t, err := f.follow(at)
	return t, true, err
}

// vector returns the position of the first element and the number of elements of a given size.
func (f flat) vector(i, size int) (at, n int, err error) {
	v, ok, err := f.table(i)
	if err != nil || !ok {
		return 0, 0, err
	}
	count, err := f.uint32(v.at)
	if err != nil || int64(count)*int64(size) > int64(len(f.b)-v.at-4) {
		return 0, 0, errMetadata
	}
	return v.at + 4, int(count), nil
}

// weight is the size of a schema.
type weight struct{ nodes, text int }

// addText counts a string.
func (w *weight) addText(f flat, field int) error {
	_, n, err := f.vector(field, 1)
	if w.text += n; err == nil && w.text > maxText {
		err = fmt.Errorf("names and custom metadata of more than %d bytes", maxText)
	}
	return err
}

// addPairs counts custom metadata.
func (w *weight) addPairs(f flat, field int) error {
	at, n, err := f.vector(field, 4)
	for i := 0; i < n && err == nil; i++ {
		var pair flat
		if pair, err = f.follow(at + 4*i); err == nil {
			w.text += 16
			err = errors.Join(w.addText(pair, 0), w.addText(pair, 1))
		}
	}
	return err
}

// addFields counts the fields of a schema, or the children of a field.
func (w *weight) addFields(f flat, field, depth int) error {
	at, n, err := f.vector(field, 4)
	if err != nil {
		return err
	}
	if depth > maxDepth && n > 0 {
		return fmt.Errorf("more than %d levels of structs and lists", maxDepth)
	}
	for i := range n {
		if w.nodes++; w.nodes > maxNodes {
			return fmt.Errorf("more than %d columns, structs and lists", maxNodes)
		}
		child, err := f.follow(at + 4*i)
		if err != nil {
			return err
		}
		if err := errors.Join(w.addText(child, 0), w.addPairs(child, 6)); err != nil {
			return err
		}
		if err := w.addFields(child, 5, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Kinds of messages.
const (
	messageSchema     = 1
	messageDictionary = 2
	messageBatch      = 3
)

// envelope has the type and the sizes of a message, from its metadata.
type envelope struct {
	kind int64
	body int64 // bytes after the metadata
	rows int64 // of a record batch
}

// parseEnvelope reads the metadata of a message.
func parseEnvelope(meta []byte) (envelope, error) {
	m, err := root(meta)
	if err != nil {
		return envelope{}, err
	}
	kind, err1 := m.number(1, 1)
	header, ok, err2 := m.table(2)
	body, err3 := m.number(3, 8)
	if err := errors.Join(err1, err2, err3, new(weight).addPairs(m, 4)); err != nil {
		return envelope{}, err
	}
	e := envelope{kind: kind, body: body}
	if !ok || body < 0 {
		return envelope{}, errMetadata
	}
	switch kind {
	case messageSchema:
		w := new(weight)
		return e, errors.Join(w.addFields(header, 1, 0), w.addPairs(header, 2))
	case messageBatch:
		if e.rows, err = header.number(0, 8); err == nil && e.rows < 0 {
			err = errMetadata
		}
		return e, err
	case messageDictionary:
		return e, nil
	}
	return envelope{}, fmt.Errorf("a message of type %d: want a schema, dictionaries and record batches", kind)
}

// expansion is the maximum number of bytes that one byte of a compressed buffer can become, by
// codec: LZ4 frames and zstd, whose shortest block is of 4 bytes and makes 128 KiB.
var expansion = [...]int64{256, 32 << 10}

// checkBuffers compares the sizes of the buffers of a record batch or dictionary in the metadata
// with its body. views is the number of columns of views in the batch; a dictionary may be one.
func checkBuffers(meta, body []byte, views int) error {
	m, err := root(meta)
	if err != nil {
		return err
	}
	kind, err := m.number(1, 1)
	if err != nil || kind == messageSchema {
		return err
	}
	batch, ok, err := m.table(2)
	if kind == messageDictionary && ok && err == nil {
		batch, ok, err = batch.table(1)
		views = 1
	}
	if err != nil || !ok {
		return errors.Join(errMetadata, err)
	}
	compression, compressed, err := batch.table(3)
	if err != nil {
		return err
	}
	codec := int64(0)
	if compressed {
		if codec, err = compression.number(0, 1); err != nil || codec >= int64(len(expansion)) {
			return fmt.Errorf("compression codec %d: want LZ4 or zstd", codec)
		}
	}
	at, n, err := batch.vector(2, 16)
	for i := 0; i < n && err == nil; i++ {
		offset, length := int64(binary.LittleEndian.Uint64(m.b[at+16*i:])), int64(binary.LittleEndian.Uint64(m.b[at+16*i+8:]))
		if offset < 0 || length < 0 || offset > int64(len(body)) || length > int64(len(body))-offset {
			return fmt.Errorf("buffer %d: %d bytes at %d, in a body of %d", i, length, offset, len(body))
		}
		if !compressed || length == 0 {
			continue
		}
		if length < 8 {
			return fmt.Errorf("buffer %d: %d bytes, without the size of what is compressed", i, length)
		}
		size := int64(binary.LittleEndian.Uint64(body[offset:]))
		if size < -1 || size > expansion[codec]*length+1<<17 {
			return fmt.Errorf("buffer %d: %d bytes cannot be %d uncompressed", i, length, size)
		}
	}
	if err != nil {
		return err
	}
	// The number of additional buffers of each view.
	counts, have, err := batch.vector(4, 8)
	if at, _ := batch.field(4); at != 0 && have < views {
		return fmt.Errorf("buffers of %d columns of views, of %d", have, views)
	}
	for i := range have {
		if more := int64(binary.LittleEndian.Uint64(m.b[counts+8*i:])); more < 0 || more > int64(n) {
			return fmt.Errorf("%d buffers of a column, of %d in all", more, n)
		}
	}
	return err
}

// footerBatches returns how many record batches a footer lists.
func footerBatches(b []byte) (int, error) {
	f, err := root(b)
	if err != nil {
		return 0, err
	}
	_, n, err := f.vector(3, 24)
	return n, err
}
