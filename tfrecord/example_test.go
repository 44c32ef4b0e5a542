package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// m encodes a message by hand: m(1, x) is field 1 with content x.
func m(number protowire.Number, content ...[]byte) []byte {
	out := protowire.AppendTag(nil, number, protowire.BytesType)
	return protowire.AppendBytes(out, bytes.Join(content, nil))
}

func varintField(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

func fixed32Field(number protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), math.Float32bits(v))
}

func group(number protowire.Number, content ...[]byte) []byte {
	out := protowire.AppendTag(nil, number, protowire.StartGroupType)
	out = append(out, bytes.Join(content, nil)...)
	return protowire.AppendTag(out, number, protowire.EndGroupType)
}

func floats(v ...float32) (out []byte) {
	for _, x := range v {
		out = protowire.AppendFixed32(out, math.Float32bits(x))
	}
	return out
}

var (
	key  = func(k string) []byte { return m(1, []byte(k)) }
	ints = func(v ...byte) []byte { return m(3, m(1, v)) } // a Feature's content
	pair = func(k string, feature ...[]byte) []byte { return m(1, key(k), m(2, feature...)) }
)

// oddExamples are valid encodings that no encoder here produces.
var oddExamples = []struct {
	name string
	data []byte
	want map[string]any
}{
	{"empty", nil, map[string]any{}},
	{"no features", m(1), map[string]any{}},
	{"unpacked ints", m(1, pair("k", m(3, varintField(1, 5), varintField(1, 300)))), map[string]any{"k": []int64{5, 300}}},
	{"unpacked floats", m(1, pair("k", m(2, fixed32Field(1, 5), fixed32Field(1, .5)))), map[string]any{"k": []float32{5, .5}}},
	{"packed and unpacked", m(1, pair("k", m(3, varintField(1, 5), m(1), m(1, []byte{1, 2}), varintField(1, 9)))), map[string]any{"k": []int64{5, 1, 2, 9}}},
	{"packed floats in pieces", m(1, pair("k", m(2, m(1), m(1, floats(1, 2)), fixed32Field(1, 3)))), map[string]any{"k": []float32{1, 2, 3}}},
	{"negative", m(1, pair("k", m(3, varintField(1, math.MaxUint64)))), map[string]any{"k": []int64{-1}}},
	{"long varint", m(1, pair("k", ints(0x81, 0x80, 0x80, 0x00))), map[string]any{"k": []int64{1}}},
	{"repeated key", m(1, pair("k", ints(1)), pair("a", ints(7)), pair("k", m(1, m(1, []byte("x"))))), map[string]any{"a": []int64{7}, "k": [][]byte{[]byte("x")}}},
	{"repeated key, side by side", m(1, pair("k", ints(1)), pair("k", ints(2))), map[string]any{"k": []int64{2}}},
	{"features twice", append(m(1, pair("a", ints(1)), pair("b", ints(2))), m(1, pair("a", ints(3)))...), map[string]any{"a": []int64{3}, "b": []int64{2}}},
	{"unset", m(1, pair("k")), map[string]any{"k": nil}},
	{"no value", m(1, m(1, key("k"))), map[string]any{"k": nil}},
	{"no key", m(1, m(1, m(2, ints(4)))), map[string]any{"": []int64{4}}},
	{"empty entry", m(1, m(1)), map[string]any{"": nil}},
	{"value before key", m(1, m(1, m(2, ints(4)), key("k"))), map[string]any{"k": []int64{4}}},
	{"key twice in an entry", m(1, m(1, key("a"), key("b"), m(2, ints(4)))), map[string]any{"b": []int64{4}}},
	{"value twice in an entry", m(1, m(1, key("k"), m(2, ints(1, 2)), m(2, ints(3)))), map[string]any{"k": []int64{1, 2, 3}}},
	{"list twice", m(1, pair("k", ints(1), ints(2), ints(3)), pair("l", ints(4), ints(5))), map[string]any{"k": []int64{1, 2, 3}, "l": []int64{4, 5}}},
	{"list of another kind last", m(1, pair("k", ints(1), m(2, m(1, floats(1))))), map[string]any{"k": []float32{1}}},
	{"and back again", m(1, pair("k", ints(1), ints(6), m(1), ints(2), ints(3))), map[string]any{"k": []int64{2, 3}}},
	{"empty lists", m(1, pair("a", m(1)), pair("b", m(2)), pair("c", m(3))), map[string]any{"a": [][]byte{}, "b": []float32{}, "c": []int64{}}},
	{"empty values", m(1, pair("a", m(1, m(1), m(1)))), map[string]any{"a": [][]byte{{}, {}}}},
	{"keys unsorted", m(1, pair("c", ints(3)), pair("a", ints(1)), pair("b", ints(2))), map[string]any{"a": []int64{1}, "b": []int64{2}, "c": []int64{3}}},
	{"key is not UTF-8", m(1, pair("\xff\xfe", ints(3))), map[string]any{"\xff\xfe": []int64{3}}},
	{"unknown fields", bytes.Join([][]byte{
		varintField(9, 1), m(2, []byte("later")), group(7, group(7), varintField(1, 1)),
		m(1, m(99, []byte("x")), m(1, m(3, []byte("?")), key("k"), m(2, m(4, []byte("y")), m(3, m(2), fixed32Field(1, 1), varintField(1, 8), varintField(5, 5))))),
	}, nil), map[string]any{"k": []int64{8}}},
	{"known numbers of other wire types", bytes.Join([][]byte{
		varintField(1, 1), m(1, varintField(1, 1), fixed32Field(1, 1), m(1, varintField(1, 1), varintField(2, 1), key("k"), m(2, varintField(3, 1), m(2, varintField(1, 1))))),
	}, nil), map[string]any{"k": []float32{}}},
	{"key field of another wire type first", m(1, m(1, varintField(1, 1), key("k"), m(2, ints(5)))), map[string]any{"k": []int64{5}}},
	{"tag of two bytes", m(1, pair("k", []byte{0x9a, 0x00}, []byte{0x03, 0x0a, 0x01, 0x05})), map[string]any{"k": []int64{5}}},
}

