package source

import (
	"fmt"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// FuzzRemap changes the label ids of arbitrary records: the rest must not change, and records that
// cannot be changed must be an error.
func FuzzRemap(f *testing.F) {
	var b tfrecord.Builder
	b.Int64("label", 1)
	b.Int64("other", 1, 2)
	f.Add(b.Append(nil))
	b.Int64("label", 0, 2, 1)
	f.Add(b.Append(nil))
	f.Add([]byte{})
	// A value that is not packed, followed by an unknown field.
	f.Add([]byte("\x0a\x11\x0a\x0f\x0a\x05label\x12\x06\x1a\x04\x08\x01\x10\x07\x10\x05"))
	m := &Remap{Keys: []string{"label"}, IDs: []int64{2, 0, 300}}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Record{Data: data, File: &Input{}}
		changed, err := m.Append(nil, r)
		var was, now tfrecord.Example
		if was.Parse(data) != nil {
			if err == nil {
				t.Fatal("a record that is no Example was changed")
			}
			return
		}
		want := was.Map()
		ids, _ := want["label"].([]int64)
		for i, id := range ids {
			if id < 0 || id >= int64(len(m.IDs)) {
				if err == nil {
					t.Fatalf("label %d became something", id)
				}
				return
			}
			ids[i] = m.IDs[id]
		}
		if err != nil {
			if message.Of(data) == message.Example { // others may have groups, which are obsolete
				t.Fatal(err)
			}
			return
		}
		if err := now.Parse(changed); err != nil {
			t.Fatal(err)
		}
		if got := now.Map(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
