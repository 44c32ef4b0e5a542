package message

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
)

// Tally counts records with content that the definitions of Example and SequenceExample do not
// have. The zero Tally is empty.
type Tally struct {
	unknown  map[field]int64
	kindless int64
}

// UnknownField is a field of an Example or a SequenceExample that the message's definition does not
// have. Protocol buffer libraries read such records, and skip the field.
type UnknownField struct {
	// Message is the part of the record that has the field, such as Example, Features, "Features
	// entry" or Int64List.
	Message string `json:"message"`
	Number  int    `json:"number"`
	// Wire is the wire type of the field, from 0.
	Wire    int   `json:"wire"`
	Records int64 `json:"records"`
}

// Of returns the message type of a record, as the function Of does, and adds the record.
func (t *Tally) Of(record []byte) Type {
	kind, odd := examine(record)
	for f := range odd.unknown {
		t.add(f, 1)
	}
	if odd.kindless {
		t.kindless++
	}
	return kind
}

// add adds records with an unknown field. Fields beyond maxUnknown are not tracked.
func (t *Tally) add(f field, records int64) {
	if t.unknown == nil {
		t.unknown = map[field]int64{}
	}
	if _, known := t.unknown[f]; known || len(t.unknown) < maxUnknown {
		t.unknown[f] += records
	}
}

// Merge adds the records of another Tally.
func (t *Tally) Merge(other Tally) {
	for _, f := range other.sorted() {
		t.add(f, other.unknown[f])
	}
	t.kindless += other.kindless
}

func (t *Tally) sorted() []field {
	return slices.SortedFunc(maps.Keys(t.unknown), func(a, b field) int {
		return cmp.Or(strings.Compare(a.message, b.message), cmp.Compare(a.tag, b.tag))
	})
}

// Unknown returns the unknown fields, sorted by message and number: at most 1000.
func (t *Tally) Unknown() UnknownFields {
	var all UnknownFields
	for _, f := range t.sorted() {
		all = append(all, UnknownField{Message: f.message, Number: int(f.tag >> 3), Wire: int(f.tag & 7), Records: t.unknown[f]})
	}
	return all
}

// Kindless returns the number of records with a feature that has no list of values. Such a feature
// counts as missing.
func (t *Tally) Kindless() int64 { return t.kindless }

// UnknownFields are unknown fields in order.
type UnknownFields []UnknownField

// String lists the fields: "field 15 of Example in 2 records". It is empty if there are none.
func (fields UnknownFields) String() string {
	const shown = 10
	var list []string
	for _, f := range fields[:min(len(fields), shown)] {
		list = append(list, f.String())
	}
	if more := len(fields) - shown; more > 0 {
		list = append(list, plural.Of(more, "more field"))
	}
	return strings.Join(list, ", ")
}

// String describes the field: "field 15 of Example in 2 records". It has the wire type of the low
// numbers, which the definition may have with another one.
func (f UnknownField) String() string {
	wireType := ""
	if f.Number <= 3 {
		wireType = fmt.Sprintf(" (wire type %d)", f.Wire)
	}
	return fmt.Sprintf("field %d%s of %s in %s", f.Number, wireType, f.Message, plural.Of(f.Records, "record"))
}

// storedTally is the serialized form of a Tally.
type storedTally struct {
	Unknown  UnknownFields `json:"unknown,omitempty"`
	Kindless int64         `json:"kindless,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (t *Tally) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedTally{t.Unknown(), t.kindless})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tally) UnmarshalJSON(data []byte) error {
	var stored storedTally
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	*t = Tally{kindless: stored.Kindless}
	for _, f := range stored.Unknown {
		t.add(field{f.Message, uint64(f.Number)<<3 | uint64(f.Wire)}, f.Records)
	}
	return nil
}