func TestOddExamples(t *testing.T) {
	var e Example // reused, as programs do
	for _, c := range oddExamples {
		t.Run(c.name, func(t *testing.T) {
			if err := e.Parse(c.data); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, e.Map()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			judge, err := judged(exampleType, c.data)
			if err != nil {
				t.Fatalf("the judge: %v", err)
			}
			if diff := cmp.Diff(judgedFeatures(get(judge, "features").Message()), featuresText(t, &e.Features)); diff != "" {
				t.Errorf("(-judge +got):\n%s", diff)
			}
		})
	}
}

func TestMalformedExamples(t *testing.T) {
	for _, c := range []struct {
		name   string
		data   []byte
		offset int64
	}{
		{"tag alone", []byte{0x0a}, 1},
		{"tag cut off", []byte{0x8a}, 0},
		{"tag of more than 64 bits", bytes.Repeat([]byte{0xff}, 11), 0},
		{"field number 0", []byte{0x02, 0x00}, 0},
		{"field number too large", protowire.AppendVarint(nil, uint64(protowire.MaxValidNumber+1)<<3|2), 0},
		{"longer than the message", []byte{0x0a, 5, 0x0a, 1, 0x0a}, 1},
		{"an entry longer than its map", append([]byte{0x0a, 2, 0x0a, 3}, "abc"...), 3},
		{"a key longer than its entry", []byte{0x0a, 4, 0x0a, 2, 0x0a, 3, 'a', 'b', 'c'}, 5},
		{"length of 64 bits", append([]byte{0x0a}, protowire.AppendVarint(nil, math.MaxUint64)...), 1},
		{"floats of 3 bytes", m(1, pair("k", m(2, m(1, []byte{1, 2, 3})))), 13},
		{"packed varint cut off", m(1, pair("k", ints(1, 0x80))), 14},
		{"packed varint of 11 bytes", m(1, pair("k", ints(bytes.Repeat([]byte{0x80}, 11)...))), 13},
		{"unpacked float cut off", m(1, pair("k", m(2, []byte{0x0d, 1, 2}))), 12},
		{"end of no group", []byte{0x0c}, 1},
		{"group without end", []byte{0x0b, 0x08, 1}, 1},
		{"wire type 6", []byte{0x0e}, 1},
		{"wire type 7", []byte{0x0f}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Example{}
			if err := e.Parse(m(1, pair("old", ints(1)))); err != nil {
				t.Fatal(err)
			}
			err := e.Parse(c.data)
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v", err)
			}
			if f := faultOf(t, err); f != (fault{-1, c.offset, PartParse}) {
				t.Errorf("%+v, want offset %d: %v", f, c.offset, err)
			}
			if e.Len() != 0 {
				t.Error("features are left")
			}
			if _, err := judged(exampleType, c.data); err == nil {
				t.Error("the judge reads it")
			}
		})
	}
}

