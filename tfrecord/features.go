package tfrecord

import (
	"fmt"
	"slices"
)

// Limits of a parsed message: the memory for a feature is up to a hundred times its minimum size of
// two bytes.
const (
	MaxFeatures = 1 << 20 // features of an Example or a context, and lists of a SequenceExample
	MaxSteps    = 1 << 20 // steps of all lists of a SequenceExample
)

// tooMany is the error for an exceeded limit, at a byte offset in the message.
func tooMany(offset, limit int) error {
	return &Error{Record: -1, Offset: int64(offset), Part: PartParse, Err: fmt.Errorf("%w: more than %d", ErrTooMany, limit)}
}

// Features are the named features of a parsed Example, or of the context of a SequenceExample, in
// byte order of their keys. They alias the parsed message and are valid until the next Parse.
type Features struct {
	entries keyed[Feature]
	joined  []byte // lists that were split in the message
}

// Len returns the number of features.
func (f *Features) Len() int { return len(f.entries.list) }

// At returns the i-th feature and its key, which aliases the message.
func (f *Features) At(i int) (key []byte, value Feature) {
	e := &f.entries.list[i]
	return e.key, e.value
}

// Get returns the feature with that key; false if there is none.
func (f *Features) Get(key string) (Feature, bool) { return f.entries.get(key) }

// Map returns a copy of all features by key: []int64, []float32, [][]byte, or nil if no list is
// set.
func (f *Features) Map() map[string]any {
	m := make(map[string]any, f.Len())
	for _, e := range f.entries.list {
		m[string(e.key)] = e.value.Value()
	}
	return m
}

func (f *Features) reset() {
	f.entries.reset()
	f.joined = f.joined[:0]
}

// add parses a Features message. A second one adds to the first, as in a protobuf merge.
func (f *Features) add(data []byte, pos int) error {
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		if tag == tagEntry {
			if err := f.addEntry(data[:to], from); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Features) addEntry(data []byte, pos int) error {
	var key []byte
	value := pieces{joined: &f.joined}
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		switch tag {
		case tagKey:
			key = data[from:to:to]
		case tagValue:
			if err := value.add(data[:to], from); err != nil {
				return err
			}
		}
	}
	f.entries.add(key, value.feature)
	if f.Len() > MaxFeatures {
		return tooMany(pos, MaxFeatures)
	}
	return nil
}

// pieces assembles a feature from everything a message says about it. Usually that is one list; but
// by the protobuf rules consecutive lists of one kind are one list, and a list of another kind
// replaces them.
type pieces struct {
	feature  Feature
	start    int // start of the feature's list in joined, if isJoined
	joined   *[]byte
	isJoined bool
}

// add parses a Feature message.
func (p *pieces) add(data []byte, pos int) error {
	for pos < len(data) {
		tag, from, to, err := field(data, pos)
		if err != nil {
			return err
		}
		pos = to
		var kind Kind
		switch tag {
		case tagBytesList:
			kind = KindBytes
		case tagFloatList:
			kind = KindFloat
		case tagInt64List:
			kind = KindInt64
		default:
			continue
		}
		n, err := countList(data[:to], from, kind)
		if err != nil {
			return err
		}
		p.addList(Feature{kind, n, data[from:to:to]})
	}
	return nil
}

func (p *pieces) addList(f Feature) {
	if f.kind != p.feature.kind {
		p.feature, p.isJoined = f, false
		return
	}
	// Two concatenated messages are the encoding of their merge.
	if !p.isJoined {
		p.isJoined, p.start = true, len(*p.joined)
		*p.joined = append(*p.joined, p.feature.list...)
	}
	*p.joined = append(*p.joined, f.list...)
	p.feature.list = slices.Clip((*p.joined)[p.start:])
	p.feature.n += f.n
}
