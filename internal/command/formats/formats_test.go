package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// protoFeature is a Feature in protobuf's JSON mapping.
type protoFeature struct {
	BytesList *struct{ Value [][]byte } // base64
	FloatList *struct{ Value []any }    // numbers, or "NaN", "Infinity", "-Infinity"
	Int64List *struct{ Value []string }
}

type protoFeatures struct{ Feature map[string]protoFeature }

// build is the way back from JSON to the features of an Example.
func (f protoFeatures) build(t *testing.T, b *tfrecord.Builder) {
	t.Helper()
	for key, value := range f.Feature {
		switch {
		case value.BytesList != nil:
			b.Bytes(key, value.BytesList.Value...)
		case value.FloatList != nil:
			var floats []float32
			for _, v := range value.FloatList.Value {
				x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
				if err != nil || math.Abs(x) > math.MaxFloat32 && !math.IsInf(x, 0) {
					t.Errorf("%s: float %v: %v", key, v, err)
				}
				floats = append(floats, float32(x))
			}
			b.Float(key, floats...)
		case value.Int64List != nil:
			var ints []int64
			for _, v := range value.Int64List.Value {
				x, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					t.Error(err)
				}
				ints = append(ints, x)
			}
			b.Int64(key, ints...)
		}
	}
}

// TestProtoFormatComesBack reads the JSON of TensorFlow's own Examples and
// encodes what it says again: the same features.
func TestProtoFormatComesBack(t *testing.T) {
	var format Proto
	n := 0
	for _, file := range []string{"../../../testdata/goldens/examples.tfrecord", "../../../testdata/tfrecords/spotify-iris-part-00000-of-00003.tfrecords"} {
		for _, record := range settest.RecordsOf(t, file) {
			line, err := format.Object(nil, record)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Features protoFeatures }
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			var b tfrecord.Builder
			got.Features.build(t, &b)
			var want, back tfrecord.Example
			if want.Parse(record) != nil || back.Parse(b.Append(nil)) != nil {
				t.Fatal("does not parse")
			}
			features := want.Map()
			maps.DeleteFunc(features, func(_ string, v any) bool { return v == nil }) // Builder sets all
			if w, g := fmt.Sprint(features), fmt.Sprint(back.Map()); w != g || len(got.Features.Feature) != want.Len() {
				t.Errorf("%s\nread back as %s\nwant %s", line, g, w)
			}
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d records", n)
	}
}

func TestProtoFormatOfSequences(t *testing.T) {
	var format Proto
	for _, record := range settest.RecordsOf(t, "../../../testdata/tfrecords/torchdata-sequence_example.tfrecord") {
		line, err := format.Object(nil, record)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Context      protoFeatures
			FeatureLists struct {
				FeatureList map[string]struct{ Feature []protoFeature }
			}
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var want tfrecord.SequenceExample
		if err := want.Parse(record); err != nil {
			t.Fatal(err)
		}
		if len(got.Context.Feature) != want.Context.Len() || len(got.FeatureLists.FeatureList) != want.Lists.Len() {
			t.Errorf("%d and %d keys", len(got.Context.Feature), len(got.FeatureLists.FeatureList))
		}
		for i := range want.Lists.Len() {
			key, list := want.Lists.At(i)
			steps := got.FeatureLists.FeatureList[string(key)].Feature
			if len(steps) != list.Len() {
				t.Errorf("%s: %d steps, want %d", key, len(steps), list.Len())
				continue
			}
			for step := range steps {
				if ints := list.At(step).AppendInt64s(nil); len(ints) > 0 && fmt.Sprint(steps[step].Int64List.Value) != fmt.Sprint(ints) {
					t.Errorf("%s step %d: %v, want %v", key, step, steps[step].Int64List.Value, ints)
				}
			}
		}
	}
}

// oddRecord has a feature of each awkward form.
func oddRecord() []byte {
	var b tfrecord.Builder
	b.Int64("a/big", math.MaxInt64, math.MinInt64)
	b.Int64("b/none")
	b.Float("c/odd", float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)))
	b.Float("d/tenth", 0.1)
	b.String("e/text", "\"q\"\n\u00fc")
	b.Bytes("f/binary", []byte{0xff, 0})
	b.Bytes("g/picture", append([]byte("\xff\xd8\xff\xe0"), make([]byte, 60)...))
	b.String("h/long", strings.Repeat("x", maxShownText+1))
	b.String("i/\x1b[2J", "\x1b[31m")
	return b.Append(nil)
}

func TestReadableObject(t *testing.T) {
	var format Readable
	for _, test := range []struct {
		name   string
		record []byte
		want   string
	}{
		{"odd values", oddRecord(), `{"a/big":[9223372036854775807,-9223372036854775808],"b/none":[],` +
			`"c/odd":["NaN","Infinity","-Infinity",-0.0],"d/tenth":0.1,"e/text":"\"q\"\nü",` +
			`"f/binary":{"size":2},"g/picture":{"size":64},"h/long":{"size":1025},"i/\u001b[2J":{"size":5}}`},
		{"empty", nil, `{}`},
		{"not set", []byte("\x0a\x07\x0a\x05\x0a\x01k\x12\x00"), `{"k":null}`},
		{"sequence", []byte("\x12\x00"), `{"context":{},"feature_lists":{}}`},
		{"text", []byte("hello"), `{"bytes":"hello"}`},
		{"bytes", []byte{0xff}, `{"bytes":{"size":1}}`},
	} {
		got := format.Object(nil, test.record)
		if string(got) != test.want || !json.Valid(got) {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestReadableText(t *testing.T) {
	var format Readable
	got := string(format.Text(nil, "x", 2, 10, oddRecord()))
	want := `x: record 2 at byte 10, 1294 bytes
  a/big: 9223372036854775807, -9223372036854775808
  b/none: (no int64 values)
  c/odd: NaN, +Inf, -Inf, -0
  d/tenth: 0.1
  e/text: "\"q\"\nü"
  f/binary: 2 bytes (ff00)
  g/picture: 64 bytes (ffd8ffe0000000000000000000000000...)
  h/long: 1025 bytes (78787878787878787878787878787878...)
  i/\x1b[2J: 5 bytes (1b5b33316d)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if bytes.ContainsRune([]byte(got), 0x1b) {
		t.Error("a record moves the terminal's cursor")
	}
	for record, want := range map[string]string{
		"hello":                 "not tf.train.Example: \"hello\"",
		"\x1a\x0dbrain.Event:2": "tensorflow.Event: 15 bytes",
	} {
		if got := string(format.Text(nil, "x", 0, 0, []byte(record))); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", record, got, want)
		}
	}
}

// FuzzFormats wants valid JSON, or an error, for whatever a record holds.
func FuzzFormats(f *testing.F) {
	f.Add(oddRecord())
	f.Add([]byte("\x12\x09\x0a\x07\x0a\x01k\x12\x02\x0a\x00"))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, record []byte) {
		var readable Readable
		if line := readable.Object(nil, record); !json.Valid(line) {
			t.Errorf("readable form of %q: %s", record, line)
		}
		readable.Text(nil, "x", 0, 0, record)
		var proto Proto
		if line, err := proto.Object(nil, record); err == nil && !json.Valid(line) {
			t.Errorf("proto form of %q: %s", record, line)
		}
	})
}