// randomFeature adds a feature to both the builder and the expected text.
func randomFeature(rnd *rand.Rand, b interface {
	Int64(string, ...int64)
	Float(string, ...float32)
	Bytes(string, ...[]byte)
	String(string, ...string)
}, key string) (text string) {
	n := []int{0, 1, 1, 2, 40}[rnd.IntN(5)]
	switch rnd.IntN(4) {
	case 0:
		v := make([]int64, n)
		text = "int64"
		for i := range v {
			v[i] = int64(rnd.Uint64()) >> rnd.IntN(64)
			text += fmt.Sprintf(" %d", v[i])
		}
		b.Int64(key, v...)
	case 1:
		v := make([]float32, n)
		text = "float"
		for i := range v {
			v[i] = math.Float32frombits(floatBits(math.Float32frombits(rnd.Uint32())))
			text += fmt.Sprintf(" %08x", math.Float32bits(v[i]))
		}
		b.Float(key, v...)
	case 2:
		v := make([][]byte, n)
		text = "bytes"
		for i := range v {
			v[i] = noise(rnd.IntN(150))
			text += fmt.Sprintf(" %x.", v[i])
		}
		b.Bytes(key, v...)
	default:
		v := make([]string, n)
		text = "bytes"
		for i := range v {
			v[i] = string(noise(rnd.IntN(150)))
			text += fmt.Sprintf(" %x.", v[i])
		}
		b.String(key, v...)
	}
	return text
}

func randomKey(rnd *rand.Rand) string {
	return strings.Repeat(string(rune('a'+rnd.IntN(26))), []int{0, 1, 1, 2, 3, 126, 128, 300}[rnd.IntN(8)])
}

func TestTheJudgeReadsOurExamples(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 0))
	var b Builder
	var e Example
	for range 250 {
		b.Reset()
		want := map[string]string{}
		for range rnd.IntN(12) {
			k := randomKey(rnd)
			want[k] = randomFeature(rnd, &b, k)
		}
		data := b.Append([]byte("before"))[len("before"):]
		judge, err := judged(exampleType, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, judgedFeatures(get(judge, "features").Message())); diff != "" {
			t.Fatalf("the judge (-want +got):\n%s", diff)
		}
		theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(judge)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(theirs, data) {
			t.Fatalf("other bytes than the judge's:\n%x\n%x", data, theirs)
		}
		if err := e.Parse(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, featuresText(t, &e.Features)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestEqualFeaturesGiveEqualBytes(t *testing.T) {
	keys := []string{"b", "a", "", "é", "ab", "z", "a/b", "\xff"}
	var want []byte
	var b Builder
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		b.Reset()
		b.Float("z", 9) // replaced below
		for _, i := range rnd.Perm(len(keys)) {
			b.Int64(keys[i], int64(i))
		}
		got := b.Append(nil)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("order %d: other bytes", seed)
		}
		if again := b.Append(nil); !bytes.Equal(again, want) {
			t.Fatal("appending again gives other bytes")
		}
	}
}

func TestExamplesAllocateNothing(t *testing.T) {
	var b Builder
	var e Example
	var data []byte
	keys := []string{"c", "a", "b", "a"}
	ints, floats := make([]int64, 0, 100), make([]float32, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		for i, k := range keys {
			b.Int64(k, 1, 2, int64(i))
		}
		b.Float("f", 1.5)
		b.Bytes("x", data, data)
		b.String("s", "text")
		data = b.Append(data[:0])
		if err := e.Parse(data); err != nil {
			t.Fatal(err)
		}
		f, _ := e.Get("a")
		ints = f.AppendInt64s(ints[:0])
		f, _ = e.Get("f")
		floats = f.AppendFloats(floats[:0])
		data = data[:0]
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if len(ints) != 3 || ints[2] != 3 || len(floats) != 1 {
		t.Errorf("%v %v", ints, floats)
	}
}

func TestFeaturesAliasTheMessage(t *testing.T) {
	var b Builder
	b.Bytes("k", []byte("value"))
	data := b.Append(nil)
	var e Example
	if err := e.Parse(data); err != nil {
		t.Fatal(err)
	}
	copied := e.Map()
	f, _ := e.Get("k")
	v, _ := f.Bytes()
	data[len(data)-1] = 'E'
	if string(v) != "valuE" || string(copied["k"].([][]byte)[0]) != "value" {
		t.Errorf("view %q, copy %q", v, copied["k"])
	}
	if _ = append(v, 'x'); cap(v) != len(v) {
		t.Error("appending to a value would write into the message")
	}
}

func TestFloatBitsAreKept(t *testing.T) {
	want := []uint32{0x7f800001, 0xffc00123, 0x80000000, 1}
	var b Builder
	for i, bits := range want {
		b.Float(string(rune('a'+i)), math.Float32frombits(bits))
	}
	var e Example
	if err := e.Parse(b.Append(nil)); err != nil {
		t.Fatal(err)
	}
	for i, bits := range want {
		_, f := e.At(i)
		if v, _ := f.Float(); math.Float32bits(v) != bits {
			t.Errorf("%08x became %08x", bits, math.Float32bits(v))
		}
	}
}

func TestKindNames(t *testing.T) {
	if got := fmt.Sprint(KindNone, KindBytes, KindFloat, KindInt64, Kind(7)); got != "none bytes float int64 Kind(7)" {
		t.Error(got)
	}
}
