package flows

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyKind has a field of every kind that a codec takes.
type everyKind struct {
	Bool   bool
	Int    int
	Small  int8
	Wide   uint64
	Float  float32
	Waves  complex64
	Text   string
	Words  []string
	Bytes  []byte
	Nested [][]int16
	Flags  []bool
	Box    [4]float32
	Boxes  [][4]float32
	Texts  [2]string
	None   [0]int
	Empty  []struct{}
	Next   *struct{ N *time.Duration }
}

func codecOf[T any](t testing.TB) valueCodec {
	t.Helper()
	c, err := newValueCodec(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func written[T any](t testing.TB, v T) []byte {
	t.Helper()
	c := codecOf[T](t)
	p, err := c.write(nil, reflect.ValueOf(&v).Elem())
	if err != nil || len(p) < c.least {
		t.Fatalf("%d bytes of at least %d, %v", len(p), c.least, err)
	}
	return p
}

func readInto[T any](t testing.TB, p []byte, v *T) error {
	t.Helper()
	r := valueReader{data: p}
	codecOf[T](t).read(&r, reflect.ValueOf(v).Elem())
	return r.err
}

// Values come back as they were, whatever the memory held; a value that is cut is an error.
func TestValuesComeBack(t *testing.T) {
	var reused everyKind
	if err := quick.Check(func(v everyKind) bool {
		p := written(t, v)
		for _, into := range []*everyKind{{}, &reused} {
			if err := readInto(t, p, into); err != nil || !cmp.Equal(v, *into) {
				t.Errorf("%v\n%s", err, cmp.Diff(v, *into))
			}
		}
		return readInto(t, p[:rand.IntN(len(p))], &everyKind{}) != nil
	}, nil); err != nil {
		t.Error(err)
	}
	type named struct {
		At    time.Time
		Hosts []*netip.Addr
		NaN   float32
	}
	host := netip.MustParseAddr("192.0.2.7")
	v := named{time.Unix(1e9, 5).UTC(), []*netip.Addr{&host, nil}, math.Float32frombits(0x7fc00123)}
	var back named
	if err := readInto(t, written(t, v), &back); err != nil || !back.At.Equal(v.At) || *back.Hosts[0] != host || back.Hosts[1] != nil ||
		math.Float32bits(back.NaN) != 0x7fc00123 {
		t.Errorf("%+v came back as %+v, %v", v, back, err)
	}
	for _, nested := range [][][]int64{nil, {}, {nil, {}, {1}}} {
		var back [][]int64
		if err := readInto(t, written(t, nested), &back); err != nil || (back == nil) != (nested == nil) || !slices.EqualFunc(back, nested, func(a, b []int64) bool {
			return (a == nil) == (b == nil) && slices.Equal(a, b)
		}) {
			t.Errorf("%#v came back as %#v, %v", nested, back, err)
		}
	}
}

// FuzzValue reads arbitrary bytes: they are an error, or a value that comes back.
func FuzzValue(f *testing.F) {
	f.Add(written(f, everyKind{Words: []string{"a", ""}, Nested: [][]int16{{}, nil}, Empty: make([]struct{}, 2)}))
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, p []byte) {
		var v, back everyKind
		if readInto(t, p, &v) != nil {
			return
		}
		again := written(t, v)
		if err := readInto(t, again, &back); err != nil || string(written(t, back)) != string(again) {
			t.Fatalf("%+v came back as %+v, %v", v, back, err)
		}
	})
}
