package wire

import "testing"

func TestAt(t *testing.T) {
	for _, test := range []struct {
		name, message string
		want          Field
		ok            bool
	}{
		{"varint", "\x08\x96\x01", Field{Varint1, 1, 3}, true},
		{"fixed64", "\x09\x00\x01\x02\x03\x04\x05\x06\x07rest", Field{Fixed64At1, 1, 9}, true},
		{"fixed32", "\x0d\x00\x01\x02\x03rest", Field{Fixed32At1, 1, 5}, true},
		{"bytes", "\x12\x02abrest", Field{Bytes2, 2, 4}, true},
		{"empty bytes", "\x1a\x00", Field{Bytes3, 2, 2}, true},
		{"nothing", "", Field{}, false},
		{"field 0", "\x02\x00", Field{}, false},
		{"group", "\x0b\x0crest", Field{1<<3 | Group, 1, 2}, true},
		{"group in a group", "\x0b\x13\x08\x01\x14\x0crest", Field{1<<3 | Group, 1, 6}, true},
		{"group that does not end", "\x0b\x08\x01", Field{}, false},
		{"group with the end of another", "\x0b\x14", Field{}, false},
		{"end of a group", "\x0c", Field{}, false},
		{"no length", "\x0a", Field{}, false},
		{"cut off", "\x0a\x03ab", Field{}, false},
		{"length past all memory", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Field{}, false},
		{"fixed32 cut off", "\x0d\x00\x01\x02", Field{}, false},
		{"endless varint", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Field{}, false},
	} {
		got, ok := At([]byte(test.message), 0)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %+v, %v", test.name, got, ok)
		}
	}
}

func TestEach(t *testing.T) {
	message := []byte("\x08\x01\x12\x02ab\x0a\x00")
	var tags []uint64
	var texts []string
	whole := Each(message, func(tag uint64, value []byte) bool {
		tags, texts = append(tags, tag), append(texts, string(value))
		return true
	})
	if !whole || len(tags) != 3 || tags[0] != Varint1 || tags[1] != Bytes2 || texts[1] != "ab" || tags[2] != Bytes1 {
		t.Errorf("%v, tags %v, texts %q", whole, tags, texts)
	}
	if Each(message, func(tag uint64, _ []byte) bool { return tag != Bytes2 }) || Each(message[:5], func(uint64, []byte) bool { return true }) {
		t.Error("a field that is refused, or cut off, is whole")
	}
}
