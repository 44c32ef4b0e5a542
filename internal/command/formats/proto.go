package formats

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Proto writes Examples and SequenceExamples in protobuf's JSON mapping,
// as json_format.Parse reads them. Its memory is used again; the zero value is
// ready.
type Proto struct {
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	Tally    message.Tally // of the records so far
	Outlet
}

var errNoExample = errors.New("neither a tf.train.Example nor a SequenceExample; --format hex shows any record")

// Object appends the record as a JSON object.
func (f *Proto) Object(dst, record []byte) ([]byte, error) {
	switch f.Tally.Of(record) {
	case message.SequenceExample:
		if err := f.sequence.Parse(record); err != nil {
			return dst, err
		}
		dst = append(f.features(append(dst, `{"context":`...), &f.sequence.Context), `,"featureLists":{"featureList":{`...)
		for i := range f.sequence.Lists.Len() {
			key, list := f.sequence.Lists.At(i)
			dst = appendKey(dst, i, key)
			dst = append(dst, `{"feature":[`...)
			for step := range list.Len() {
				if step > 0 {
					dst = append(f.Drain(dst), ',')
				}
				dst = f.feature(dst, list.At(step))
			}
			dst = append(dst, "]}"...)
		}
		return append(dst, "}}}"...), nil
	case message.Example:
		if err := f.example.Parse(record); err != nil {
			return dst, err
		}
		return append(f.features(append(dst, `{"features":`...), &f.example.Features), '}'), nil
	}
	return dst, &tfrecord.Error{Record: -1, Part: tfrecord.PartParse, Err: errNoExample}
}

func (f *Proto) features(dst []byte, features *tfrecord.Features) []byte {
	dst = append(dst, `{"feature":{`...)
	for i := range features.Len() {
		key, value := features.At(i)
		dst = f.feature(appendKey(f.Drain(dst), i, key), value)
	}
	return append(dst, "}}"...)
}

func appendKey(dst []byte, i int, key []byte) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, jsontext.Readable(string(key))), ':')
}

func (f *Proto) feature(dst []byte, value tfrecord.Feature) []byte {
	first := true
	comma := func() {
		if !first {
			dst = append(f.Drain(dst), ',')
		}
		first = false
	}
	switch value.Kind() {
	case tfrecord.KindBytes:
		dst = append(dst, `{"bytesList":{"value":[`...)
		for x := range value.BytesList() {
			comma()
			dst = append(dst, '"')
			for part := range slices.Chunk(x, Enough/4*3) { // of whole groups of three
				dst = base64.StdEncoding.AppendEncode(f.Drain(dst), part)
			}
			dst = append(dst, '"')
		}
	case tfrecord.KindFloat:
		dst = append(dst, `{"floatList":{"value":[`...)
		for x := range value.FloatList() {
			comma()
			dst = appendFloat(dst, float64(x), 64)
		}
	case tfrecord.KindInt64:
		dst = append(dst, `{"int64List":{"value":[`...)
		for x := range value.Int64List() {
			comma()
			dst = append(strconv.AppendInt(append(dst, '"'), x, 10), '"')
		}
	default:
		return append(dst, "{}"...)
	}
	return append(dst, "]}}"...)
}
