package write

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/tfrecord"
)

// Limits of a record and its key.
const (
	maxRecord = 1 << 30
	maxKey    = 64 << 10
)

// Example is a record of a set: a tf.train.Example whose features are set by methods, or a serialized
// record of any kind (see Raw). Call Write once; the Example must not be used afterwards. It is not
// safe for concurrent use, but several Examples of one set are.
//
// Mistakes, such as a label without a name, are returned by Write.
type Example struct {
	set   *Set
	b     *tfrecord.Builder // nil after Write
	key   string
	split string
	raw   []byte
	isRaw bool
	err   error
}

// builders are reused by Examples.
var builders = sync.Pool{New: func() any { return new(tfrecord.Builder) }}

// Example returns a new record of the set. The key names it: it decides the split, the shard and the
// place there, and must be unique unless Options.InOrder is set. Keys are not stored; give the record
// a feature for it if readers need it.
func (s *Set) Example(key string) *Example {
	e := &Example{set: s, b: builders.Get().(*tfrecord.Builder), key: key}
	if len(key) > maxKey {
		e.fault("a key of %d bytes is longer than %d", len(key), maxKey)
	}
	if key == "" && !s.o.InOrder {
		e.fault("it has no key")
	}
	return e
}

// Split states the split of the record, instead of choosing it by Options.Splits.
func (e *Example) Split(name string) {
	if name == "" {
		e.fault("its split has no name")
	}
	e.split = name
}

// Int64 sets a feature to an Int64List. Values are copied, as by all methods that set features.
// Values of features of labels must be ids of Options.Labels, or -1.
func (e *Example) Int64(key string, v ...int64) {
	if e.used() {
		return
	}
	if e.set.isLabel[key] {
		e.checkLabels(v)
	}
	e.b.Int64(key, v...)
}

// checkLabels notes a fault of label ids without names.
func (e *Example) checkLabels(ids []int64) {
	n := int64(len(e.set.o.Labels))
	for _, id := range ids {
		if id < labels.Unlabelled || id >= n {
			e.fault("label %d is not an id of the %d names of %s, nor -1", id, n, optname.OptionsLabels)
		}
	}
}

// Label sets a feature to the id of a label, by its name in Options.Labels.
func (e *Example) Label(key, name string) {
	id, ok := e.set.labels[name]
	if !ok {
		e.fault("label %q is not one of the %d names of %s", name, len(e.set.labels), optname.OptionsLabels)
		return
	}
	e.Int64(key, id)
}

// Float sets a feature to a FloatList.
func (e *Example) Float(key string, v ...float32) {
	if !e.used() {
		e.b.Float(key, v...)
	}
}

// Bytes sets a feature to a BytesList.
func (e *Example) Bytes(key string, v ...[]byte) {
	if !e.used() {
		e.b.Bytes(key, v...)
	}
}

// String sets a feature to a BytesList of the strings' bytes.
func (e *Example) String(key string, v ...string) {
	if !e.used() {
		e.b.String(key, v...)
	}
}

// Raw makes the record the given bytes, such as a serialized Example, SequenceExample or any other
// message, instead of features that are set by methods. The bytes must not change until Write returns.
// The features of Examples are described in the manifest; records of other kinds are not.
func (e *Example) Raw(record []byte) { e.raw, e.isRaw = record, true }

// used notes the fault of an Example that is used after Write.
func (e *Example) used() bool {
	if e.b == nil {
		e.fault("it is used after Write")
	}
	return e.b == nil
}

// fault notes the first mistake.
func (e *Example) fault(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w %q: %s", ErrBadSample, e.key, fmt.Sprintf(format, args...))
	}
}

// errUsed means that Write was called twice.
var errUsed = errors.New("Write was called before")

// Write adds the record to the set. An error that unwraps to ErrBadSample is about this record, which
// was not added: the set can be finished without it. After any other error the set cannot be finished.
func (e *Example) Write() error {
	if e.b == nil {
		return fmt.Errorf("%w %q: %w", ErrBadSample, e.key, errUsed)
	}
	defer e.free()
	s := e.set
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	place := s.place(e.key)
	split, err := s.splits.of(e.key, place, e.split)
	if err != nil {
		e.fault("%v", err)
	}
	if e.err != nil {
		return e.err
	}
	l, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(l)
	if err := e.frame(l); err != nil {
		return err
	}
	at := row{split: byte(split), place: place, frame: l.frame}
	if !s.o.InOrder {
		at.key = e.key
	}
	return s.add(l, &at)
}

// free gives the memory of the Example back.
func (e *Example) free() {
	e.b.Reset()
	builders.Put(e.b)
	e.b, e.raw = nil, nil
}

// frame frames the record in l.frame, and scans it.
func (e *Example) frame(l *lane) error {
	frame, mark := tfrecord.BeginFrame(l.frame[:0])
	at := len(frame)
	if e.isRaw {
		frame = append(frame, e.raw...)
	} else {
		frame = e.b.Append(frame)
	}
	record := frame[at:]
	if len(record) > maxRecord {
		e.fault("a record of %d bytes is larger than %d", len(record), maxRecord)
		return e.err
	}
	if e.isRaw && len(e.set.isLabel) > 0 && l.example.Parse(record) == nil {
		if e.rawLabels(&l.example); e.err != nil {
			return e.err
		}
	}
	l.scan.Add(record)
	l.frame = tfrecord.EndFrame(frame, mark)
	return nil
}

// rawLabels checks the labels of a record that was given as bytes.
func (e *Example) rawLabels(parsed *tfrecord.Example) {
	for key := range e.set.isLabel {
		if f, ok := parsed.Get(key); ok && f.Kind() == tfrecord.KindInt64 {
			e.checkLabels(f.AppendInt64s(nil))
		}
	}
}
